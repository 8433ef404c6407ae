// Package group looks after one group of a set: it lifts the gate of its leader,
// makes its workers and its Service, notices when it fails, recreates or stops it,
// and ends its workers with their leader.
//
// Vocabulary:
//
//   - generation: the pods that live and die together. The living generation is
//     that of the leader that exists: the leader and the pods of the worker
//     StatefulSet that belongs to it, all by UID.
//   - member: a pod of the living generation.
//   - predecessor: an earlier generation of the same group, of which objects are
//     left. Nothing that happens to it is a failure of the living one.
//   - whole: all members exist and none is Pending.
//   - memory: what the group consisted of when it was first whole, in an annotation
//     of the leader.
//   - failure: what happened to a member and makes the group be recreated.
//   - recreation: the deletion of the leader by the manager, in the foreground, so
//     that all members end together.
//   - exhausted: a group that failed with its restart budget spent. Its pods are
//     retained, by a finalizer, until it is recovered or cleaned up.
//   - keyed: a group with Hash identity. Its leader carries the readiness of all of it,
//     and the next leader has another key.
//   - going: a keyed leader that is being deleted, has ended, or is gone; standing: one
//     that is not.
//   - pair: a gated keyed leader with the group that it replaces. It waits for that
//     group and takes over its count.
//   - namesake: a group with another key that is called alike, for names have only the
//     first digits of a key.
//   - mark: what a leader carries while the restart policy is None, where the owner of
//     its workers does not tell.
//   - entry, count: a group of a revision, and how often it was recreated.
//   - report: what a group tells its set.
//   - explanation: the state of a group in a word and what it waits for in a sentence, for
//     people. It is read off an observation and the plan for it.
package group
