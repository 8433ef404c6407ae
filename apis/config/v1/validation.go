package v1

import (
	"crypto/tls"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	componentv1alpha1 "k8s.io/component-base/config/v1alpha1"
)

const (
	leasesResourceLock = "leases"
	tls12              = "VersionTLS12"
	tls13              = "VersionTLS13"
	unlimitedQPS       = -1
	disabledAddress    = "0"
	oneMillion         = 1_000_000
)

// Validate names every field that cannot work. It expects defaults to be filled in.
func Validate(config *Configuration) field.ErrorList {
	var errs field.ErrorList
	errs = append(errs, validateServers(config)...)
	errs = append(errs, validateTLS(config.TLS, field.NewPath("tls"))...)
	errs = append(errs, validateCerts(config.InternalCertManagement, field.NewPath("internalCertManagement"))...)
	errs = append(errs, validateGang(config)...)
	errs = append(errs, validateConnection(config.ClientConnection, field.NewPath("clientConnection"))...)
	errs = append(errs, validateController(config.Controller, field.NewPath("controller"))...)
	errs = append(errs, validateFeatureGates(config.FeatureGates, field.NewPath("featureGates"))...)
	errs = append(errs, validateTracing(config.Tracing, field.NewPath("tracing"))...)
	errs = append(errs, validateLeaderElection(config.LeaderElection, field.NewPath("leaderElection"))...)
	return errs
}

func validateServers(config *Configuration) field.ErrorList {
	var errs field.ErrorList
	webhook, health := field.NewPath("webhook"), field.NewPath("health")
	if port := config.Webhook.Port; port != nil {
		for _, message := range validation.IsValidPortNum(int(*port)) {
			errs = append(errs, field.Invalid(webhook.Child("port"), *port, message))
		}
	}
	errs = append(errs, validateAddress(config.Metrics.BindAddress, field.NewPath("metrics", "bindAddress"))...)
	errs = append(errs, validateAddress(config.Health.HealthProbeBindAddress, health.Child("healthProbeBindAddress"))...)
	errs = append(errs, validateAddress(config.PprofBindAddress, field.NewPath("pprofBindAddress"))...)
	errs = append(errs, validateEndpoint(config.Health.ReadinessEndpointName, health.Child("readinessEndpointName"))...)
	errs = append(errs, validateEndpoint(config.Health.LivenessEndpointName, health.Child("livenessEndpointName"))...)
	if readiness := config.Health.ReadinessEndpointName; readiness != "" && readiness == config.Health.LivenessEndpointName {
		errs = append(errs, field.Duplicate(health.Child("livenessEndpointName"), readiness))
	}
	return errs
}

func validateAddress(address string, path *field.Path) field.ErrorList {
	if address == "" || address == disabledAddress {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return field.ErrorList{field.Invalid(path, address, `must be host:port, :port, or "0" to serve nowhere`)}
	}
	if number, err := strconv.Atoi(port); err != nil || number < 0 || number > 65535 {
		return field.ErrorList{field.Invalid(path, address, "the port must be a number between 0 and 65535")}
	}
	return nil
}

func validateEndpoint(endpoint string, path *field.Path) field.ErrorList {
	if endpoint != "" && (!strings.HasPrefix(endpoint, "/") || endpoint == "/") {
		return field.ErrorList{field.Invalid(path, endpoint, "must begin with / and name a path")}
	}
	return nil
}

func validateTLS(config *TLS, path *field.Path) field.ErrorList {
	if config == nil {
		return nil
	}
	var errs field.ErrorList
	versions := []string{tls12, tls13}
	if config.MinVersion != "" && !slices.Contains(versions, config.MinVersion) {
		errs = append(errs, field.NotSupported(path.Child("minVersion"), config.MinVersion, versions))
	}
	suites := path.Child("cipherSuites")
	if config.MinVersion == tls13 && len(config.CipherSuites) > 0 {
		errs = append(errs, field.Forbidden(suites, "the cipher suites of TLS 1.3 are fixed; leave this empty or lower minVersion"))
	}
	known := cipherSuiteNames()
	for i, name := range config.CipherSuites {
		if !slices.Contains(known, name) {
			errs = append(errs, field.NotSupported(suites.Index(i), name, known))
		}
	}
	return errs
}

// cipherSuiteNames are the suites without known security issues.
func cipherSuiteNames() []string {
	var names []string
	for _, suite := range tls.CipherSuites() {
		names = append(names, suite.Name)
	}
	return names
}

func validateCerts(config *InternalCertManagement, path *field.Path) field.ErrorList {
	if config == nil || config.Enable == nil || !*config.Enable {
		return nil
	}
	var errs field.ErrorList
	if name := config.WebhookServiceName; name != nil {
		for _, message := range validation.IsDNS1035Label(*name) {
			errs = append(errs, field.Invalid(path.Child("webhookServiceName"), *name, message))
		}
	}
	if name := config.WebhookSecretName; name != nil {
		for _, message := range validation.IsDNS1123Subdomain(*name) {
			errs = append(errs, field.Invalid(path.Child("webhookSecretName"), *name, message))
		}
	}
	return errs
}

