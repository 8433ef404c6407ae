// Package scheduling makes the objects by which a scheduler places the pods of a
// set together. What is in it decides and computes; the reconcilers of sets and
// groups, and the webhooks, read and write, each through an interface of its own
// that the providers here satisfy.
//
// Vocabulary:
//
//   - provider: whose scheduler it is: that of Kubernetes, or Volcano.
//   - level: what is scheduled together: all pods of a set (lws), those of a group
//     (replica), or the leader and the workers of a group apart (role).
//   - scheduling object: a Workload, PodGroup or CompositePodGroup.
//   - shape: the scheduling objects that a set is to have.
//   - token: five characters in the names of the PodGroups of one incarnation of a
//     group, so that pods that end and pods that start never share one.
//   - delegated: a set whose PodGroups belong to the Workload of the controller that
//     owns the set.
package scheduling
