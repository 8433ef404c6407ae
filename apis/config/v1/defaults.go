package v1

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	componentv1alpha1 "k8s.io/component-base/config/v1alpha1"
)

// Names are the defaults that differ between the managers.
type Names struct {
	// LeaderElection is the name of the Lease.
	LeaderElection string
	// WebhookService is the name of the Service of the webhooks.
	WebhookService string
	// WebhookSecret is the name of the Secret with the webhooks' certificate.
	WebhookSecret string
}

// LWSManagerNames are the names of lws-manager. The Lease is that of earlier
// releases, so that an old and a new manager never work at the same time.
func LWSManagerNames() Names {
	return namesOf("lws", "b8b2488c.x-k8s.io")
}

// DisaggregatedSetManagerNames are the names of disaggregatedset-manager.
func DisaggregatedSetManagerNames() Names {
	return namesOf("disaggregatedset", "disaggregatedset.x-k8s.io")
}

func namesOf(manager, lease string) Names {
	return Names{
		LeaderElection: lease,
		WebhookService: manager + "-webhook-service",
		WebhookSecret:  manager + "-webhook-server-cert",
	}
}

// Defaults of fields.
const (
	DefaultWebhookPort            = 9443
	DefaultWebhookCertDir         = "/tmp/k8s-webhook-server/serving-certs"
	DefaultMetricsBindAddress     = ":8443"
	DefaultHealthProbeBindAddress = ":8081"
	DefaultReadinessEndpointName  = "/readyz"
	DefaultLivenessEndpointName   = "/healthz"
	DefaultPprofBindAddress       = "0"
	DefaultTLSMinVersion          = "VersionTLS12"
	DefaultClientQPS              = 500
	DefaultClientBurst            = 500
	DefaultTracingEndpoint        = "localhost:4317"
)

// SetDefaults fills in what is absent. Twice gives the same as once.
func SetDefaults(config *Configuration, names Names) {
	defaultTo(&config.Webhook.Port, DefaultWebhookPort)
	textDefaultTo(&config.Webhook.CertDir, DefaultWebhookCertDir)
	textDefaultTo(&config.Metrics.BindAddress, DefaultMetricsBindAddress)
	defaultTo(&config.Metrics.Secure, true)
	textDefaultTo(&config.Health.HealthProbeBindAddress, DefaultHealthProbeBindAddress)
	textDefaultTo(&config.Health.ReadinessEndpointName, DefaultReadinessEndpointName)
	textDefaultTo(&config.Health.LivenessEndpointName, DefaultLivenessEndpointName)
	textDefaultTo(&config.PprofBindAddress, DefaultPprofBindAddress)

	textDefaultTo(&object(&config.TLS).MinVersion, DefaultTLSMinVersion)

	certs := object(&config.InternalCertManagement)
	defaultTo(&certs.Enable, true)
	defaultTo(&certs.WebhookServiceName, names.WebhookService)
	defaultTo(&certs.WebhookSecretName, names.WebhookSecret)

	connection := object(&config.ClientConnection)
	defaultTo(&connection.QPS, DefaultClientQPS)
	defaultTo(&connection.Burst, DefaultClientBurst)

	setLeaderElectionDefaults(object(&config.LeaderElection), names)
	setFeatureGateDefaults(config)
	if config.Tracing != nil {
		defaultTo(&config.Tracing.Endpoint, DefaultTracingEndpoint)
		defaultTo(&config.Tracing.SamplingRatePerMillion, 0)
	}
}

func setLeaderElectionDefaults(election *componentv1alpha1.LeaderElectionConfiguration, names Names) {
	textDefaultTo(&election.ResourceLock, leasesResourceLock)
	componentv1alpha1.RecommendedDefaultLeaderElectionConfiguration(election)
	textDefaultTo(&election.ResourceName, names.LeaderElection)
}

func setFeatureGateDefaults(config *Configuration) {
	gates := knownFeatureGates()
	maps.Copy(gates, config.FeatureGates)
	config.FeatureGates = gates
}

// knownFeatureGates are all gates with their defaults.
func knownFeatureGates() map[string]bool {
	return map[string]bool{
		WorkloadAwareSchedulingGate: false,
		CompositePodGroupGate:       false,
	}
}

// Default is the configuration without a file.
func Default(names Names) *Configuration {
	config := &Configuration{TypeMeta: metav1.TypeMeta{APIVersion: GroupVersion.String(), Kind: Kind}}
	SetDefaults(config, names)
	return config
}

func object[T any](field **T) *T {
	if *field == nil {
		*field = new(T)
	}
	return *field
}

func defaultTo[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func textDefaultTo(field *string, value string) {
	if *field == "" {
		*field = value
	}
}
