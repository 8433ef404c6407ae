package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	componentv1alpha1 "k8s.io/component-base/config/v1alpha1"
)

// GroupVersion is the group and version of this package.
var GroupVersion = schema.GroupVersion{Group: "config.lws.x-k8s.io", Version: "v1alpha1"}

// Configuration is the configuration file of a manager. The fields are those of
// the same name in v1.
type Configuration struct {
	metav1.TypeMeta `json:",inline"`

	// webhook is where the admission webhooks are served.
	// +optional
	Webhook ControllerWebhook `json:"webhook,omitzero"`

	// leaderElection is how replicas of the manager elect the one that works.
	// +optional
	LeaderElection *componentv1alpha1.LeaderElectionConfiguration `json:"leaderElection,omitempty"`

	// metrics is where metrics are served.
	// +optional
	Metrics ControllerMetrics `json:"metrics,omitzero"`

	// health is where liveness and readiness are served.
	// +optional
	Health ControllerHealth `json:"health,omitzero"`

	// pprofBindAddress is where profiles are served.
	// +optional
	PprofBindAddress string `json:"pprofBindAddress,omitempty"`

	// controller bounds the work that is done at the same time.
	// +optional
	Controller *ControllerConfigurationSpec `json:"controller,omitempty"`

	// tls bounds what the webhook and metrics servers accept.
	// +optional
	TLS *TLSOptions `json:"tls,omitempty"`

	// internalCertManagement is whether the manager makes the certificate of its
	// webhooks itself.
	// +optional
	InternalCertManagement *InternalCertManagement `json:"internalCertManagement,omitempty"`

	// clientConnection bounds the requests to the API server.
	// +optional
	ClientConnection *ClientConnection `json:"clientConnection,omitempty"`

	// gangSchedulingManagement turns gang scheduling on.
	// +optional
	GangSchedulingManagement *GangSchedulingManagement `json:"gangSchedulingManagement,omitempty"`

	// featureGates turns features on or off, by name.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
}

// ControllerWebhook is where the admission webhooks are served.
type ControllerWebhook struct {
	// port is the port to listen on.
	// +optional
	Port *int32 `json:"port,omitempty"`

	// host is the address to listen on.
	// +optional
	Host string `json:"host,omitempty"`

	// certDir is the directory of tls.crt and tls.key.
	// +optional
	CertDir string `json:"certDir,omitempty"`
}

// ControllerMetrics is where metrics are served.
type ControllerMetrics struct {
	// bindAddress is the address to listen on.
	// +optional
	BindAddress string `json:"bindAddress,omitempty"`
}

// ControllerHealth is where liveness and readiness are served.
type ControllerHealth struct {
	// healthProbeBindAddress is the address to listen on.
	// +optional
	HealthProbeBindAddress string `json:"healthProbeBindAddress,omitempty"`

	// readinessEndpointName is the path of readiness.
	// +optional
	ReadinessEndpointName string `json:"readinessEndpointName,omitempty"`

	// livenessEndpointName is the path of liveness.
	// +optional
	LivenessEndpointName string `json:"livenessEndpointName,omitempty"`
}

// ControllerConfigurationSpec bounds the work that is done at the same time.
type ControllerConfigurationSpec struct {
	// groupKindConcurrency is how many objects of a kind are worked on at the same
	// time, by Kind.group.
	// +optional
	GroupKindConcurrency map[string]int `json:"groupKindConcurrency,omitempty"`
}

// TLSOptions bounds what the webhook and metrics servers accept.
type TLSOptions struct {
	// minVersion is VersionTLS12 or VersionTLS13.
	// +optional
	MinVersion string `json:"minVersion,omitempty"`

	// cipherSuites are the cipher suites of TLS 1.2.
	// +optional
	CipherSuites []string `json:"cipherSuites,omitempty"`
}

// InternalCertManagement is whether the manager makes the certificate of its
// webhooks itself.
type InternalCertManagement struct {
	// enable is whether it does.
	// +optional
	Enable *bool `json:"enable,omitempty"`

	// webhookServiceName is the Service of the webhooks.
	// +optional
	WebhookServiceName *string `json:"webhookServiceName,omitempty"`

	// webhookSecretName is the Secret that keeps the certificate.
	// +optional
	WebhookSecretName *string `json:"webhookSecretName,omitempty"`
}

// ClientConnection bounds the requests to the API server.
type ClientConnection struct {
	// qps is the number of requests a second.
	// +optional
	QPS *float32 `json:"qps,omitempty"`

	// burst is the number of requests at once.
	// +optional
	Burst *int32 `json:"burst,omitempty"`
}

// GangSchedulingManagement turns gang scheduling on.
type GangSchedulingManagement struct {
	// schedulerProvider is who schedules gangs.
	// +optional
	SchedulerProvider *string `json:"schedulerProvider,omitempty"`
}
