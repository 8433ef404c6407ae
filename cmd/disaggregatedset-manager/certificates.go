package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
)

// +kubebuilder:webhookconfiguration:mutating=true,name=disaggregatedset-mutating-webhook-configuration
// +kubebuilder:webhookconfiguration:mutating=false,name=disaggregatedset-validating-webhook-configuration

// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations,resourceNames=disaggregatedset-mutating-webhook-configuration,verbs=list;watch;patch
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=disaggregatedset-validating-webhook-configuration,verbs=list;watch;patch
// +kubebuilder:rbac:groups="",namespace=disaggregatedset-system,resources=secrets,resourceNames=disaggregatedset-webhook-server-cert,verbs=list;watch;create;update;patch

// Names of the webhook configurations that we ship.
const (
	mutatingConfiguration   = "disaggregatedset-mutating-webhook-configuration"
	validatingConfiguration = "disaggregatedset-validating-webhook-configuration"
)

// certificates keeps the certificate of the webhooks in a Secret, renews it, tells
// the API server which authorities to trust, and serves it from memory, so that no
// replica waits for a volume to be refreshed. All replicas do the same; who loses
// the race for a write of the Secret reads what the other wrote.
type certificates struct {
	client client.Client
	clock  clock.PassiveClock
	secret types.NamespacedName
	// names are the DNS names that the API server calls.
	names []string
	ready *gate

	served atomic.Pointer[servedPair]
}

// servedPair is a certificate with its key, and as the Secret has them.
type servedPair struct {
	pair tls.Certificate
	data map[string][]byte
}

// setupCertificates adds the certificates to the manager.
func setupCertificates(mgr ctrl.Manager, c *certificates) error {
	everything := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []ctrl.Request {
		return []ctrl.Request{{NamespacedName: c.secret}}
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("certificates").
		For(&corev1.Secret{}).
		Watches(&admissionv1.MutatingWebhookConfiguration{}, everything).
		Watches(&admissionv1.ValidatingWebhookConfiguration{}, everything).
		WithOptions(controller.Options{NeedLeaderElection: new(false)}).
		Complete(c)
}

// getCertificate answers a TLS handshake.
func (c *certificates) getCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if served := c.served.Load(); served != nil {
		return &served.pair, nil
	}
	return nil, errors.New("there is no certificate yet")
}

// Reconcile renews what is due, then publishes trust, then serves.
func (c *certificates) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	var secret corev1.Secret
	if err := c.client.Get(ctx, c.secret, &secret); err != nil {
		if apierrors.IsNotFound(err) {
			return ctrl.Result{}, c.create(ctx)
		}
		return ctrl.Result{}, fmt.Errorf("get Secret %s: %w", c.secret, err)
	}
	configurations, err := readConfigurations(ctx, c.client)
	if err != nil {
		c.ready.close("%v", err)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	now := c.clock.Now()
	secret.Data = restored(secret.Data, published(configurations), c.servedData(), now)
	next := planRenewal(secret.Data, c.names, trusts(configurations, secret.Data[trustKey]), now)
	if next.isDue() {
		// The write comes back as an event of the Secret.
		return ctrl.Result{}, c.write(ctx, &secret, next)
	}
	if err := c.publish(ctx, configurations, secret.Data[trustKey]); err != nil {
		return ctrl.Result{}, err
	}
	if trusts(configurations, secret.Data[trustKey]) || c.served.Load() == nil {
		if err := c.serve(secret.Data); err != nil {
			return ctrl.Result{}, err
		}
	}
	if trusts(configurations, secret.Data[trustKey]) {
		c.ready.open()
	}
	return ctrl.Result{RequeueAfter: next.again.Sub(now)}, nil
}

// create makes the Secret that somebody deleted, empty as it was installed: whichever
// replica comes first, the other one changes nothing. What is served goes on working
// meanwhile. It is an apply, which alone can be allowed for one name.
func (c *certificates) create(ctx context.Context) error {
	if c.served.Load() == nil {
		c.ready.close("the Secret %s of the webhooks' certificate does not exist", c.secret)
	}
	empty := applycorev1.Secret(c.secret.Name, c.secret.Namespace)
	if err := c.client.Apply(ctx, empty, client.FieldOwner(dsv1.FieldManager), client.ForceOwnership); err != nil {
		return fmt.Errorf("make Secret %s, which does not exist: %w", c.secret, err)
	}
	log.FromContext(ctx).Info("the Secret of the webhooks' certificate was deleted and is made anew", "secret", c.secret)
	return nil
}

// write stores what is renewed. Somebody else's write in between is a conflict and
// wins.
func (c *certificates) write(ctx context.Context, secret *corev1.Secret, next renewal) error {
	data, err := renew(secret.Data, c.names, next, c.clock.Now())
	if err != nil {
		return err
	}
	secret = secret.DeepCopy()
	secret.Data = data
	if err := c.client.Update(ctx, secret); err != nil {
		return fmt.Errorf("update Secret %s: %w", c.secret, err)
	}
	log.FromContext(ctx).Info("renewed", "authority", next.authority, "certificate", next.certificate, "reason", next.reason)
	return nil
}

func (c *certificates) serve(data map[string][]byte) error {
	pair, err := tls.X509KeyPair(data[certificateKey], data[privateKey])
	if err != nil {
		return fmt.Errorf("certificate of Secret %s: %w", c.secret, err)
	}
	c.served.Store(&servedPair{pair: pair, data: map[string][]byte{certificateKey: data[certificateKey], privateKey: data[privateKey]}})
	return nil
}

// servedData is what is served, as the Secret has it.
func (c *certificates) servedData() map[string][]byte {
	if served := c.served.Load(); served != nil {
		return served.data
	}
	return nil
}

// publish writes trust into the webhooks that do not have it.
func (c *certificates) publish(ctx context.Context, configurations []webhookConfiguration, trust []byte) error {
	var errs []error
	for _, configuration := range configurations {
		if trusts([]webhookConfiguration{configuration}, trust) {
			continue
		}
		patch, err := trustPatch(configuration.webhooks, trust)
		if err != nil {
			return err
		}
		err = c.client.Patch(ctx, configuration.object, client.RawPatch(types.JSONPatchType, patch))
		if err != nil {
			errs = append(errs, fmt.Errorf("publish trust in %s: %w", configuration.object.GetName(), err))
		}
	}
	return errors.Join(errs...)
}

// trustPatch is a JSON patch that tests each webhook's name: a list that was
// reordered in between is a conflict, not a mixture.
func trustPatch(webhooks []webhookTrust, trust []byte) ([]byte, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	var operations []operation
	for i, webhook := range webhooks {
		at := fmt.Sprintf("/webhooks/%d", i)
		operations = append(operations,
			operation{"test", at + "/name", webhook.name},
			operation{"add", at + "/clientConfig/caBundle", trust})
	}
	return json.Marshal(operations)
}
