package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

var (
	llm   = types.NamespacedName{Namespace: "ns", Name: "llm"}
	other = types.NamespacedName{Namespace: "ns", Name: "other"}
	start = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
)

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// measuring returns metrics that know both sets, and the registry that shows them.
func measuring(t *testing.T) (*Metrics, *prometheus.Registry) {
	t.Helper()
	m, registry := New(), prometheus.NewRegistry()
	if err := m.Register(registry); err != nil {
		t.Fatal(err)
	}
	m.Appear(llm, "1")
	m.Appear(other, "2")
	return m, registry
}

// expect compares the metrics of some names with what a scrape is to show, given
// without its comments.
func expect(t *testing.T, registry *prometheus.Registry, want string, names ...string) {
	t.Helper()
	help := map[string]string{}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		help[family.GetName()] = "# HELP " + family.GetName() + " " + family.GetHelp() + "\n# TYPE " +
			family.GetName() + " " + strings.ToLower(family.GetType().String()) + "\n"
	}
	text := want
	for _, name := range names {
		if strings.Contains(want, name) {
			text = strings.Replace(text, name, help[name]+name, 1)
		}
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(text), names...); err != nil {
		t.Error(err)
	}
}

// histogram returns how many values a histogram of the set llm has, and their sum.
func histogram(t *testing.T, registry *prometheus.Registry, name string) (count uint64, sum float64) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			count += metric.GetHistogram().GetSampleCount()
			sum += metric.GetHistogram().GetSampleSum()
		}
	}
	return count, sum
}

func TestGroupsAreCountedByState(t *testing.T) {
	m, registry := measuring(t)
	m.Observe(llm, Sample{Now: at(0), Groups: []Group{{State: Ready}, {State: Ready}, {State: Gated}}})
	m.Observe(llm, Sample{Now: at(1), Groups: []Group{{State: Ready}, {State: Exhausted}}})
	expect(t, registry, `
lws_groups{name="llm",namespace="ns",state="exhausted"} 1
lws_groups{name="llm",namespace="ns",state="gated"} 0
lws_groups{name="llm",namespace="ns",state="ready"} 1
lws_groups{name="llm",namespace="ns",state="starting"} 0
lws_groups{name="llm",namespace="ns",state="terminating"} 0
lws_groups{name="llm",namespace="ns",state="unschedulable"} 0
`, "lws_groups")
}

func TestTimeToReady(t *testing.T) {
	type step struct {
		second int
		groups []Group
	}
	tests := map[string]struct {
		steps []step
		count uint64
		sum   float64
	}{
		"from the creation of the leader": {
			steps: []step{
				{2, []Group{{"a", at(0), Gated}}},
				{3, []Group{{"a", at(0), Starting}}},
				{40, []Group{{"a", at(0), Ready}}},
				{50, []Group{{"a", at(0), Ready}}},
			},
			count: 1, sum: 40,
		},
		"once for each leader, whatever happens to its group": {
			steps: []step{
				{1, []Group{{"a", at(0), Starting}}},
				{10, []Group{{"a", at(0), Ready}}},
				{20, []Group{{"a", at(0), Starting}}},
				{30, []Group{{"a", at(0), Ready}}},
			},
			count: 1, sum: 10,
		},
		"a group that is recreated starts anew": {
			steps: []step{
				{1, []Group{{"a", at(0), Starting}}},
				{10, []Group{{"a", at(0), Ready}}},
				{20, nil},
				{21, []Group{{"b", at(21), Starting}}},
				{26, []Group{{"b", at(21), Ready}}},
			},
			count: 2, sum: 15,
		},
		"what was ready before the manager started is not known": {
			steps: []step{
				{100, []Group{{"a", at(0), Ready}}},
				{110, []Group{{"a", at(0), Starting}}},
				{120, []Group{{"a", at(0), Ready}}},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m, registry := measuring(t)
			for _, s := range test.steps {
				m.Observe(llm, Sample{Now: at(s.second), Groups: s.groups})
			}
			if count, sum := histogram(t, registry, "lws_group_time_to_ready_seconds"); count != test.count || sum != test.sum {
				t.Errorf("%d values with the sum %v, want %d with %v", count, sum, test.count, test.sum)
			}
		})
	}
}

func TestRollout(t *testing.T) {
	m, registry := measuring(t)
	rolling := func(second int, ready int32, step string) {
		m.Observe(llm, Sample{Now: at(second), Desired: 4, Ready: ready, RollingSince: at(0), Step: step})
	}
	m.Observe(llm, Sample{Now: at(0), Desired: 4, Ready: 1, Step: "the set is made"})
	rolling(1, 4, "delete 3")
	rolling(2, 4, "delete 3")
	rolling(3, 3, "")
	rolling(9, 4, "delete 2")
	m.Observe(llm, Sample{Now: at(20), Desired: 4, Ready: 4})
	m.Observe(llm, Sample{Now: at(30), Desired: 4, Ready: 2, Step: "scaled"})

	expect(t, registry, `
lws_rollout_min_ready_fraction{name="llm",namespace="ns"} 0.75
lws_rollout_steps_total{name="llm",namespace="ns"} 2
`, "lws_rollout_min_ready_fraction", "lws_rollout_steps_total")
	if count, sum := histogram(t, registry, "lws_rollout_duration_seconds"); count != 1 || sum != 20 {
		t.Errorf("%d rollouts that took %v s, want one of 20 s", count, sum)
	}

	m.Observe(llm, Sample{Now: at(40), Desired: 4, Ready: 4, RollingSince: at(40)})
	expect(t, registry, `
lws_rollout_min_ready_fraction{name="llm",namespace="ns"} 1
`, "lws_rollout_min_ready_fraction")
}

