// Package revision tells whether two roles mean the same pods, and names a revision
// of all roles by a short hash.
//
// # Words
//
//   - meaning: the part of a role that shapes pods, in canonical form: without what
//     the manager adds, without live fields, without values that equal their
//     default, quantities in one notation.
//   - live field: a field that is kept in sync on LeaderWorkerSets that exist.
//   - believed: a revision that an existing LeaderWorkerSet carries in its label
//     and whose templates mean what the spec means is the spec's revision,
//     whatever a hash that is computed today would be.
//
// A default that the API server or a newer release writes into an object therefore
// never starts a rollout.
package revision
