// Package leaderworkerset is the reconciler of sets: it makes of a LeaderWorkerSet
// its revisions, its shared Service and the StatefulSet of its leaders, rolls new
// revisions out, and reports how far the set is. What happens inside one group is
// the work of package group.
//
// A reconcile is observe, plan, apply, report, each in the file of its name:
// observe only reads, plan is pure, apply writes what differs and nothing else,
// report stores one status and then tells what changed with it.
//
// # The two identities of groups
//
// Groups are numbered (Ordinal) or named by keys (Hash). What follows from that, and
// nothing else, differs; all the rest exists once. The seam has three places:
//
//   - who owns the leaders, how groups are counted, and who replaces them: leadership,
//     in this package. With Ordinal identity (ordinal.go) that is a StatefulSet and the
//     planner in package rollout, which chooses what is replaced. With Hash identity
//     (hash.go) it is a Deployment, which chooses by itself: its pods, the leaders, are
//     ready when their groups are.
//   - what a group is called: identity.Group, by its index. HasKey tells one identity
//     from the other; the key is drawn when the leader is admitted (package podspec).
//   - how a group is replaced: by a leader of the same name, which finds what is left of
//     its predecessor under that name, or by a leader with another key, which package
//     pairing gives the group that it waits for. Package group asks Group.HasKey where
//     it matters: maker.go (who made the leader), replacement.go and pairs.go (what it
//     replaces), readiness.go (the condition group-ready), facts.go.
//
// # Vocabulary
//
//   - set, group, leader, worker, revision: as in package identity and revision.
//   - leaders: the object that owns the leaders, a StatefulSet or a Deployment.
//   - standing: a group whose leader is not going. With Hash identity only those count;
//     what is going comes on top.
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
//   - explanation: what the reconcilers make of a set and its groups, for people; preview:
//     what they would do if its spec were another. Neither writes.
//   - memory: what reconciles of a set tell each other, in the process only.
package leaderworkerset
