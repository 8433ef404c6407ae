// Package disaggregatedset is the controller of DisaggregatedSets. A reconcile
// observes, plans, applies and reports, in the files of these names.
//
// # Words
//
//   - set: a DisaggregatedSet. role, slice, revision: see its API.
//   - generation: the LeaderWorkerSets of one revision in one slice, with their
//     Services. It is current if the spec means it, and old otherwise.
//   - member: one LeaderWorkerSet of a generation.
//   - claim: what an object of a name that the set needs is to the set.
//   - published: a generation has its Services, because every role of it has a
//     ready replica.
//   - obstacle: what keeps the set from its spec and is no error of the manager.
package disaggregatedset
