// Package controlplane starts and stops a Kubernetes control plane on this
// machine, as processes bound to the loopback address, without containers.
//
// Vocabulary:
//
//   - cluster: etcd, kube-apiserver, kube-controller-manager, kube-scheduler
//     and kwok, with the nodes that package sim describes.
//   - component: one of these processes.
//   - state directory: everything a cluster has on disk, <Dir>/<Name>: keys,
//     kubeconfigs, logs, etcd's data, state.json, and the process IDs, which the
//     processes write themselves. A recorded process is only ever touched if its
//     command line names the state directory, so a reused ID harms nobody.
//
// Up starts a cluster and returns when pods can be created; a failure or a
// cancelled context stops what was started. The processes outlive the program.
// Open finds a running cluster; Down ends it and removes the state directory.
package controlplane
