package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	cliflag "k8s.io/component-base/cli/flag"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset"
)

// The Lease of leader election, and the events about who holds it. The permission
// to create cannot be limited to a name.
//
// +kubebuilder:rbac:groups="",namespace=disaggregatedset-system,resources=events,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=disaggregatedset-system,resources=leases,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=disaggregatedset-system,resources=leases,resourceNames=disaggregatedset.x-k8s.io,verbs=get;update

// stopTimeout is how long what runs may take to end.
const stopTimeout = 30 * time.Second

// newManager makes the manager with everything that it runs.
func newManager(ctx context.Context, configuration *configv1.Configuration, connection *connection) (ctrl.Manager, error) {
	source := newCertificateSource(configuration, connection.namespace)
	options, err := managerOptions(configuration, connection.namespace, source.getCertificate)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(connection.rest, options)
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	if err := source.setup(mgr); err != nil {
		return nil, fmt.Errorf("set up certificates: %w", err)
	}
	start := newStartup(mgr, configuration, source, options.WebhookServer.StartedChecker())
	if err := start.setup(ctx); err != nil {
		return nil, err
	}
	return mgr, nil
}

// managerOptions is the configuration in terms of controller-runtime.
func managerOptions(c *configv1.Configuration, namespace string, certificate getCertificate) (ctrl.Options, error) {
	tlsOption, err := tlsOptions(c.TLS, certificate)
	if err != nil {
		return ctrl.Options{}, err
	}
	timeout := stopTimeout
	options := ctrl.Options{
		Scheme:         newScheme(),
		MapperProvider: newMapper,
		Cache:          cacheOptions(c, namespace),
		WebhookServer: webhook.NewServer(webhook.Options{
			Host:    c.Webhook.Host,
			Port:    int(*c.Webhook.Port),
			TLSOpts: []func(*tls.Config){tlsOption},
		}),
		Metrics: server.Options{
			BindAddress:   c.Metrics.BindAddress,
			SecureServing: *c.Metrics.Secure,
			TLSOpts:       []func(*tls.Config){tlsOption},
		},
		HealthProbeBindAddress:  "0", // setupHealth serves the probes
		PprofBindAddress:        c.PprofBindAddress,
		GracefulShutdownTimeout: &timeout,
	}
	if *c.Metrics.Secure {
		options.Metrics.FilterProvider = newMetricsFilter
	}
	setLeaderElection(&options, c, namespace)
	return options, nil
}

func setLeaderElection(options *ctrl.Options, c *configv1.Configuration, namespace string) {
	election := c.LeaderElection
	options.LeaderElection = *election.LeaderElect
	options.LeaderElectionID = election.ResourceName
	options.LeaderElectionNamespace = namespace
	options.LeaderElectionResourceLock = election.ResourceLock
	options.LeaseDuration = &election.LeaseDuration.Duration
	options.RenewDeadline = &election.RenewDeadline.Duration
	options.RetryPeriod = &election.RetryPeriod.Duration
	// The process ends when the manager does, so the next leader need not wait.
	options.LeaderElectionReleaseOnCancel = true
}

// cacheOptions are those of the controllers and of the certificates: exactly the named
// objects, and no Secret when others make them.
func cacheOptions(c *configv1.Configuration, namespace string) cache.Options {
	options := disaggregatedset.CacheOptions()
	named := func(name string) fields.Selector { return fields.OneTermEqualSelector("metadata.name", name) }
	options.ByObject[&admissionv1.MutatingWebhookConfiguration{}] = cache.ByObject{Field: named(mutatingConfiguration)}
	options.ByObject[&admissionv1.ValidatingWebhookConfiguration{}] = cache.ByObject{Field: named(validatingConfiguration)}
	if *c.InternalCertManagement.Enable {
		options.ByObject[&corev1.Secret{}] = cache.ByObject{
			Namespaces: map[string]cache.Config{namespace: {}},
			Field:      named(*c.InternalCertManagement.WebhookSecretName),
		}
	}
	return options
}

type getCertificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// tlsOptions is how both servers speak TLS. HTTP/2 is off: a client can make it
// costly for the server.
func tlsOptions(c *configv1.TLS, certificate getCertificate) (func(*tls.Config), error) {
	version, err := cliflag.TLSVersion(c.MinVersion)
	if err != nil {
		return nil, fmt.Errorf("tls.minVersion: %w", err)
	}
	suites, err := cliflag.TLSCipherSuites(c.CipherSuites)
	if err != nil {
		return nil, fmt.Errorf("tls.cipherSuites: %w", err)
	}
	return func(config *tls.Config) {
		config.MinVersion = version
		config.CipherSuites = suites
		config.NextProtos = []string{"http/1.1"}
		config.GetCertificate = certificate
	}, nil
}
