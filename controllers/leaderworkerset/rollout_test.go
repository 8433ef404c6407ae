package leaderworkerset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

func TestRolloutInput(t *testing.T) {
	groups := []groupState{
		{Index: 0, Revision: "old", PodRevision: "x-old", Ready: true},
		{Index: 1, Revision: "new", PodRevision: "x-new", Gated: true},
		{Index: 2, Revision: "new", PodRevision: "x-new", Terminating: true, Unschedulable: true},
		{Index: 3, Revision: "old", PodRevision: "x-old", Terminating: true, Exhausted: true},
		{Index: 4, Revision: "older", PodRevision: "x-older", Exhausted: true},
	}
	leaders := leaderStatefulSet(5)
	leaders.Annotations = map[string]string{lwsv1.ReplicasAnnotationKey: "4", lwsv1.RolloutBaselineAnnotationKey: "4"}
	leaders.Spec.Template.Labels = map[string]string{lwsv1.RevisionLabelKey: "new"}
	leaders.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
	leaders.Status.CurrentRevision, leaders.Status.UpdateRevision = "x-old", "x-new"

	set := testSet().Replicas(4).Partition(1).MaxUnavailable("50%").MaxSurge("30%").Obj()
	got := rolloutInput(&observation{Set: set, StatefulSet: leaders, Claim: claimOurs, Groups: groups}, "new")
	want := rollout.Input{
		Replicas: 4, Partition: 1, MaxUnavailable: 2, MaxSurge: 2,
		StatefulSet: rollout.StatefulSet{
			Spec:     rollout.Spec{Replicas: 5, Surge: 1, OnDelete: true, Rolling: true, Baseline: 4},
			Observed: true,
		},
		Groups: []rollout.Group{
			{Index: 0, Leader: rollout.Live, Ready: true, Current: true},
			{Index: 1, Leader: rollout.Gated, Updated: true},
			{Index: 2, Leader: rollout.Terminating, Updated: true, Unschedulable: true},
			{Index: 3, Leader: rollout.Retained, Current: true},
			{Index: 4, Leader: rollout.Live},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("input (-want +got):\n%s", diff)
	}

	want = rollout.Input{Replicas: 4, Partition: 1, MaxUnavailable: 2, MaxSurge: 2, CurrentIsUpdate: true}
	if diff := cmp.Diff(want, rolloutInput(&observation{Set: set, StatefulSet: leaders, Claim: claimLeaving}, "new")); diff != "" {
		t.Errorf("input while the StatefulSet goes (-want +got):\n%s", diff)
	}
}

func TestCurrentIsUpdate(t *testing.T) {
	tests := map[string]struct {
		current, update string // of the StatefulSet's status
		template        string // key of the StatefulSet's template
		unobserved      bool
		groups          []groupState
		want            bool
	}{
		"no status yet":                        {template: "new", want: true},
		"no rollout":                           {current: "x-a", update: "x-a", template: "new", want: true},
		"a rollout":                            {current: "x-a", update: "x-b", template: "new"},
		"the template is to be written":        {current: "x-a", update: "x-a", template: "old", groups: []groupState{{Revision: "old", PodRevision: "x-a"}}},
		"undone, the template to be written":   {current: "x-a", update: "x-b", template: "old", groups: []groupState{{Revision: "new", PodRevision: "x-a"}}, want: true},
		"not observed, no pod tells":           {current: "x-a", update: "x-a", template: "new", unobserved: true},
		"not observed, a pod tells":            {current: "x-a", update: "x-a", template: "new", unobserved: true, groups: []groupState{{Revision: "new", PodRevision: "x-a"}}, want: true},
		"not observed, a pod of another tells": {current: "x-a", update: "x-b", template: "new", unobserved: true, groups: []groupState{{Revision: "new", PodRevision: "x-b"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			leaders := leaderStatefulSet(1)
			leaders.Status.CurrentRevision, leaders.Status.UpdateRevision = tc.current, tc.update
			leaders.Spec.Template.Labels = map[string]string{lwsv1.RevisionLabelKey: tc.template}
			if tc.unobserved {
				leaders.Generation++
			}
			if got := currentIsUpdate(leaders, tc.groups, "new"); got != tc.want {
				t.Errorf("%t, want %t", got, tc.want)
			}
		})
	}
}
