//go:build integration

package webhook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// secondPath is where another party's webhook adds a container, after ours.
const secondPath = "/second"

// environment is an API server with our definitions and webhooks, and a manager
// that serves them.
type environment struct {
	client   client.Client
	warnings *warningLog
	// stop ends the manager and returns when it has ended.
	stop func() error
}

var world environment

func TestMain(m *testing.M) {
	code, err := runWithAPIServer(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runWithAPIServer(m *testing.M) (code int, err error) {
	server := &envtest.Environment{
		CRDDirectoryPaths:     []string{"../../../config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml"},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: installed(),
	}
	config, err := server.Start()
	defer func() { err = errors.Join(err, server.Stop()) }()
	if err != nil {
		return 0, fmt.Errorf("start an API server: %w", err)
	}
	if err := world.start(config, &server.WebhookInstallOptions); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, world.stop()) }()
	return m.Run(), nil
}

func (w *environment) start(config *rest.Config, options *envtest.WebhookInstallOptions) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, lwsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	named, err := labels.NewRequirement(lwsv1.SetNameLabelKey, selection.Exists, nil)
	if err != nil {
		return err
	}
	ours := cache.ByObject{Label: labels.NewSelector().Add(*named)}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: ours, &appsv1.StatefulSet{}: ours}},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: options.LocalServingHost, Port: options.LocalServingPort, CertDir: options.LocalServingCertDir,
		}),
	})
	if err != nil {
		return err
	}
	if err := Setup(mgr); err != nil {
		return err
	}
	mgr.GetWebhookServer().Register(secondPath, &admission.Webhook{Handler: admission.HandlerFunc(addSidecar)})

	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	w.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	w.warnings = &warningLog{}
	withWarnings := rest.CopyConfig(config)
	withWarnings.WarningHandler = w.warnings
	if w.client, err = client.New(withWarnings, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	return waitUntil("the webhooks are served", func() error { return mgr.GetWebhookServer().StartedChecker()(nil) })
}

// waitUntil tries until there is no error, at most half a minute.
func waitUntil(what string, try func() error) error {
	deadline := time.Now().Add(30 * time.Second)
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waited until %s: %w", what, err)
		}
		<-ticker.C
	}
}

// warningLog keeps what the API server warns about.
type warningLog struct {
	mutex sync.Mutex
	texts []string
}

func (l *warningLog) HandleWarningHeader(_ int, _, text string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.texts = append(l.texts, text)
}

// take returns the warnings since the last call.
func (l *warningLog) take() []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	texts := l.texts
	l.texts = nil
	return texts
}

// installed are the webhooks as the manifests have them, and another party's.
func installed() envtest.WebhookInstallOptions {
	at := func(path string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{
			Service: &admissionregistrationv1.ServiceReference{Namespace: "lws-system", Name: "lws-webhook-service", Path: &path},
		}
	}
	on := func(group, resource string, operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
		return []admissionregistrationv1.RuleWithOperations{{
			Operations: operations,
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{resource}},
		}}
	}
	const create, update = admissionregistrationv1.Create, admissionregistrationv1.Update
	fail, none, ifNeeded := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.IfNeededReinvocationPolicy
	ours := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: lwsv1.SetNameLabelKey, Operator: metav1.LabelSelectorOpExists}}}
	review := []string{"v1"}
	return envtest.WebhookInstallOptions{
		MutatingWebhooks: []*admissionregistrationv1.MutatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "lws"},
			Webhooks: []admissionregistrationv1.MutatingWebhook{
				{
					Name: "pods.leaderworkerset.x-k8s.io", ClientConfig: at(PodPath), Rules: on("", "pods", create), ObjectSelector: ours,
					FailurePolicy: &fail, SideEffects: &none, TimeoutSeconds: ptr.To[int32](5), ReinvocationPolicy: &ifNeeded, AdmissionReviewVersions: review,
				},
				{
					Name: "names.leaderworkerset.x-k8s.io", ClientConfig: at(NamePath), Rules: on(lwsv1.GroupName, "leaderworkersets", create, update),
					FailurePolicy: &fail, SideEffects: &none, TimeoutSeconds: ptr.To[int32](10), AdmissionReviewVersions: review,
				},
			},
		}, {
			ObjectMeta: metav1.ObjectMeta{Name: "second"},
			Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name: "sidecar.example.com", ClientConfig: at(secondPath), Rules: on("", "pods", create),
				ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{sidecarLabel: "wanted"}},
				FailurePolicy:  &fail, SideEffects: &none, AdmissionReviewVersions: review,
			}},
		}},
		ValidatingWebhooks: []*admissionregistrationv1.ValidatingWebhookConfiguration{{
			ObjectMeta: metav1.ObjectMeta{Name: "lws"},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "validation.leaderworkerset.x-k8s.io", ClientConfig: at(ValidationPath), Rules: on(lwsv1.GroupName, "leaderworkersets", create, update),
				FailurePolicy: &fail, SideEffects: &none, TimeoutSeconds: ptr.To[int32](10), AdmissionReviewVersions: review,
			}},
		}},
	}
}

const sidecarLabel = "sidecar.example.com"

// addSidecar changes a pod after we did, so that the API server asks us again.
func addSidecar(context.Context, admission.Request) admission.Response {
	return admission.Patched("", jsonpatch.NewOperation("add", "/spec/containers/0",
		map[string]any{"name": "sidecar", "image": "sidecar:1"}))
}
