package disaggregatedset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
)

// A rollout is told of once, when it is over, with what was done in between and
// nothing of before and after.
func TestARolloutIsTraced(t *testing.T) {
	began := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var told []Span
	r := New(nil, nil, nil, Options{Trace: func(span Span) { told = append(told, span) }})
	seen := &observation{Set: dstest.New("llm").Namespace("ns").UID("1").Obj(), Now: began}
	rolling := dsv1.DisaggregatedSetStatus{Slices: 1, CurrentRevision: "new"}
	over := dsv1.DisaggregatedSetStatus{Slices: 1, UpdatedSlices: 1, CurrentRevision: "new"}
	before := dsv1.DisaggregatedSetStatus{Slices: 1, UpdatedSlices: 1, CurrentRevision: "old"}

	did := func(what string) { r.traceSteps(seen, &outcome{Told: []notice{{Note: what}}}) }
	became := func(from, to dsv1.DisaggregatedSetStatus) { r.traceRollout(seen, &to, transitionEvents(&from, &to)) }
	did("before it began")
	became(before, rolling)
	seen.Now = began.Add(time.Minute)
	did("Scaling up prefill")
	became(rolling, rolling)
	seen.Now = began.Add(time.Hour)
	became(rolling, over)
	did("after it ended")
	became(rolling, over)

	want := []Span{{
		Set: types.NamespacedName{Namespace: "ns", Name: "llm"}, Revision: "new", Began: began, Ended: began.Add(time.Hour),
		Steps: []Step{{began.Add(time.Minute), "Scaling up prefill"}},
	}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
