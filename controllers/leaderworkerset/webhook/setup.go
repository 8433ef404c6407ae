package webhook

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/metrics"
)

// Paths at which the API server calls.
const (
	PodPath        = "/mutate--v1-pod"
	NamePath       = "/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset"
	ValidationPath = "/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset"
)

// +kubebuilder:webhook:path=/mutate--v1-pod,mutating=true,failurePolicy=fail,sideEffects=None,groups="",resources=pods,verbs=create,versions=v1,name=pods.leaderworkerset.x-k8s.io,admissionReviewVersions=v1,timeoutSeconds=5,reinvocationPolicy=IfNeeded
// +kubebuilder:webhook:path=/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset,mutating=true,failurePolicy=fail,sideEffects=None,groups=leaderworkerset.x-k8s.io,resources=leaderworkersets,verbs=create;update,versions=v1,name=names.leaderworkerset.x-k8s.io,admissionReviewVersions=v1,timeoutSeconds=10
// +kubebuilder:webhook:path=/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset,mutating=false,failurePolicy=fail,sideEffects=None,groups=leaderworkerset.x-k8s.io,resources=leaderworkersets,verbs=create;update,versions=v1,name=validation.leaderworkerset.x-k8s.io,admissionReviewVersions=v1,timeoutSeconds=10

// The owner chain is read, and the set of a leader for its termination policy.
//
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=statefulsets;deployments;replicasets,verbs=get;list;watch
// +kubebuilder:rbac:groups=leaderworkerset.x-k8s.io,resources=leaderworkersets,verbs=get;list;watch

// Setup serves the webhooks with the manager's webhook server. They work on every
// replica, whether or not it leads.
func Setup(mgr ctrl.Manager, gangs Scheduling, measured *metrics.Metrics) error {
	scheme := mgr.GetScheme()
	if err := checkScheme(scheme); err != nil {
		return err
	}
	decoder := admission.NewDecoder(scheme)
	handlers := map[string]admission.Handler{
		PodPath: &podAdmission{
			decoder: decoder,
			reader:  reader{cached: mgr.GetClient(), live: mgr.GetAPIReader()},
			metrics: measured,
			clock:   clock.RealClock{},
			gangs:   gangs,
		},
		NamePath:       &nameCheck{decoder: decoder},
		ValidationPath: &setValidation{decoder: decoder, gangs: gangs},
	}
	for path, handler := range handlers {
		mgr.GetWebhookServer().Register(path, &admission.Webhook{Handler: handler})
	}
	return nil
}

func checkScheme(scheme *runtime.Scheme) error {
	for _, kind := range []schema.GroupVersionKind{
		lwsv1.GroupVersion.WithKind(lwsv1.Kind),
		appsv1.SchemeGroupVersion.WithKind(statefulSetKind),
		appsv1.SchemeGroupVersion.WithKind(deploymentKind),
		appsv1.SchemeGroupVersion.WithKind(replicaSetKind),
		corev1.SchemeGroupVersion.WithKind(podKind),
	} {
		if !scheme.Recognizes(kind) {
			return fmt.Errorf("webhooks need %s in the manager's scheme", kind)
		}
	}
	return nil
}