func TestSpans(t *testing.T) {
	m, _ := measuring(t)
	var told []Span
	m.Trace(func(span Span) { told = append(told, span) })
	m.Observe(llm, Sample{Now: at(1), Groups: []Group{{"a", at(0), Starting}}})
	m.Observe(llm, Sample{Now: at(5), Groups: []Group{{"a", at(0), Ready}}})
	m.Observe(llm, Sample{Now: at(10), Desired: 1, RollingSince: at(9), Step: "one", Groups: []Group{{"a", at(0), Ready}}})
	m.Observe(llm, Sample{Now: at(12), Desired: 1, RollingSince: at(9), Step: "two"})
	m.Observe(llm, Sample{Now: at(20)})
	m.Observe(llm, Sample{Now: at(30)})
	want := []Span{
		{Name: GroupStart, Set: llm, Began: at(0), Ended: at(5), Leader: "a"},
		{Name: Rollout, Set: llm, Began: at(9), Ended: at(20), Steps: []Step{{at(10), "one"}, {at(12), "two"}}},
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWhatHappensToGroups(t *testing.T) {
	m, registry := measuring(t)
	m.Recreated(llm, "PodFailed")
	m.Recreated(llm, "PodFailed")
	m.Recreated(llm, "PodDeleted")
	m.Deferred(llm)
	m.Admitted(llm, 20*time.Millisecond)
	expect(t, registry, `
lws_group_backoff_deferrals_total{name="llm",namespace="ns"} 1
lws_group_recreations_total{name="llm",namespace="ns",reason="PodDeleted"} 1
lws_group_recreations_total{name="llm",namespace="ns",reason="PodFailed"} 2
`, "lws_group_backoff_deferrals_total", "lws_group_recreations_total")
	if count, sum := histogram(t, registry, "lws_pod_admission_duration_seconds"); count != 1 || sum != 0.02 {
		t.Errorf("%d admissions of %v s, want one of 0.02 s", count, sum)
	}
}

// everything makes all series of a set.
func everything(m *Metrics, set types.NamespacedName) {
	m.Observe(set, Sample{Now: at(0), Desired: 1, RollingSince: at(0), Step: "s", Groups: []Group{{"a", at(0), Starting}}})
	m.Observe(set, Sample{Now: at(9), Desired: 1, Ready: 1, Groups: []Group{{"a", at(0), Ready}}})
	m.Recreated(set, "PodFailed")
	m.Deferred(set)
	m.Admitted(set, time.Second)
}

func seriesIn(t *testing.T, registry *prometheus.Registry) int {
	t.Helper()
	n, err := testutil.GatherAndCount(registry)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSeriesGoWithTheirSet(t *testing.T) {
	m, registry := measuring(t)
	everything(m, other)
	ofOne := seriesIn(t, registry)
	if want := len(States()) + len(m.series.collectors()) - 1; ofOne != want {
		t.Fatalf("a set has %d series, want %d", ofOne, want)
	}
	everything(m, llm)
	if n := seriesIn(t, registry); n != 2*ofOne {
		t.Fatalf("two sets have %d series, want %d", n, 2*ofOne)
	}
	m.Forget(llm)
	if n := seriesIn(t, registry); n != ofOne {
		t.Errorf("%d series when one set of two is gone, want %d", n, ofOne)
	}
	everything(m, llm)
	if n := seriesIn(t, registry); n != ofOne {
		t.Errorf("%d series after what still ran for a set that is gone, want %d", n, ofOne)
	}
	m.Appear(other, "another UID")
	if n := seriesIn(t, registry); n != 0 {
		t.Errorf("%d series of a predecessor of the same name", n)
	}
}

func TestFollow(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := lwsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	cache := &informertest.FakeInformers{Scheme: scheme}
	m, registry := New(), prometheus.NewRegistry()
	if err := m.Register(registry); err != nil {
		t.Fatal(err)
	}
	if err := m.Follow(t.Context(), cache); err != nil {
		t.Fatal(err)
	}
	informer, err := cache.FakeInformerFor(t.Context(), &lwsv1.LeaderWorkerSet{})
	if err != nil {
		t.Fatal(err)
	}
	set := lwstest.New("llm").Namespace("ns").UID("1").Obj()
	successor := lwstest.New("llm").Namespace("ns").UID("2").Obj()

	m.Deferred(llm)
	if n := seriesIn(t, registry); n != 0 {
		t.Errorf("%d series before there is a set", n)
	}
	informer.Add(set)
	m.Deferred(llm)
	informer.Update(set, set)
	if n := seriesIn(t, registry); n != 1 {
		t.Errorf("%d series of a set, want 1", n)
	}
	informer.Update(set, successor)
	if n := seriesIn(t, registry); n != 0 {
		t.Errorf("%d series of a predecessor", n)
	}
	m.Deferred(llm)
	informer.Delete(successor)
	if n := seriesIn(t, registry); n != 0 {
		t.Errorf("%d series of a set that is gone", n)
	}
	informer.Add(set)
	m.Deferred(llm)
	m.disappear(toolscache.DeletedFinalStateUnknown{Key: "ns/llm", Obj: set})
	if n := seriesIn(t, registry); n != 0 {
		t.Errorf("%d series of a set that went unseen", n)
	}
}
