package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

// TestUnheeded: a kind that is misspelt is no error of the decoder, but is told.
func TestUnheeded(t *testing.T) {
	c := configv1.Default(configv1.DisaggregatedSetManagerNames())
	if fields := unheeded(c); len(fields) > 0 {
		t.Errorf("of the defaults %v change nothing", fields)
	}
	c.GangSchedulingManagement = &configv1.GangSchedulingManagement{SchedulerProvider: new("kubernetes")}
	c.FeatureGates[configv1.WorkloadAwareSchedulingGate] = true
	c.Controller = &configv1.Controller{GroupKindConcurrency: map[string]int{
		"DisaggregatedSet.disaggregatedset.x-k8s.io": 1, "Pod": 2, "Pods": 3, "LeaderWorkerset.leaderworkerset.x-k8s.io": 4,
	}}
	want := []string{
		"controller.groupKindConcurrency[LeaderWorkerset.leaderworkerset.x-k8s.io]", "controller.groupKindConcurrency[Pod]",
		"controller.groupKindConcurrency[Pods]", "featureGates[WorkloadAwareScheduling]", "gangSchedulingManagement",
	}
	if diff := cmp.Diff(want, unheeded(c)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
