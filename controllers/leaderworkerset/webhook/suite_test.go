//go:build integration

package webhook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
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
	"sigs.k8s.io/yaml"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/metrics"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
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
	webhooks, err := installed()
	if err != nil {
		return 0, err
	}
	server := &envtest.Environment{
		CRDDirectoryPaths:     []string{"../../../config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml"},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: webhooks,
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
	if err := Setup(mgr, scheduling.NewNone(false), metrics.New()); err != nil {
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

// manifests are the webhooks as they are shipped: generated from markers, and what
// markers cannot say.
const manifests = "../../../config/webhook/"

// installed are the shipped webhooks, and one of another party's.
func installed() (envtest.WebhookInstallOptions, error) {
	var options envtest.WebhookInstallOptions
	mutating, validating, err := readWebhooks(manifests + "manifests.yaml")
	if err != nil {
		return options, err
	}
	patches, _, err := readWebhooks(manifests + "patches.yaml")
	if err != nil {
		return options, err
	}
	for _, patch := range patches.Webhooks {
		for i := range mutating.Webhooks {
			if webhook := &mutating.Webhooks[i]; webhook.Name == patch.Name {
				webhook.ObjectSelector = patch.ObjectSelector
			}
		}
	}
	options.MutatingWebhooks = []*admissionregistrationv1.MutatingWebhookConfiguration{mutating, second()}
	options.ValidatingWebhooks = []*admissionregistrationv1.ValidatingWebhookConfiguration{validating}
	return options, nil
}

// readWebhooks reads a file with a mutating and a validating configuration.
func readWebhooks(file string) (
	*admissionregistrationv1.MutatingWebhookConfiguration, *admissionregistrationv1.ValidatingWebhookConfiguration, error,
) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	mutating, validating := &admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		var into any = validating
		if strings.Contains(document, "kind: MutatingWebhookConfiguration") {
			into = mutating
		}
		if err := yaml.Unmarshal([]byte(document), into); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return mutating, validating, nil
}

func second() *admissionregistrationv1.MutatingWebhookConfiguration {
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "second"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "sidecar.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				Service: &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "second", Path: ptr.To(secondPath)},
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
			ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{sidecarLabel: "wanted"}},
			FailurePolicy:  ptr.To(admissionregistrationv1.Fail), SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
}

const sidecarLabel = "sidecar.example.com"

// addSidecar changes a pod after we did, so that the API server asks us again.
func addSidecar(context.Context, admission.Request) admission.Response {
	return admission.Patched("", jsonpatch.NewOperation("add", "/spec/containers/0",
		map[string]any{"name": "sidecar", "image": "sidecar:1"}))
}
