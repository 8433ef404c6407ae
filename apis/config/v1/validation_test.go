package v1

import (
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	const service = "internalCertManagement.webhookServiceName"
	for name, c := range map[string]struct{ content, field, message string }{
		"webhook port 0":            {"webhook: {port: 0}", "webhook.port", "between 1 and 65535"},
		"webhook port too high":     {"webhook: {port: 65536}", "webhook.port", "between 1 and 65535"},
		"metrics without a port":    {"metrics: {bindAddress: localhost}", "metrics.bindAddress", "must be host:port"},
		"metrics port is text":      {"metrics: {bindAddress: ':https'}", "metrics.bindAddress", "must be a number between 0 and 65535"},
		"metrics port too high":     {"metrics: {bindAddress: ':70000'}", "metrics.bindAddress", "must be a number between 0 and 65535"},
		"health address":            {"health: {healthProbeBindAddress: '1'}", "health.healthProbeBindAddress", "must be host:port"},
		"readiness without a slash": {"health: {readinessEndpointName: readyz}", "health.readinessEndpointName", "must begin with /"},
		"liveness at the root":      {"health: {livenessEndpointName: /}", "health.livenessEndpointName", "must begin with /"},
		"one path for both":         {"health: {livenessEndpointName: /readyz}", "health.livenessEndpointName", "Duplicate value"},
		"profiles address":          {"pprofBindAddress: everywhere", "pprofBindAddress", "must be host:port"},
		"TLS version":               {"tls: {minVersion: VersionTLS11}", "tls.minVersion", `supported values: "VersionTLS12", "VersionTLS13"`},
		"cipher suites with 1.3":    {"tls: {minVersion: VersionTLS13, cipherSuites: [TLS_AES_128_GCM_SHA256]}", "tls.cipherSuites", "fixed"},
		"unknown cipher suite":      {"tls: {cipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, ROT13]}", "tls.cipherSuites[1]", `Unsupported value: "ROT13"`},
		"broken cipher suite":       {"tls: {cipherSuites: [TLS_RSA_WITH_RC4_128_SHA]}", "tls.cipherSuites[0]", "Unsupported value"},
		"service name":              {"internalCertManagement: {webhookServiceName: 1st}", service, "DNS-1035"},
		"secret name":               {"internalCertManagement: {webhookSecretName: A}", "internalCertManagement.webhookSecretName", "RFC 1123"},
		"provider":                  {"gangSchedulingManagement: {schedulerProvider: yarn}", "gangSchedulingManagement.schedulerProvider", `supported values: "kubernetes", "volcano"`},
		"no provider":               {"gangSchedulingManagement: {}", "gangSchedulingManagement.schedulerProvider", "Required value"},
		"qps 0":                     {"clientConnection: {qps: 0}", "clientConnection.qps", "must be above 0, or -1"},
		"burst 0":                   {"clientConnection: {burst: 0}", "clientConnection.burst", "must be at least 1"},
		"no workers":                {"controller: {groupKindConcurrency: {Pod: 0}}", "controller.groupKindConcurrency[Pod]", "must be at least 1"},
		"no kind":                   {"controller: {groupKindConcurrency: {.apps: 1}}", "controller.groupKindConcurrency[.apps]", "must be Kind.group"},
		"unknown gate":              {"featureGates: {WorkloadAware: true}", "featureGates[WorkloadAware]", `supported values: "CompositePodGroup", "WorkloadAwareScheduling"`},
		"gate without the other":    {"featureGates: {CompositePodGroup: true}", "featureGates[CompositePodGroup]", "needs WorkloadAwareScheduling"},
		"tracing endpoint":          {"tracing: {endpoint: collector}", "tracing.endpoint", "must be host:port"},
		"sampling below 0":          {"tracing: {samplingRatePerMillion: -1}", "tracing.samplingRatePerMillion", "between 0 and 1000000"},
		"sampling above a million":  {"tracing: {samplingRatePerMillion: 1000001}", "tracing.samplingRatePerMillion", "between 0 and 1000000"},
		"lease too short":           {"leaderElection: {leaseDuration: 10s}", "leaderElection.leaseDuration", "must be longer than renewDeadline"},
		"renewal too short":         {"leaderElection: {renewDeadline: 2400ms}", "leaderElection.renewDeadline", "must be longer than 1.2 x retryPeriod"},
		"retry below 0":             {"leaderElection: {retryPeriod: -1s}", "leaderElection.retryPeriod", "must be above 0"},
		"endpoints lock":            {"leaderElection: {resourceLock: endpoints}", "leaderElection.resourceLock", `supported values: "leases"`},
		"lease name":                {"leaderElection: {resourceName: A}", "leaderElection.resourceName", "RFC 1123"},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := Decode([]byte(header + c.content))
			if err != nil {
				t.Fatal(err)
			}
			SetDefaults(config, LWSManagerNames())
			errs := Validate(config)
			if len(errs) != 1 || errs[0].Field != c.field || !strings.Contains(errs[0].Error(), c.message) {
				t.Errorf("errors are %v, want one of %s with %q", errs, c.field, c.message)
			}
		})
	}
}

func TestValidateAccepts(t *testing.T) {
	for name, content := range map[string]string{
		"unlimited":              "clientConnection: {qps: -1}",
		"nothing served":         "metrics: {bindAddress: '0'}\nhealth: {healthProbeBindAddress: '0'}\npprofBindAddress: '0'",
		"any port":               "metrics: {bindAddress: '127.0.0.1:0'}",
		"IPv6":                   "metrics: {bindAddress: '[::1]:8443'}",
		"no election":            "leaderElection: {leaderElect: false, leaseDuration: 1s}",
		"certificates by others": "internalCertManagement: {enable: false, webhookServiceName: '-'}",
		"TLS 1.3":                "tls: {minVersion: VersionTLS13}",
		"volcano":                "gangSchedulingManagement: {schedulerProvider: volcano}",
	} {
		t.Run(name, func(t *testing.T) {
			config, err := Decode([]byte(header + content))
			if err != nil {
				t.Fatal(err)
			}
			SetDefaults(config, LWSManagerNames())
			if errs := Validate(config); len(errs) > 0 {
				t.Error(errs)
			}
		})
	}
}
