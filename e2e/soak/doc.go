// Command soak changes many sets at random for minutes and then looks at what is left:
// every set Available, nothing of the others, and the managers' memory where it was.
//
// Vocabulary:
//
//   - traffic: operations on sets, drawn from a seed, at a bounded rate.
//   - plain: a LeaderWorkerSet of a user. split: a DisaggregatedSet, whose
//     LeaderWorkerSets are its own.
//   - operation: one request of a user, or one failure of a pod.
//   - leftover: an object with the name label of a set that does not exist.
//   - flat: memory at the end is at most half as much again as after a quarter of the
//     time, when all caches were filled.
package main
