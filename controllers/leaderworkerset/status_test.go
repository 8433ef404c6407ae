package leaderworkerset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

func TestTally(t *testing.T) {
	tests := map[string]struct {
		desired, partition int32
		groups             []groupState
		want               tally
	}{
		"none": {desired: 3, want: tally{Desired: 3}},
		"ready and updated": {
			desired: 2,
			groups:  []groupState{{Index: 0, Revision: "new", Ready: true}, {Index: 1, Revision: "new", Ready: true}},
			want:    tally{Desired: 2, Existing: 2, Ready: 2, Updated: 2, Settled: 2},
		},
		"ready groups of the older revision settle below the partition only": {
			desired: 3, partition: 1,
			groups: []groupState{
				{Index: 0, Revision: "old", Ready: true},
				{Index: 1, Revision: "old", Ready: true},
				{Index: 2, Revision: "new", Ready: true},
			},
			want: tally{Desired: 3, Existing: 3, Ready: 3, Updated: 1, Settled: 2, Outdated: 1},
		},
		"a group below the partition may be of the update revision": {
			desired: 1, partition: 1,
			groups: []groupState{{Index: 0, Revision: "new", Ready: true}},
			want:   tally{Desired: 1, Existing: 1, Ready: 1, Updated: 1, Settled: 1},
		},
		"surge groups exist but settle nothing": {
			desired: 1,
			groups: []groupState{
				{Index: 0, Revision: "old", Ready: true},
				{Index: 1, Revision: "new", Ready: true},
				{Index: 2, Revision: "old", Unschedulable: true},
			},
			want: tally{Desired: 1, Existing: 3, Ready: 2, Updated: 1, Unschedulable: 1, Outdated: 1},
		},
		"the lowest exhausted group is named": {
			desired: 3,
			groups: []groupState{
				{Index: 1, Leader: objectRef{Name: "x-1"}, Revision: "new", Exhausted: true, Terminating: true},
				{Index: 2, Leader: objectRef{Name: "x-2"}, Revision: "new", Exhausted: true, Terminating: true},
				{Index: 3, Leader: objectRef{Name: "x-3"}, Revision: "new", Exhausted: true, Terminating: true},
			},
			want: tally{Desired: 3, Existing: 3, Updated: 3, Exhausted: 3, DesiredExhausted: 2, ExhaustedLeader: "x-1"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tallyOf(tc.desired, tc.partition, "new", tc.groups)); diff != "" {
				t.Errorf("tally (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCurrentRevision(t *testing.T) {
	group := func(index int32, revision string) groupState {
		return groupState{Index: index, Revision: revision}
	}
	tests := map[string]struct {
		stored  string
		desired int32
		groups  []groupState
		want    string
	}{
		"a new set":                            {desired: 2, want: "new"},
		"a new set with its first group":       {desired: 2, groups: []groupState{group(0, "new")}, want: "new"},
		"a rollout that has not begun":         {stored: "old", desired: 1, groups: []groupState{group(0, "old")}, want: "old"},
		"a rollout in progress":                {stored: "old", desired: 2, groups: []groupState{group(0, "old"), group(1, "new")}, want: "old"},
		"a group that is being made again":     {stored: "old", desired: 2, groups: []groupState{group(1, "new")}, want: "old"},
		"a rollout that is complete":           {stored: "old", desired: 2, groups: []groupState{group(0, "new"), group(1, "new")}, want: "new"},
		"outdated surge groups do not count":   {stored: "old", desired: 1, groups: []groupState{group(0, "new"), group(1, "old")}, want: "new"},
		"replicas zero":                        {stored: "old", want: "new"},
		"all groups of an old set are missing": {stored: "old", desired: 1, want: "old"},
		"taken over in the middle of a rollout": {
			desired: 2, groups: []groupState{group(0, "old"), group(1, "new")}, want: "old",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := currentRevisionOf(tc.stored, "new", tc.desired, tc.groups); got != tc.want {
				t.Errorf("current revision %q, want %q", got, tc.want)
			}
		})
	}
}

func TestComputeStatus(t *testing.T) {
	stored := &lwsv1.LeaderWorkerSetStatus{
		Conditions:      []metav1.Condition{{Type: "Example", Status: metav1.ConditionTrue}},
		CurrentRevision: "old",
	}
	got := computeStatus(stored, statusInput{
		Generation:      3,
		Tally:           tally{Desired: 2, Existing: 2, Ready: 1, Updated: 2, Unschedulable: 1, Settled: 1},
		Worst:           &obstacle{lwsv1.ReasonGroupUnschedulable, "no room"},
		CurrentRevision: "current",
		UpdateRevision:  "update",
		GroupRestarts:   4,
		PodSelector:     "a=b",
		Now:             testTime,
	})
	conditions := got.Conditions
	got.Conditions = nil
	want := &lwsv1.LeaderWorkerSetStatus{
		ObservedGeneration:    3,
		Replicas:              2,
		ReadyReplicas:         1,
		UpdatedReplicas:       2,
		UnschedulableReplicas: 1,
		GroupRestarts:         4,
		HPAPodSelector:        "a=b",
		CurrentRevision:       "current",
		UpdateRevision:        "update",
		Summary:               lwsv1.ReasonGroupUnschedulable,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if len(conditions) != 5 {
		t.Errorf("%d conditions, want the four and that of another writer: %v", len(conditions), conditions)
	}
	if len(stored.Conditions) != 1 || stored.CurrentRevision != "old" {
		t.Errorf("the stored status was changed: %+v", stored)
	}
}

func TestUrgency(t *testing.T) {
	base := computeStatus(&lwsv1.LeaderWorkerSetStatus{}, statusInput{
		Generation: 1, Tally: tally{Desired: 3, Existing: 1}, CurrentRevision: "a", UpdateRevision: "a", Now: testTime,
	})
	tests := map[string]struct {
		change func(*lwsv1.LeaderWorkerSetStatus)
		want   statusWrite
	}{
		"nothing":            {func(*lwsv1.LeaderWorkerSetStatus) {}, statusEqual},
		"a counter":          {func(s *lwsv1.LeaderWorkerSetStatus) { s.ReadyReplicas++ }, statusLater},
		"restarts":           {func(s *lwsv1.LeaderWorkerSetStatus) { s.GroupRestarts++ }, statusLater},
		"a message":          {func(s *lwsv1.LeaderWorkerSetStatus) { s.Conditions[0].Message = "other" }, statusLater},
		"a reason":           {func(s *lwsv1.LeaderWorkerSetStatus) { s.Conditions[1].Reason = "Other" }, statusNow},
		"a condition":        {func(s *lwsv1.LeaderWorkerSetStatus) { s.Conditions[0].Status = metav1.ConditionTrue }, statusNow},
		"a new condition":    {func(s *lwsv1.LeaderWorkerSetStatus) { s.Conditions[0].Type = "Other" }, statusNow},
		"the generation":     {func(s *lwsv1.LeaderWorkerSetStatus) { s.ObservedGeneration++ }, statusNow},
		"its generation":     {func(s *lwsv1.LeaderWorkerSetStatus) { s.Conditions[0].ObservedGeneration++ }, statusNow},
		"the update":         {func(s *lwsv1.LeaderWorkerSetStatus) { s.UpdateRevision = "b" }, statusNow},
		"the end of rollout": {func(s *lwsv1.LeaderWorkerSetStatus) { s.CurrentRevision = "b" }, statusNow},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			computed := base.DeepCopy()
			tc.change(computed)
			if got := urgencyOf(base, computed); got != tc.want {
				t.Errorf("urgency %d, want %d", got, tc.want)
			}
		})
	}
}

func TestStatusInterval(t *testing.T) {
	for desired, want := range map[int32]time.Duration{
		0: 200 * time.Millisecond, 8: 200 * time.Millisecond, 100: 2 * time.Second, 1000: 5 * time.Second, 1000000: 5 * time.Second,
	} {
		if got := statusInterval(desired); got != want {
			t.Errorf("%d groups: %s, want %s", desired, got, want)
		}
	}
}
