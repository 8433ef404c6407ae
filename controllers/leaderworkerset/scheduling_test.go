package leaderworkerset

import (
	"testing"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

func TestLeadersAwaitWhatTheirPodsReferTo(t *testing.T) {
	workload := scheduling.Ref{Kind: schedulingv1beta1.SchemeGroupVersion.WithKind("Workload"), Name: "x"}
	podGroup := scheduling.Ref{Kind: schedulingv1beta1.SchemeGroupVersion.WithKind("PodGroup"), Name: "x"}
	parent := scheduling.Ref{Kind: workload.Kind, Controller: "owner"}
	required := []scheduling.Ref{workload, podGroup}
	there := &schedulingv1beta1.Workload{}
	tests := map[string]struct {
		state schedulingState
		claim claim
		want  bool
	}{
		"nothing is required": {},
		"all are there":       {state: schedulingState{Required: required, Live: map[scheduling.Ref]client.Object{workload: there, podGroup: there}}},
		"the PodGroup is not": {state: schedulingState{Required: required, Live: map[scheduling.Ref]client.Object{workload: there}}, want: true},
		"none is":             {state: schedulingState{Required: required}, want: true},
		"none is, but leaders are": {
			state: schedulingState{Required: required}, claim: claimOurs,
		},
		"a parent's is not, whose name nobody knows": {state: schedulingState{Required: []scheduling.Ref{parent}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			seen := &observation{Set: testSet().Obj(), Claim: tc.claim, Scheduling: tc.state}
			if tc.claim == claimOurs {
				seen.StatefulSet = leaderStatefulSet(1)
			}
			seen.Realised = seen.Set
			p, err := makePlan(seen)
			if err != nil {
				t.Fatal(err)
			}
			if p.Awaited != tc.want {
				t.Errorf("awaited: %t, want %t", p.Awaited, tc.want)
			}
		})
	}
}
