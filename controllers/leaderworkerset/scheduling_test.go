package leaderworkerset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
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
		"nobody knows yet":                           {state: schedulingState{Unavailable: &scheduling.Problem{Unread: true}}, want: true},
		"there can be none":                          {state: schedulingState{Unavailable: &scheduling.Problem{Message: "the gate is off"}}},
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

// A manager that starts says nothing of scheduling objects before it knows of them.
func TestSchedulingConditionBeforeAnythingIsKnown(t *testing.T) {
	const kind = lwsv1.ConditionWorkloadSchedulingCreated
	told := conditionTrue(kind, lwsv1.ReasonSchedulingObjectsCreated, "All scheduling objects exist")
	unread := &scheduling.Problem{Reason: lwsv1.ReasonAPINotAvailable, Message: "not known", Unread: true}
	off := &scheduling.Problem{Reason: lwsv1.ReasonAPINotAvailable, Message: "the gate is off"}
	tests := map[string]struct {
		stored  []metav1.Condition
		problem *scheduling.Problem
		want    metav1.Condition
	}{
		"told before":               {[]metav1.Condition{told}, unread, told},
		"told nothing before":       {nil, unread, conditionFalse(kind, unread.Reason, unread.Message)},
		"known not to be there":     {[]metav1.Condition{told}, off, conditionFalse(kind, off.Reason, off.Message)},
		"known, told for the first": {nil, nil, told},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set := testSet().Scheduling(lwsv1.LeaderWorkerSetScheduling{}).Status(lwsv1.LeaderWorkerSetStatus{Conditions: tc.stored}).Obj()
			seen := &observation{Set: set, Scheduling: schedulingState{Used: true, Unavailable: tc.problem}}
			got := schedulingCondition(seen, &outcome{Scheduling: tc.problem})
			if diff := cmp.Diff(&tc.want, got); diff != "" {
				t.Errorf("condition (-want +got):\n%s", diff)
			}
		})
	}
}
