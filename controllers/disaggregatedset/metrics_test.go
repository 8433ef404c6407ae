package disaggregatedset

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
)

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(replicasGauge, readyGauge, waitsCounter)
	set := dstest.New("llm").Namespace("ns").UID("u").Roles(budgeted("a", 2), budgeted("b", 1)).Obj()
	scene := newScene(t, set).old(0, "a", 2, 1).old(0, "b", 1, 1).current(0, "a", 1, 0).current(0, "b", 1, 1)
	seen, plan := scene.plan(0)
	for range 2 {
		measure(seen, []*slicePlan{plan})
	}
	want := `
# HELP disaggregatedset_plan_waits_total Plans of a slice that found nothing to move, by the reason why.
# TYPE disaggregatedset_plan_waits_total counter
disaggregatedset_plan_waits_total{name="llm",namespace="ns",reason="NotReady"} 2
# HELP disaggregatedset_ready_fraction Ready replicas of a role in a slice, of all revisions, divided by its target.
# TYPE disaggregatedset_ready_fraction gauge
disaggregatedset_ready_fraction{name="llm",namespace="ns",role="a",slice="0"} 0.5
disaggregatedset_ready_fraction{name="llm",namespace="ns",role="b",slice="0"} 2
# HELP disaggregatedset_replicas Replicas of a role in a slice, of the current and of old revisions.
# TYPE disaggregatedset_replicas gauge
disaggregatedset_replicas{name="llm",namespace="ns",revision_age="current",role="a",slice="0"} 1
disaggregatedset_replicas{name="llm",namespace="ns",revision_age="current",role="b",slice="0"} 1
disaggregatedset_replicas{name="llm",namespace="ns",revision_age="old",role="a",slice="0"} 2
disaggregatedset_replicas{name="llm",namespace="ns",revision_age="old",role="b",slice="0"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	forgetMetrics(types.NamespacedName{Namespace: "ns", Name: "llm"})
	if n, err := testutil.GatherAndCount(registry); err != nil || n != 0 {
		t.Errorf("%d series of a set that is gone, error %v", n, err)
	}
}
