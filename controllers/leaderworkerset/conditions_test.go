package leaderworkerset

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

var testTime = metav1.NewTime(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))

// verdicts are conditions as type → "status reason: message".
func verdicts(conditions []metav1.Condition) map[string]string {
	told := map[string]string{}
	for _, c := range conditions {
		told[c.Type] = fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
	}
	return told
}

func TestConditions(t *testing.T) {
	const (
		noUpdate   = "False NoUpdate: No group that is to be updated is of an older revision"
		asExpected = "False AsExpected: No group has spent its restart budget"
		recover1   = "stopped: the restart budget is spent; the annotation leaderworkerset.sigs.k8s.io/recover=true on the leader (x-1) starts a group again"
	)
	tests := map[string]struct {
		tally    tally
		obstacle *obstacle
		want     map[string]string
		summary  string
	}{
		"no group exists yet": {
			tally: tally{Desired: 2},
			want: map[string]string{
				"Available":        "False GroupsNotReady: 0 of 2 groups are ready and of the revision they are to have",
				"Progressing":      "True GroupsProgressing: 0 of 2 groups are ready and of the revision they are to have",
				"UpdateInProgress": noUpdate,
				"Degraded":         asExpected,
			},
			summary: "GroupsProgressing",
		},
		"all there": {
			tally: tally{Desired: 2, Existing: 2, Ready: 2, Updated: 2, Settled: 2},
			want: map[string]string{
				"Available":        "True AllGroupsReady: All groups are ready",
				"Progressing":      "False AllGroupsReady: All groups are ready",
				"UpdateInProgress": noUpdate,
				"Degraded":         asExpected,
			},
			summary: "AllGroupsReady",
		},
		"replicas zero": {
			tally: tally{},
			want: map[string]string{
				"Available":        "True AllGroupsReady: No groups are wanted",
				"Progressing":      "False AllGroupsReady: No groups are wanted",
				"UpdateInProgress": noUpdate,
				"Degraded":         asExpected,
			},
			summary: "AllGroupsReady",
		},
		"a rollout": {
			tally: tally{Desired: 3, Existing: 3, Ready: 3, Updated: 1, Settled: 1, Outdated: 2},
			want: map[string]string{
				"Available":        "False GroupsNotReady: 1 of 3 groups are ready and of the revision they are to have",
				"Progressing":      "True GroupsUpdating: 2 of 3 groups are still of an older revision",
				"UpdateInProgress": "True GroupsUpdating: 2 of 3 groups are still of an older revision",
				"Degraded":         asExpected,
			},
			summary: "GroupsUpdating",
		},
		"an obstacle gives reason and message": {
			tally:    tally{Desired: 1, Existing: 1, Unschedulable: 1},
			obstacle: &obstacle{lwsv1.ReasonGroupUnschedulable, "1 replica cannot be scheduled; pod x-0: no room"},
			want: map[string]string{
				"Available":        "False GroupsNotReady: 0 of 1 group is ready and of the revision they are to have",
				"Progressing":      "True GroupUnschedulable: 1 replica cannot be scheduled; pod x-0: no room",
				"UpdateInProgress": noUpdate,
				"Degraded":         asExpected,
			},
			summary: "GroupUnschedulable",
		},
		"a refused update keeps the reason": {
			tally:    tally{Desired: 1, Existing: 1, Ready: 1, Outdated: 1},
			obstacle: &obstacle{"", "updating StatefulSet x was refused: no"},
			want: map[string]string{
				"Available":        "False GroupsNotReady: 0 of 1 group is ready and of the revision they are to have",
				"Progressing":      "True GroupsUpdating: updating StatefulSet x was refused: no",
				"UpdateInProgress": "True GroupsUpdating: 1 of 1 group is still of an older revision",
				"Degraded":         asExpected,
			},
			summary: "GroupsUpdating",
		},
		"an obstacle to nothing that is wanted is not progress": {
			tally:    tally{Desired: 1, Existing: 2, Ready: 1, Updated: 2, Settled: 1, Unschedulable: 1},
			obstacle: &obstacle{lwsv1.ReasonGroupUnschedulable, "surge"},
			want: map[string]string{
				"Available":        "True AllGroupsReady: All groups are ready",
				"Progressing":      "False AllGroupsReady: All groups are ready",
				"UpdateInProgress": noUpdate,
				"Degraded":         asExpected,
			},
			summary: "AllGroupsReady",
		},
		"exhausted and nothing else moves": {
			tally: tally{Desired: 2, Existing: 2, Ready: 1, Updated: 2, Settled: 1, Exhausted: 1, DesiredExhausted: 1, ExhaustedLeader: "x-1"},
			want: map[string]string{
				"Available":        "False ReplicaRestartBudgetExceeded: 1 of 2 groups are " + recover1,
				"Progressing":      "False ReplicaRestartBudgetExceeded: 1 of 2 groups are " + recover1,
				"UpdateInProgress": "False ReplicaRestartBudgetExceeded: 1 of 2 groups are " + recover1,
				"Degraded":         "True ReplicaRestartBudgetExceeded: 1 of 2 groups are " + recover1,
			},
			summary: "ReplicaRestartBudgetExceeded",
		},
		"exhausted and another group starts": {
			tally: tally{Desired: 3, Existing: 3, Ready: 1, Updated: 3, Settled: 1, Exhausted: 1, DesiredExhausted: 1, ExhaustedLeader: "x-1"},
			want: map[string]string{
				"Available":        "False GroupsNotReady: 1 of 3 groups are ready and of the revision they are to have",
				"Progressing":      "True GroupsProgressing: 1 of 3 groups are ready and of the revision they are to have",
				"UpdateInProgress": noUpdate,
				"Degraded":         "True ReplicaRestartBudgetExceeded: 1 of 3 groups are " + recover1,
			},
			summary: "ReplicaRestartBudgetExceeded",
		},
		"exhausted and to be replaced by a rollout": {
			tally: tally{Desired: 1, Existing: 1, Outdated: 1, Exhausted: 1, DesiredExhausted: 1, ExhaustedLeader: "x-1"},
			want: map[string]string{
				"Available":        "False GroupsNotReady: 0 of 1 group is ready and of the revision they are to have",
				"Progressing":      "True GroupsUpdating: 1 of 1 group is still of an older revision",
				"UpdateInProgress": "True GroupsUpdating: 1 of 1 group is still of an older revision",
				"Degraded":         "True ReplicaRestartBudgetExceeded: 1 of 1 group is " + recover1,
			},
			summary: "ReplicaRestartBudgetExceeded",
		},
		"an exhausted group that is no longer wanted": {
			tally: tally{Existing: 1, Exhausted: 1, ExhaustedLeader: "x-1"},
			want: map[string]string{
				"Available":        "True AllGroupsReady: No groups are wanted",
				"Progressing":      "False AllGroupsReady: No groups are wanted",
				"UpdateInProgress": noUpdate,
				"Degraded":         "True ReplicaRestartBudgetExceeded: 1 of 1 group is " + recover1,
			},
			summary: "ReplicaRestartBudgetExceeded",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var conditions []metav1.Condition
			setConditions(&conditions, tc.tally, tc.obstacle, 7, testTime)
			if diff := cmp.Diff(tc.want, verdicts(conditions)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			for _, c := range conditions {
				if c.ObservedGeneration != 7 || c.LastTransitionTime != testTime {
					t.Errorf("%s: observedGeneration %d, lastTransitionTime %v", c.Type, c.ObservedGeneration, c.LastTransitionTime)
				}
			}
			if got := summaryOf(conditions); got != tc.summary {
				t.Errorf("summary %q, want %q", got, tc.summary)
			}
		})
	}
}

