// Package rollout plans the rollout of a LeaderWorkerSet with Ordinal identity:
// how many groups its leader StatefulSet has, how that StatefulSet treats its
// pods, which leaders are deleted, and which revision a gated leader must have
// to be admitted. It is a pure function of what is observed, so a rollout that
// was interrupted, changed or undone goes on from wherever it stands, and a
// preview shows what the manager would do.
//
// # Vocabulary
//
//   - A group is named by its index. The desired groups are 0 … replicas−1,
//     surge groups have the indices from replicas up.
//   - A group is outdated when it is at or above the partition and not of the
//     update revision, broken when it is outdated and not ready.
//   - Remaining are the desired groups at or above the partition that are not
//     both ready and updated.
//   - The floor is the number of ready groups below which a plan never goes:
//     replicas − maxUnavailable, less the spared groups. Ready surge groups that
//     are kept count, because they stand in for the groups that they replace.
//   - The baseline is the number of desired groups that had a place when the
//     rollout began. Groups beyond it that cannot be scheduled are spared: the
//     rollout does not wait for them. While another desired group cannot be
//     scheduled there is no surge, beyond what the floor needs.
//   - The course of a rollout is what a preview foresees: its steps, if every pod that is
//     made becomes ready at once.
//
// # How the StatefulSet carries it
//
// Facts of its controller: under OnDelete it deletes no outdated pod and makes
// every missing pod of the update revision. Under RollingUpdate it makes a
// missing pod below the partition of status.currentRevision, the others of the
// update revision, and deletes outdated pods at or above the partition by
// itself, counting pods and not groups.
//
// At rest the type is RollingUpdate with the user's partition. While outdated
// groups exist it is OnDelete, which leaves every deletion to the plan and costs
// no write between the first and the last group. Where groups below the user's
// partition need another revision than the update revision they are shielded:
// RollingUpdate with a partition just above the highest outdated live leader
// lets them come back unchanged, and OnDelete is written only for as long as
// an index between the two partitions is missing or gated with a wrong revision.
// In no case does the StatefulSet controller delete a leader that was admitted.
//
// No leader is deleted before the controller has observed the StatefulSet that
// the plan wants, so leaders come back as wanted. One that does not (the
// controller was behind, or two needs collided) is gated, is never admitted, and
// is deleted when its index will be filled with the right revision.
package rollout
