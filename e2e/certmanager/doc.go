// Command certmanager runs the controllers of cert-manager as a process against a local
// cluster: `issue` those that issue and renew certificates, `inject` those that write
// authorities into webhook configurations and whatever else asks for one. cert-manager
// has a process and an account for either too. It is a module of its own, since
// cert-manager pins other libraries. The CustomResourceDefinitions that it needs and the
// chart with its accounts and roles are in the directory deploy of cert-manager's module,
// which `go list -m` finds from here.
package main
