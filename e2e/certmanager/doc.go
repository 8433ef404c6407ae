// Command certmanager runs the controllers of cert-manager that issue and renew
// certificates and inject authorities into webhook configurations, as a process
// against a local cluster. It is a module of its own, since cert-manager pins other
// libraries. The CustomResourceDefinitions that it needs are in the directory
// deploy/crds of cert-manager's module, which `go list -m` finds from here.
package main
