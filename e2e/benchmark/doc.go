// Command benchmark measures what lws-manager costs beside a floor: the same
// pods as bare StatefulSets, on the same local cluster in the same run.
//
// Vocabulary:
//
//   - shape: how many groups of which size.
//   - floor: one StatefulSet with a pod for every leader, one for every group's
//     workers and the headless Service that names them all, created and deleted
//     without any manager.
//   - phase: one thing that happens to the set, from the request until every
//     pod is where it should be. Wall time is of the whole, CPU and requests
//     are the manager's alone, the requests from the API server's audit log.
//
// Machines are noisy, so ratios to the floor, request counts and CPU seconds
// are what to read. The table goes to standard output, the same as JSON to the
// file that --json names.
package main
