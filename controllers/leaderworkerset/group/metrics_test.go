package group

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/metrics"
)

// A recreation is counted when its leader is deleted, however often that is tried, a
// deferral once for each leader and count.
func TestRecreationsAndDeferralsAreCounted(t *testing.T) {
	m := newModel(t)
	m.onWrite = func(string, client.Object) error { return nil }
	if err := m.create(leaderObject()); err != nil {
		t.Fatal(err)
	}
	measured, registry := metrics.New(), prometheus.NewRegistry()
	if err := measured.Register(registry); err != nil {
		t.Fatal(err)
	}
	measured.Appear(testGroup.SetKey(), "set")
	r := New(modelClient{model: m}, modelClient{model: m, past: true}, events.NewFakeRecorder(10),
		Options{Reports: NewReports(), Metrics: measured})
	o := observed()
	o.set = &lwsv1.LeaderWorkerSet{}
	w := &writer{Reconciler: r, o: o, note: r.notes.of(testGroup, "leader")}

	stopped := deleteLeader{Leader: o.Leader.pod}
	failed := deleteLeader{Leader: o.Leader.pod, Failure: &failure{Kind: containerRestarted}}
	for range 2 {
		if err := failed.run(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	if err := stopped.run(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	for _, remaining := range []time.Duration{10 * time.Second, 5 * time.Second} {
		v := restartVerdict{Action: restartDefer, After: remaining, Message: "pod x failed"}
		r.tell(o, w.note, []event{restartBackoff("0", "leader", v, 1)})
	}
	want := `
# HELP lws_group_backoff_deferrals_total Recreations that had to wait for their backoff.
# TYPE lws_group_backoff_deferrals_total counter
lws_group_backoff_deferrals_total{name="NAME",namespace="ns"} 1
# HELP lws_group_recreations_total Groups that were recreated, by what failed.
# TYPE lws_group_recreations_total counter
lws_group_recreations_total{name="NAME",namespace="ns",reason="ContainerRestarted"} 1
`
	want = strings.ReplaceAll(want, "NAME", testGroup.Set)
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