// Every combination of small numbers, whether it can occur or not.
func TestConditionsAgree(t *testing.T) {
	obstacles := []*obstacle{nil, {"", "refused"}, {lwsv1.ReasonNameConflict, "taken"}}
	for desired := range int32(4) {
		for settled := range desired + 1 {
			for outdated := range desired - settled + 1 {
				for exhausted := range desired - settled + 1 {
					for _, o := range obstacles {
						checkAgreement(t, tally{
							Desired: desired, Settled: settled, Outdated: outdated,
							Exhausted: exhausted, DesiredExhausted: exhausted,
						}, o)
					}
				}
			}
		}
	}
}

func checkAgreement(t *testing.T, in tally, o *obstacle) {
	t.Helper()
	var conditions []metav1.Condition
	setConditions(&conditions, in, o, 1, testTime)
	if len(conditions) != 4 {
		t.Fatalf("%+v: %d conditions", in, len(conditions))
	}
	available := meta.FindStatusCondition(conditions, lwsv1.ConditionAvailable)
	progressing := meta.FindStatusCondition(conditions, lwsv1.ConditionProgressing)
	updating := meta.FindStatusCondition(conditions, lwsv1.ConditionUpdateInProgress)
	switch {
	case available.Status == metav1.ConditionTrue && progressing.Status == metav1.ConditionTrue:
		t.Errorf("%+v: both Available and Progressing", in)
	case (available.Status == metav1.ConditionTrue) != (available.Reason == lwsv1.ReasonAllGroupsReady):
		t.Errorf("%+v: Available=%s with reason %s", in, available.Status, available.Reason)
	case (progressing.Status == metav1.ConditionTrue) == isFinal(progressing.Reason):
		t.Errorf("%+v: Progressing=%s with reason %s", in, progressing.Status, progressing.Reason)
	case updating.Status == metav1.ConditionTrue && progressing.Status == metav1.ConditionFalse:
		t.Errorf("%+v: updating and not progressing", in)
	case updating.Status == metav1.ConditionFalse && updating.Reason == lwsv1.ReasonGroupsUpdating:
		t.Errorf("%+v: UpdateInProgress=False with reason %s", in, updating.Reason)
	}
}

