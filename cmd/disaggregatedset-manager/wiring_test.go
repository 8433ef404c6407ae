package main

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

func TestManagerOptions(t *testing.T) {
	c := configv1.Default(configv1.DisaggregatedSetManagerNames())
	c.PprofBindAddress = "127.0.0.1:6060"
	got, err := managerOptions(c, "home", nil)
	if err != nil {
		t.Fatal(err)
	}
	type summary struct {
		Election                 bool
		ID, Namespace, Lock      string
		Lease, Renew, Retry      time.Duration
		Release                  bool
		Metrics                  string
		Secure, Guarded          bool
		Pprof                    string
		Stop                     time.Duration
		DefaultHealthIsServed    bool
		AllTypesAreInTheScheme   bool
		ClientGoSchemeIsNotUsed  bool
		SecretsAreCachedByName   string
		WebhooksAreCachedByName  string
		SecretsOfOtherNamespaces bool
	}
	secrets := cacheOf[*corev1.Secret](t, got.Cache)
	webhooks := cacheOf[*admissionv1.MutatingWebhookConfiguration](t, got.Cache)
	_, secretsOfHome := secrets.Namespaces["home"]
	want := summary{
		Election: true, ID: "disaggregatedset.x-k8s.io", Namespace: "home", Lock: "leases",
		Lease: 15 * time.Second, Renew: 10 * time.Second, Retry: 2 * time.Second, Release: true,
		Metrics: ":8443", Secure: true, Guarded: true,
		Pprof: "127.0.0.1:6060", Stop: stopTimeout,
		AllTypesAreInTheScheme: true, ClientGoSchemeIsNotUsed: true,
		SecretsAreCachedByName:  "metadata.name=disaggregatedset-webhook-server-cert",
		WebhooksAreCachedByName: "metadata.name=disaggregatedset-mutating-webhook-configuration",
	}
	if diff := cmp.Diff(want, summary{
		Election: got.LeaderElection, ID: got.LeaderElectionID, Namespace: got.LeaderElectionNamespace,
		Lock: got.LeaderElectionResourceLock, Lease: *got.LeaseDuration, Renew: *got.RenewDeadline,
		Retry: *got.RetryPeriod, Release: got.LeaderElectionReleaseOnCancel,
		Metrics: got.Metrics.BindAddress, Secure: got.Metrics.SecureServing, Guarded: got.Metrics.FilterProvider != nil,
		Pprof: got.PprofBindAddress, Stop: *got.GracefulShutdownTimeout,
		DefaultHealthIsServed:    got.HealthProbeBindAddress != "0",
		AllTypesAreInTheScheme:   got.Scheme.IsGroupRegistered("leaderworkerset.x-k8s.io") && got.Scheme.IsGroupRegistered("disaggregatedset.x-k8s.io"),
		ClientGoSchemeIsNotUsed:  !got.Scheme.IsGroupRegistered("batch"),
		SecretsAreCachedByName:   secrets.Field.String(),
		WebhooksAreCachedByName:  webhooks.Field.String(),
		SecretsOfOtherNamespaces: len(secrets.Namespaces) != 1 || !secretsOfHome,
	}); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func cacheOf[T client.Object](t *testing.T, options cache.Options) cache.ByObject {
	t.Helper()
	for object, of := range options.ByObject {
		if _, ok := object.(T); ok {
			return of
		}
	}
	t.Fatalf("there is no cache of %T", *new(T))
	return cache.ByObject{}
}

func TestNoSecretsAreReadWithCertificatesOfOthers(t *testing.T) {
	c := configv1.Default(configv1.DisaggregatedSetManagerNames())
	c.InternalCertManagement.Enable = new(false)
	for object := range cacheOptions(c, "home").ByObject {
		if _, isSecret := object.(*corev1.Secret); isSecret {
			t.Error("Secrets are cached")
		}
	}
}

func TestTLSOptions(t *testing.T) {
	tests := map[string]struct {
		config  *configv1.TLS
		version uint16
		suites  []uint16
	}{
		"defaults": {
			config:  &configv1.TLS{MinVersion: "VersionTLS12"},
			version: tls.VersionTLS12,
		},
		"1.3": {
			config:  &configv1.TLS{MinVersion: "VersionTLS13"},
			version: tls.VersionTLS13,
		},
		"suites": {
			config:  &configv1.TLS{MinVersion: "VersionTLS12", CipherSuites: []string{"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"}},
			version: tls.VersionTLS12,
			suites:  []uint16{tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			served := &tls.Certificate{}
			set, err := tlsOptions(test.config, func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return served, nil })
			if err != nil {
				t.Fatal(err)
			}
			got := &tls.Config{NextProtos: []string{"h2"}}
			set(got)
			if got.MinVersion != test.version || !cmp.Equal(got.CipherSuites, test.suites) {
				t.Errorf("version %x, suites %x", got.MinVersion, got.CipherSuites)
			}
			if diff := cmp.Diff([]string{"http/1.1"}, got.NextProtos); diff != "" {
				t.Errorf("HTTP/2 is offered: %s", diff)
			}
			if certificate, err := got.GetCertificate(nil); err != nil || certificate != served {
				t.Error("it serves another certificate")
			}
		})
	}
}

func TestConcurrency(t *testing.T) {
	c := configv1.Default(configv1.DisaggregatedSetManagerNames())
	c.Controller = &configv1.Controller{GroupKindConcurrency: map[string]int{"Pod": 3}}
	if got := concurrency(c, "Pod", 16); got != 3 {
		t.Errorf("%d groups at a time, want 3 as configured", got)
	}
	if got := concurrency(c, "DisaggregatedSet.disaggregatedset.x-k8s.io", 4); got != 4 {
		t.Errorf("%d sets at a time, want the default", got)
	}
}

func TestWebhookNames(t *testing.T) {
	c := configv1.Default(configv1.DisaggregatedSetManagerNames())
	tests := map[string]struct {
		host string
		want []string
	}{
		"every address": {"", []string{"disaggregatedset-webhook-service.home.svc", "disaggregatedset-webhook-service.home.svc.cluster.local"}},
		"an address":    {"127.0.0.1", []string{"disaggregatedset-webhook-service.home.svc", "disaggregatedset-webhook-service.home.svc.cluster.local"}},
		"a host":        {"localhost", []string{"disaggregatedset-webhook-service.home.svc", "disaggregatedset-webhook-service.home.svc.cluster.local", "localhost"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c.Webhook.Host = test.host
			if diff := cmp.Diff(test.want, webhookNames(c, "home")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
