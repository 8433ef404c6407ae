// Package v1 is the API of LeaderWorkerSet, version v1 of the group
// leaderworkerset.x-k8s.io.
//
// Vocabulary:
//
//   - set: a LeaderWorkerSet; it runs spec.replicas copies of a group.
//   - group: one leader pod and size-1 worker pods that live and die together.
//     The API calls a group a replica where Kubernetes workloads do.
//   - leader, worker: the members of a group. The worker index of the leader is
//     0, workers count from 1.
//   - subgroup: a fixed division of a group, for placement and accelerators.
//   - revision: a stored snapshot of everything in the spec that shapes pods.
//   - admission gate: the scheduling gate that every leader is born with and
//     that lws-manager lifts.
//
// What the API server can check is checked by it, with schema and CEL, whether
// or not a webhook runs. Rules that hold in every place where a set is described
// (a LeaderWorkerSet and a role of a DisaggregatedSet) are markers on the shared
// types; rules about a change of an existing set are markers on the spec of the
// kind LeaderWorkerSet only.
//
// labels.go has every key that is written on objects, conditions.go every
// condition type and reason; accessors.go and budget.go read a spec with its
// defaults; names.go says how long a name may be, which the rules of the kind say
// as well: on creation, and when a change makes longer names.
//
// +kubebuilder:object:generate=true
// +groupName=leaderworkerset.x-k8s.io
package v1