func TestLongMessages(t *testing.T) {
	conditions := conditionsFor(tally{Desired: 1}, &obstacle{lwsv1.ReasonFailedCreate, strings.Repeat("x", messageLimit+1)})
	c := meta.FindStatusCondition(conditions, lwsv1.ConditionProgressing)
	if len(c.Message) != messageLimit || !strings.HasSuffix(c.Message, "x...") {
		t.Errorf("a message of %d bytes", len(c.Message))
	}
}

func isFinal(reason string) bool {
	return reason == lwsv1.ReasonAllGroupsReady || reason == lwsv1.ReasonReplicaRestartBudgetExceeded
}

func TestTransitionTimes(t *testing.T) {
	var conditions []metav1.Condition
	foreign := metav1.Condition{Type: "Example", Status: metav1.ConditionTrue, Reason: "Kept", LastTransitionTime: testTime}
	conditions = append(conditions, foreign)
	setConditions(&conditions, tally{Desired: 2}, nil, 1, testTime)

	later := metav1.NewTime(testTime.Add(time.Minute))
	setConditions(&conditions, tally{Desired: 2, Settled: 1}, &obstacle{lwsv1.ReasonNameConflict, "taken"}, 2, later)
	for _, c := range conditions {
		if c.LastTransitionTime != testTime {
			t.Errorf("%s: reason and message moved lastTransitionTime to %v", c.Type, c.LastTransitionTime)
		}
	}

	setConditions(&conditions, tally{Desired: 2, Settled: 2}, nil, 2, later)
	for conditionType, want := range map[string]metav1.Time{
		lwsv1.ConditionAvailable:        later,
		lwsv1.ConditionProgressing:      later,
		lwsv1.ConditionUpdateInProgress: testTime,
		lwsv1.ConditionDegraded:         testTime,
		"Example":                       testTime,
	} {
		if got := meta.FindStatusCondition(conditions, conditionType).LastTransitionTime; got != want {
			t.Errorf("%s: lastTransitionTime %v, want %v", conditionType, got, want)
		}
	}
}
