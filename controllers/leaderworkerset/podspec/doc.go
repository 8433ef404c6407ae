// Package podspec makes pods what their group needs: the pod templates of
// StatefulSets, and the changes to a pod when it is admitted. Everything in it is
// pure.
//
// Vocabulary:
//
//   - template: the pod template of a leader or worker StatefulSet. It holds what
//     all its pods have in common; a difference in it restarts pods.
//   - admission: what the pod webhook adds to a pod that is being created, because
//     it differs from pod to pod or must not be in a template. Admitting a pod
//     twice gives the same pod.
//   - member: the place of the pod that is being admitted: its group, its worker
//     index, the group's size and subgroups.
//   - placement: the node labels whose values a group, or a subgroup, has for
//     itself.
//   - domain: one value of such a node label.
//   - gate: the scheduling gate that every leader is born with.
//   - slice: the TPU containers of a group, or of a subgroup, that work together.
package podspec
