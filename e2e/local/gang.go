package main

import (
	"strconv"
	"strings"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	"sigs.k8s.io/lws/e2e/cluster/controlplane"
	"sigs.k8s.io/lws/e2e/managers"
)

// gangMinor is the first Kubernetes 1.x with workload-aware scheduling.
const gangMinor = 37

// hasGangs says whether a version of Kubernetes can schedule gangs. None is the newest.
func hasGangs(version string) bool {
	_, minor, given := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if !given {
		return true
	}
	minor, _, _ = strings.Cut(minor, ".")
	number, err := strconv.Atoi(minor)
	return err == nil && number >= gangMinor
}

// withGangs switches gang scheduling on in the cluster, if it has that. Sets without
// spec.scheduling notice nothing of it.
func withGangs(options controlplane.Options) controlplane.Options {
	if hasGangs(options.Kubernetes) {
		return options.WithWorkloadAwareScheduling()
	}
	return options
}

// managerOptions are those of a manager beside a cluster.
func managerOptions(shipped managers.Shipped, kubernetes string) managers.Options {
	if shipped.Name != managers.LWS().Name || !hasGangs(kubernetes) {
		return managers.Options{}
	}
	provider := configv1.KubernetesSchedulerProvider
	return managers.Options{Configure: func(c *configv1.Configuration) {
		c.GangSchedulingManagement = &configv1.GangSchedulingManagement{SchedulerProvider: &provider}
		c.FeatureGates = map[string]bool{configv1.WorkloadAwareSchedulingGate: true}
	}}
}
