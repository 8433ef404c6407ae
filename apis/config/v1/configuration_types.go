package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	componentv1alpha1 "k8s.io/component-base/config/v1alpha1"
)

// GroupName is the API group of the configuration file.
const GroupName = "config.lws.x-k8s.io"

// Kind is the kind of a configuration file.
const Kind = "Configuration"

// GroupVersion is the group and version of this package.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

// Configuration is the configuration file of a manager. Every field has a default.
type Configuration struct {
	metav1.TypeMeta `json:",inline"`

	// webhook is where the admission webhooks are served.
	// +optional
	Webhook Webhook `json:"webhook,omitzero"`

	// leaderElection is how replicas of the manager elect the one that works.
	// Absent fields have the defaults of Kubernetes components; leaderElect
	// defaults to true, resourceLock is leases.
	// +optional
	LeaderElection *componentv1alpha1.LeaderElectionConfiguration `json:"leaderElection,omitempty"`

	// metrics is where metrics are served.
	// +optional
	Metrics Metrics `json:"metrics,omitzero"`

	// health is where liveness and readiness are served.
	// +optional
	Health Health `json:"health,omitzero"`

	// tls bounds what the webhook and metrics servers accept.
	// +optional
	TLS *TLS `json:"tls,omitempty"`

	// internalCertManagement is whether the manager makes and renews the
	// certificate of its webhooks itself.
	// +optional
	InternalCertManagement *InternalCertManagement `json:"internalCertManagement,omitempty"`

	// gangSchedulingManagement turns gang scheduling on. Absent, it is off.
	// lws-manager only.
	// +optional
	GangSchedulingManagement *GangSchedulingManagement `json:"gangSchedulingManagement,omitempty"`

	// clientConnection bounds the requests to the API server.
	// +optional
	ClientConnection *ClientConnection `json:"clientConnection,omitempty"`

	// controller bounds the work that is done at the same time.
	// +optional
	Controller *Controller `json:"controller,omitempty"`

	// featureGates turns features on or off, by name.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`

	// pprofBindAddress is where profiles are served, as host:port. Defaults to
	// "0", nowhere.
	// +optional
	PprofBindAddress string `json:"pprofBindAddress,omitempty"`

	// tracing sends OpenTelemetry traces. Absent, there are none.
	// +optional
	Tracing *Tracing `json:"tracing,omitempty"`
}

// Webhook is where the admission webhooks are served.
type Webhook struct {
	// host is the address to listen on. Defaults to all.
	// +optional
	Host string `json:"host,omitempty"`

	// port is the port to listen on. Defaults to 9443.
	// +optional
	Port *int32 `json:"port,omitempty"`

	// certDir is the directory of tls.crt and tls.key. Defaults to
	// /tmp/k8s-webhook-server/serving-certs.
	// +optional
	CertDir string `json:"certDir,omitempty"`
}

// Metrics is where metrics are served.
type Metrics struct {
	// bindAddress is the address to listen on, as host:port; "0" is nowhere.
	// Defaults to ":8443".
	// +optional
	BindAddress string `json:"bindAddress,omitempty"`

	// secure is whether metrics are served over HTTPS, with authentication and
	// authorization by the API server. Defaults to true.
	// +optional
	Secure *bool `json:"secure,omitempty"`
}

// Health is where liveness and readiness are served.
type Health struct {
	// healthProbeBindAddress is the address to listen on, as host:port; "0" is
	// nowhere. Defaults to ":8081".
	// +optional
	HealthProbeBindAddress string `json:"healthProbeBindAddress,omitempty"`

	// readinessEndpointName is the path of readiness. Defaults to /readyz.
	// +optional
	ReadinessEndpointName string `json:"readinessEndpointName,omitempty"`

	// livenessEndpointName is the path of liveness. Defaults to /healthz.
	// +optional
	LivenessEndpointName string `json:"livenessEndpointName,omitempty"`
}

// TLS bounds what the webhook and metrics servers accept.
type TLS struct {
	// minVersion is VersionTLS12 or VersionTLS13. Defaults to VersionTLS12.
	// +optional
	MinVersion string `json:"minVersion,omitempty"`

	// cipherSuites are the cipher suites of TLS 1.2, by their names in the Go
	// standard library. Absent, they are those that Go finds safe. Cannot be set
	// with VersionTLS13, whose cipher suites are fixed.
	// +optional
	CipherSuites []string `json:"cipherSuites,omitempty"`
}

// InternalCertManagement is whether the manager makes and renews the certificate
// of its webhooks itself.
type InternalCertManagement struct {
	// enable is whether it does; otherwise somebody else, cert-manager for example,
	// puts the certificate into webhook.certDir. Defaults to true.
	// +optional
	Enable *bool `json:"enable,omitempty"`

	// webhookServiceName is the Service of the webhooks, in the manager's
	// namespace. Defaults to lws-webhook-service or
	// disaggregatedset-webhook-service.
	// +optional
	WebhookServiceName *string `json:"webhookServiceName,omitempty"`

	// webhookSecretName is the Secret that keeps the certificate, in the manager's
	// namespace. Defaults to lws-webhook-server-cert or
	// disaggregatedset-webhook-server-cert.
	// +optional
	WebhookSecretName *string `json:"webhookSecretName,omitempty"`
}

// GangSchedulingManagement turns gang scheduling on.
type GangSchedulingManagement struct {
	// schedulerProvider is who schedules groups: kubernetes, which is workload-aware
	// scheduling of Kubernetes 1.37 and later, or volcano.
	// +required
	SchedulerProvider *string `json:"schedulerProvider,omitempty"`
}

// Scheduler providers.
const (
	// KubernetesSchedulerProvider is workload-aware scheduling of Kubernetes.
	KubernetesSchedulerProvider = "kubernetes"

	// VolcanoSchedulerProvider is Volcano.
	VolcanoSchedulerProvider = "volcano"
)

// ClientConnection bounds the requests to the API server.
type ClientConnection struct {
	// qps is the number of requests a second; -1 is no limit. Defaults to 500.
	// +optional
	QPS *float32 `json:"qps,omitempty"`

	// burst is the number of requests at once. Defaults to 500.
	// +optional
	Burst *int32 `json:"burst,omitempty"`
}

// Controller bounds the work that is done at the same time.
type Controller struct {
	// groupKindConcurrency is how many objects of a kind are worked on at the same
	// time, by Kind.group, for example LeaderWorkerSet.leaderworkerset.x-k8s.io,
	// or Pod for the groups of a LeaderWorkerSet. At least 1. The log names kinds
	// that the manager does not work on.
	// +optional
	GroupKindConcurrency map[string]int `json:"groupKindConcurrency,omitempty"`
}

// Tracing sends OpenTelemetry traces.
type Tracing struct {
	// endpoint is the host:port of a collector that speaks OTLP over gRPC. Defaults
	// to localhost:4317.
	// +optional
	Endpoint *string `json:"endpoint,omitempty"`

	// samplingRatePerMillion is how many of a million traces are sent. Defaults to
	// 0, none but those that a caller wants.
	// +optional
	SamplingRatePerMillion *int32 `json:"samplingRatePerMillion,omitempty"`
}

// Feature gates.
const (
	// WorkloadAwareSchedulingGate serves spec.scheduling of LeaderWorkerSets.
	// Alpha, off.
	WorkloadAwareSchedulingGate = "WorkloadAwareScheduling"

	// CompositePodGroupGate lets several levels of spec.scheduling be active. It
	// needs WorkloadAwareScheduling. Alpha, off.
	CompositePodGroupGate = "CompositePodGroup"
)
