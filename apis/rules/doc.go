// Package rules tests the rules of the API on a real kube-apiserver: that it
// accepts the CustomResourceDefinitions, refuses what the documentation says is
// refused, with the path of the field and a message that helps, and that objects
// stored before a rule existed stay usable. No webhook runs.
//
// The tests need the build tag integration, and etcd and kube-apiserver in the
// directory that KUBEBUILDER_ASSETS names.
package rules
