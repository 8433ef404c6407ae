// Package metrics is what lws-manager measures of its sets. Labels are the namespace
// and the name of a set, never of a group or a pod, and series exist as long as the
// set does.
//
// Vocabulary:
//
//   - set, group, leader: as in package identity.
//   - known set: one that the cache has. Only of these is anything recorded, so that
//     what still runs for a set that is gone makes no series for it again.
//   - sample: a set as one of its reconciles saw it.
//   - rollout: the time in which a set's condition UpdateInProgress is True.
//   - span: a group's start or a rollout that is over, for traces.
package metrics
