// Package identity is the only place that makes or reads the names and labels of
// a set's objects.
//
// # Words
//
//   - key: what tells one LeaderWorkerSet of a set from the others, that is,
//     slice, revision and role.
//   - sliceless: made by a release that had no slices. Such an object has no
//     slice in its name and labels, and belongs to slice 0.
//   - span: what a name that is made from others may need and what it may have.
package identity
