// Package revision encodes, compares and restores the revisions of a set.
// Everything in it is pure.
//
// Vocabulary:
//
//   - revision: a snapshot of everything in a set's spec that shapes pods, stored
//     as a ControllerRevision.
//   - key: the hash that labels the revision and all that was made from it, the
//     value of the label template-revision-hash. It is drawn once, from the stored
//     bytes, and believed ever after, whatever the same spec would hash to today.
//   - number: the order of revisions; the highest is the one used last. Going back
//     to an older revision gives it the next number, as the StatefulSet controller
//     does with its own.
//   - live field: a field of the template that takes effect on groups that exist.
//     It is stored, as the earlier releases did and still expect when they are put
//     back, but it does not count.
//   - meaning: what two snapshots are compared by. Defaults are filled in, live
//     fields left out, the placement that annotations ask for taken as if the typed
//     field had it. Two snapshots mean the same exactly when the StatefulSets made
//     from them would have the same pod templates in the API server: so nothing
//     that serialises or defaults differently starts a rollout, and nothing that a
//     StatefulSet would take for a change goes unnoticed.
package revision
