package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

var available = []metav1.Condition{{Type: lwsv1.ConditionAvailable, Status: metav1.ConditionTrue}}

// settled is a world in which nothing is wrong: a set of a user, and a DisaggregatedSet
// of one slice, whose decode role is scaled from outside.
func settled() (*traffic, *world) {
	t := &traffic{plain: newPopulation(1), split: newPopulation(1)}
	t.plain.exists["s1"], t.split.exists["d1"] = true, true
	split := dstest.New("d1").Role(dstest.NewRole(dstest.Decode).External()).Obj()
	split.Status = dsv1.DisaggregatedSetStatus{CurrentRevision: "abc", Conditions: available}
	w := &world{splits: []dsv1.DisaggregatedSet{*split}, scalers: map[string]int32{"d1-decode": 1}}
	w.add(lwstest.New("s1").Obj())
	for _, role := range []string{dstest.Prefill, dstest.Decode} {
		name := "d1-0-abc-" + role
		w.add(lwstest.New(name).Label(dsv1.SetNameLabelKey, "d1").Obj())
		w.labelled = append(w.labelled,
			labelled{object: kindService + name + "-prv", split: "d1"}, labelled{object: "Pod " + name + "-0", set: name, split: "d1"})
	}
	w.labelled = append(w.labelled, labelled{object: kindScaler + "d1-decode", split: "d1"})
	return t, w
}

func (w *world) add(set *lwsv1.LeaderWorkerSet) {
	set.Status.Conditions = available
	w.sets = append(w.sets, *set)
	w.labelled = append(w.labelled, labelled{object: kindSet + set.Name, split: set.Labels[dsv1.SetNameLabelKey]})
}

// lose takes an object away.
func (w *world) lose(object string) {
	w.labelled = slices.DeleteFunc(w.labelled, func(l labelled) bool { return l.object == object })
}

func TestVerdict(t *testing.T) {
	tests := map[string]struct {
		change func(t *traffic, w *world)
		want   []string
	}{
		"settled": {func(*traffic, *world) {}, nil},
		"a role is scaled to zero and has no Service": {func(_ *traffic, w *world) {
			w.scalers["d1-decode"] = 0
			w.lose("Service d1-0-abc-decode-prv")
		}, nil},
		"a set is not Available": {func(_ *traffic, w *world) {
			w.sets[0].Status.Conditions = []metav1.Condition{{Type: lwsv1.ConditionAvailable, Status: metav1.ConditionFalse, Message: "no"}}
		}, []string{"set s1 is not Available: no"}},
		"a set was changed since": {func(_ *traffic, w *world) { w.sets[1].Generation = 2 }, []string{"set d1-0-abc-prefill was not looked at"}},
		"a set was deleted": {
			func(t *traffic, _ *world) { delete(t.plain.exists, "s1") },
			[]string{"1 sets, 0 were to be there", "set s1 was deleted and is there"},
		},
		"a pod is left": {
			func(_ *traffic, w *world) { w.labelled = append(w.labelled, labelled{object: "Pod s2-0", set: "s2"}) },
			[]string{"Pod s2-0 is left over"},
		},
		"a DisaggregatedSet is not Available": {
			func(_ *traffic, w *world) { w.splits[0].Status.Conditions = nil },
			[]string{"DisaggregatedSet d1 was not looked at"},
		},
		"a DisaggregatedSet was deleted": {func(t *traffic, w *world) {
			delete(t.split.exists, "d1")
			w.splits = nil
		}, []string{
			"DisaggregatedSetRoleScaler d1-decode is left over", "LeaderWorkerSet d1-0-abc-decode is left over",
			"LeaderWorkerSet d1-0-abc-prefill is left over", "Pod d1-0-abc-decode-0 is left over", "Pod d1-0-abc-prefill-0 is left over",
			"Service d1-0-abc-decode-prv is left over", "Service d1-0-abc-prefill-prv is left over",
		}},
		"an old revision is left": {func(_ *traffic, w *world) {
			w.add(lwstest.New("d1-0-0ld-prefill").Label(dsv1.SetNameLabelKey, "d1").Obj())
		}, []string{"LeaderWorkerSet d1-0-0ld-prefill is none of DisaggregatedSet d1"}},
		"parts are missing": {func(_ *traffic, w *world) {
			w.lose("Service d1-0-abc-prefill-prv")
			w.lose("DisaggregatedSetRoleScaler d1-decode")
		}, []string{
			"DisaggregatedSetRoleScaler d1-decode of DisaggregatedSet d1 is missing",
			"Service d1-0-abc-prefill-prv of DisaggregatedSet d1 is missing",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			traffic, w := settled()
			test.change(traffic, w)
			if diff := cmp.Diff(test.want, traffic.judge(w)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
