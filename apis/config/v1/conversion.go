package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/lws/apis/config/v1alpha1"
)

// fromV1alpha1 converts a configuration of the older version. Everything of it
// exists here.
func fromV1alpha1(in *v1alpha1.Configuration) *Configuration {
	out := &Configuration{
		TypeMeta: metav1.TypeMeta{APIVersion: GroupVersion.String(), Kind: Kind},
		Webhook:  Webhook{Host: in.Webhook.Host, Port: in.Webhook.Port, CertDir: in.Webhook.CertDir},
		Metrics:  Metrics{BindAddress: in.Metrics.BindAddress},
		Health: Health{
			HealthProbeBindAddress: in.Health.HealthProbeBindAddress,
			ReadinessEndpointName:  in.Health.ReadinessEndpointName,
			LivenessEndpointName:   in.Health.LivenessEndpointName,
		},
		PprofBindAddress: in.PprofBindAddress,
		LeaderElection:   in.LeaderElection.DeepCopy(),
		FeatureGates:     in.FeatureGates,
	}
	if in.TLS != nil {
		out.TLS = &TLS{MinVersion: in.TLS.MinVersion, CipherSuites: in.TLS.CipherSuites}
	}
	if certs := in.InternalCertManagement; certs != nil {
		out.InternalCertManagement = &InternalCertManagement{
			Enable:             certs.Enable,
			WebhookServiceName: certs.WebhookServiceName,
			WebhookSecretName:  certs.WebhookSecretName,
		}
	}
	if gang := in.GangSchedulingManagement; gang != nil {
		out.GangSchedulingManagement = &GangSchedulingManagement{SchedulerProvider: gang.SchedulerProvider}
	}
	if connection := in.ClientConnection; connection != nil {
		out.ClientConnection = &ClientConnection{QPS: connection.QPS, Burst: connection.Burst}
	}
	if controller := in.Controller; controller != nil {
		out.Controller = &Controller{GroupKindConcurrency: controller.GroupKindConcurrency}
	}
	return out
}
