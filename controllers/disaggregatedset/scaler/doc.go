// Package scaler decides how many replicas a role wants in each slice, and what its
// DisaggregatedSetRoleScaler needs. It is pure.
//
// # Words
//
//   - external: the role's replicas come from its scaler; otherwise the role is
//     static and they come from its spec.
//   - running: the replicas that a slice has or, while a revision is rolled out,
//     was meant to have.
//   - seed: the number that the manager gives a scaler when it first takes it up.
//   - ignored: the replicas in the spec of an external role. They are written on
//     its LeaderWorkerSets, so that a role that becomes static again keeps what
//     runs until its spec says something else.
package scaler
