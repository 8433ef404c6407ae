package webhook

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
)

// Paths at which the API server calls.
const (
	NamePath    = "/mutate-disaggregatedset-x-k8s-io-v1-disaggregatedset"
	WarningPath = "/validate-disaggregatedset-x-k8s-io-v1-disaggregatedset"
)

// +kubebuilder:webhook:path=/mutate-disaggregatedset-x-k8s-io-v1-disaggregatedset,mutating=true,failurePolicy=fail,sideEffects=None,groups=disaggregatedset.x-k8s.io,resources=disaggregatedsets,verbs=create;update,versions=v1,name=names.disaggregatedset.x-k8s.io,admissionReviewVersions=v1,timeoutSeconds=10
// +kubebuilder:webhook:path=/validate-disaggregatedset-x-k8s-io-v1-disaggregatedset,mutating=false,failurePolicy=fail,sideEffects=None,groups=disaggregatedset.x-k8s.io,resources=disaggregatedsets,verbs=create;update,versions=v1,name=warnings.disaggregatedset.x-k8s.io,admissionReviewVersions=v1,timeoutSeconds=10

// Setup serves the webhooks with the manager's webhook server, on every replica.
func Setup(mgr ctrl.Manager) error {
	if kind := dsv1.GroupVersion.WithKind(dsv1.Kind); !mgr.GetScheme().Recognizes(kind) {
		return fmt.Errorf("webhooks need %s in the manager's scheme", kind)
	}
	decoder := admission.NewDecoder(mgr.GetScheme())
	server := mgr.GetWebhookServer()
	server.Register(NamePath, &admission.Webhook{Handler: &nameCheck{decoder: decoder}})
	server.Register(WarningPath, &admission.Webhook{Handler: &adviser{decoder: decoder, scalers: mgr.GetClient()}})
	return nil
}

// adviser warns, and refuses nothing.
type adviser struct {
	decoder admission.Decoder
	scalers client.Reader
}

// Handle answers when the object is known to be valid.
func (a *adviser) Handle(ctx context.Context, request admission.Request) admission.Response {
	set := &dsv1.DisaggregatedSet{}
	if a.decoder.Decode(request, set) != nil {
		return admission.Allowed("")
	}
	set.Namespace = request.Namespace
	return admission.Allowed("").WithWarnings(warnings(set, a.scaled(ctx, set))...)
}

// scaled reads the replicas of the scalers that exist. One that cannot be read
// draws no warning.
func (a *adviser) scaled(ctx context.Context, set *dsv1.DisaggregatedSet) map[string]int {
	found := map[string]int{}
	for i := range set.Spec.Roles {
		role := &set.Spec.Roles[i]
		if !dsv1.IsExternal(role) {
			continue
		}
		live := &dsv1.DisaggregatedSetRoleScaler{}
		key := client.ObjectKey{Namespace: set.Namespace, Name: identity.ScalerName(set.Name, role.Name)}
		if a.scalers.Get(ctx, key, live) == nil {
			found[role.Name] = int(dsv1.ScalerReplicas(live))
		}
	}
	return found
}
