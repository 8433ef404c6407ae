// Package children makes what the objects of a set are to be, as typed apply
// configurations, and says whether a live object differs from that. It is pure.
//
// # Words
//
//   - template: what shapes pods in a LeaderWorkerSet. A live LeaderWorkerSet whose
//     template means what its role means keeps it as it is, with what was added to
//     it when it was made: nothing here restarts a pod.
//   - live field: everything else in its spec, which follows the role.
//   - injected: labels, variables and affinity that the manager adds to a template.
//   - budget: surge and unavailability of a rollout as numbers.
package children
