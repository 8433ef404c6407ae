// Package managers runs the managers of this checkout as processes on this machine,
// against a local cluster, with the permissions that we ship: make up, the
// end-to-end suites and the benchmark use it.
//
// Vocabulary:
//
//   - shipped manager: what the repository has of one manager: its program, its
//     manifests, the account that it runs as.
//   - installed: its manifests are applied, but for the Deployment; its webhooks
//     are called at a port of this machine.
//   - process: one run of it.
package managers
