// Package earlier makes what earlier releases left in a cluster: their sets, with all
// that they stored of them, as if a manager of theirs had just been stopped. Who takes
// sets over is tested, and shown, with it.
//
// Vocabulary:
//
//   - release: one earlier release, with one set as it stored it, below releases/.
//   - fill: put in what only the cluster knows, the UIDs of owners.
package earlier
