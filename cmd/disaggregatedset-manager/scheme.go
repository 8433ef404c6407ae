package main

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// newScheme registers what the manager reads and writes, and no more: every type
// costs memory.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		admissionv1.AddToScheme,
		authenticationv1.AddToScheme,
		authorizationv1.AddToScheme,
		corev1.AddToScheme,
		eventsv1.AddToScheme,
		lwsv1.AddToScheme,
		dsv1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}
