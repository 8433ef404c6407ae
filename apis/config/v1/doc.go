// Package v1 is the configuration file of lws-manager and of
// disaggregatedset-manager, version v1 of the group config.lws.x-k8s.io.
//
// A manager calls Load, which reads a file of this version or of v1alpha1
// strictly, fills in defaults and validates. Where the managers differ in their
// defaults, Names says how. A manager that overrides fields by flags validates
// again.
//
// +kubebuilder:object:generate=true
// +groupName=config.lws.x-k8s.io
package v1
