// Package v1 is the API of DisaggregatedSet, version v1 of the group
// disaggregatedset.x-k8s.io.
//
// Vocabulary:
//
//   - set: a DisaggregatedSet; it runs its roles as one unit.
//   - role: one kind of groups in the set, say prefill or decode; the template of
//     a LeaderWorkerSet.
//   - slice: one full copy of all roles, the unit of rollout, service discovery
//     and placement. Slices are numbered from 0.
//   - revision: the short hash of everything in the roles that shapes pods.
//   - scaler: a DisaggregatedSetRoleScaler, through which the replicas of one role
//     are set from outside.
//
// Roles obey the rules of a LeaderWorkerSet by the markers of its own types.
//
// +kubebuilder:object:generate=true
// +groupName=disaggregatedset.x-k8s.io
package v1
