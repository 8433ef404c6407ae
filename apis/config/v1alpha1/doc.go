// Package v1alpha1 is the configuration file of the managers of the releases
// before this one, version v1alpha1 of the group config.lws.x-k8s.io. It is read
// and converted to v1; new fields are in v1 only.
//
// +kubebuilder:object:generate=true
// +groupName=config.lws.x-k8s.io
package v1alpha1
