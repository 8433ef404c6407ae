// Package binaries provides the programs of a control plane: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler, kubectl and kwok,
// the node simulator.
//
// Vocabulary:
//
//   - program: one executable, named as it is started ("kube-apiserver").
//   - pin: a Go module, pins/<minor>.mod and .sum, that fixes every source a
//     Kubernetes version's programs are built from. A pin is data: nothing in
//     this module imports Kubernetes' servers, so importing the cluster is cheap.
//   - store: the cache of programs below the user's cache directory. Its
//     directories are named after the version, the hash of the pin and the
//     platform, so two checkouts with the same pin share one build.
//   - source: where programs come from: a directory the user names, a download
//     with a checksum, or a build with the Go toolchain, in this order.
package binaries
