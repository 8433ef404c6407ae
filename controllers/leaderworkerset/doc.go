// Package leaderworkerset is the reconciler of sets: it makes of a LeaderWorkerSet
// its revisions, its shared Service and the StatefulSet of its leaders, rolls new
// revisions out, and reports how far the set is. What happens inside one group is
// the work of package group.
//
// A reconcile is observe, plan, apply, report, each in the file of its name:
// observe only reads, plan is pure, apply writes what differs and nothing else,
// report stores one status and then tells what changed with it.
//
// # Vocabulary
//
//   - set, group, leader, worker, revision: as in package identity and revision.
//   - leaders: the leader StatefulSet.
//   - desired groups: those with an index below replicas. Groups above are surge,
//     or on their way out.
//   - update revision: that of the spec. Current revision: that of the groups
//     below the partition, and of all before a rollout.
//   - settled: a desired group that is ready and of the revision that it is to have.
//   - outdated: a desired group at or above the partition of another revision than
//     the update revision.
//   - claim: what an object of a name that the set needs is to the set. It decides
//     every write.
//   - obstacle: what keeps desired groups from being there.
//   - tally: a set in numbers of groups.
//   - memory: what reconciles of a set tell each other, in the process only.
package leaderworkerset