func validateGang(config *Configuration) field.ErrorList {
	gang, path := config.GangSchedulingManagement, field.NewPath("gangSchedulingManagement", "schedulerProvider")
	providers := []string{KubernetesSchedulerProvider, VolcanoSchedulerProvider}
	switch {
	case gang == nil:
		return nil
	case gang.SchedulerProvider == nil || *gang.SchedulerProvider == "":
		return field.ErrorList{field.Required(path, "one of "+strings.Join(providers, ", "))}
	case !slices.Contains(providers, *gang.SchedulerProvider):
		return field.ErrorList{field.NotSupported(path, *gang.SchedulerProvider, providers)}
	}
	return nil
}

func validateConnection(config *ClientConnection, path *field.Path) field.ErrorList {
	if config == nil {
		return nil
	}
	var errs field.ErrorList
	if qps := config.QPS; qps != nil && *qps <= 0 && *qps != unlimitedQPS {
		errs = append(errs, field.Invalid(path.Child("qps"), *qps, "must be above 0, or -1 for no limit"))
	}
	if burst := config.Burst; burst != nil && *burst < 1 {
		errs = append(errs, field.Invalid(path.Child("burst"), *burst, "must be at least 1"))
	}
	return errs
}

func validateController(config *Controller, path *field.Path) field.ErrorList {
	if config == nil {
		return nil
	}
	var errs field.ErrorList
	for _, kind := range slices.Sorted(maps.Keys(config.GroupKindConcurrency)) {
		entry := path.Child("groupKindConcurrency").Key(kind)
		if name, _, _ := strings.Cut(kind, "."); name == "" {
			errs = append(errs, field.Invalid(entry, kind, "must be Kind.group, for example LeaderWorkerSet.leaderworkerset.x-k8s.io"))
		}
		if count := config.GroupKindConcurrency[kind]; count < 1 {
			errs = append(errs, field.Invalid(entry, count, "must be at least 1"))
		}
	}
	return errs
}

func validateFeatureGates(gates map[string]bool, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := slices.Sorted(maps.Keys(knownFeatureGates()))
	for _, gate := range slices.Sorted(maps.Keys(gates)) {
		if !slices.Contains(known, gate) {
			errs = append(errs, field.NotSupported(path.Key(gate), gate, known))
		}
	}
	if gates[CompositePodGroupGate] && !gates[WorkloadAwareSchedulingGate] {
		errs = append(errs, field.Invalid(path.Key(CompositePodGroupGate), true, "needs "+WorkloadAwareSchedulingGate))
	}
	return errs
}

func validateTracing(config *Tracing, path *field.Path) field.ErrorList {
	if config == nil {
		return nil
	}
	var errs field.ErrorList
	if endpoint := config.Endpoint; endpoint != nil {
		if host, port, err := net.SplitHostPort(*endpoint); err != nil || host == "" || port == "" {
			errs = append(errs, field.Invalid(path.Child("endpoint"), *endpoint, "must be host:port"))
		}
	}
	if rate := config.SamplingRatePerMillion; rate != nil && (*rate < 0 || *rate > oneMillion) {
		errs = append(errs, field.Invalid(path.Child("samplingRatePerMillion"), *rate, "must be between 0 and 1000000"))
	}
	return errs
}

func validateLeaderElection(config *componentv1alpha1.LeaderElectionConfiguration, path *field.Path) field.ErrorList {
	if config == nil || config.LeaderElect == nil || !*config.LeaderElect {
		return nil
	}
	var errs field.ErrorList
	lease, renew, retry := config.LeaseDuration.Duration, config.RenewDeadline.Duration, config.RetryPeriod.Duration
	if retry <= 0 {
		errs = append(errs, field.Invalid(path.Child("retryPeriod"), retry.String(), "must be above 0"))
	}
	if renew*5 <= retry*6 {
		errs = append(errs, field.Invalid(path.Child("renewDeadline"), renew.String(), "must be longer than 1.2 x retryPeriod"))
	}
	if lease <= renew {
		errs = append(errs, field.Invalid(path.Child("leaseDuration"), lease.String(), "must be longer than renewDeadline"))
	}
	if config.ResourceLock != leasesResourceLock {
		errs = append(errs, field.NotSupported(path.Child("resourceLock"), config.ResourceLock, []string{leasesResourceLock}))
	}
	for _, message := range validation.IsDNS1123Subdomain(config.ResourceName) {
		errs = append(errs, field.Invalid(path.Child("resourceName"), config.ResourceName, message))
	}
	return errs
}
