// Package pairing decides which group a new one replaces, among groups that are named
// by keys. The ReplicaSet of the leaders makes a new leader for one that goes and does
// not say for which; the new one is to wait for that group and for no other, and takes
// over its restart count. Everything in it is pure.
//
// Vocabulary:
//
//   - leader: stands for its group, also for a while after it is gone.
//   - going: a leader that is being deleted, has ended, or is gone.
//   - gated: a leader that was never admitted; it holds nothing that another could
//     wait for.
//   - waiting: a gated leader that is not going and of which nothing is decided yet.
//   - leftover: a group of which objects are left and no leader is known.
//
// A waiting leader is paired with at most one group that is going and not yet paired:
// the one whose deletion was requested last before the leader was created. A group
// with which no leader is paired is being scaled away and holds back nobody. When a
// leader goes while it is gated, what it was paired with passes to the next one.
package pairing
