// Package earlier makes what earlier releases left in a cluster: their sets, with all
// that they stored of them, as if a manager of theirs had just been stopped. Who takes
// sets over is tested, and shown, with it.
//
// Vocabulary:
//
//   - release: one earlier release, with one set as it stored it, below releases/.
//   - document: one object of the set, in its order. One of a pod has only what the
//     webhook of that release added to it.
//   - fill: put in what only the cluster knows, such as the UIDs of owners.
//   - admission: the webhook of a release, as long as its set is being made.
package earlier
