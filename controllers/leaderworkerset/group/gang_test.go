package group

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

func podGroupRef(name string) scheduling.Ref {
	ref := scheduling.Ref{Name: name}
	ref.Kind.Kind = "PodGroup"
	return ref
}

func TestDecideGang(t *testing.T) {
	for name, test := range map[string]struct {
		gang    gang
		want    gangVerdict
		message string
	}{
		"none wanted":         {gang{}, gangReady, ""},
		"all there":           {gang{Used: true, Admitted: true}, gangReady, ""},
		"cannot be had":       {gang{Used: true, Unavailable: "the gate is off"}, gangAwaited, "the gate is off"},
		"admitted without it": {gang{Used: true, Missing: []scheduling.Ref{podGroupRef("a")}}, gangReplace, "it was admitted without its PodGroup"},
		"the set's own first": {
			gang{Used: true, Admitted: true, Awaited: []string{"Workload set"}, Missing: []scheduling.Ref{podGroupRef("a")}},
			gangAwaited, "Workload set is not there yet",
		},
		"one of its name goes": {gang{Used: true, Admitted: true, Leaving: []string{"PodGroup a"}}, gangAwaited, "PodGroup a is being deleted"},
		"to be made":           {gang{Used: true, Admitted: true, Missing: []scheduling.Ref{podGroupRef("a")}}, gangMissing, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, message := decideGang(&test.gang)
			if got != test.want || message != test.message {
				t.Errorf("%s %q, want %s %q", got, message, test.want, test.message)
			}
		})
	}
}

func TestGateOfGang(t *testing.T) {
	for name, test := range map[string]struct {
		verdict gangVerdict
		want    gateVerdict
	}{
		"ready":   {gangReady, gateVerdict{Reason: gateOpen}},
		"missing": {gangMissing, gateVerdict{Reason: gateOpen}},
		"awaited": {gangAwaited, gateVerdict{gateScheduling, "why"}},
		"replace": {gangReplace, gateVerdict{gateAdmission, "why"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := gateInput{
				Controlled: true, Desired: true, Wanted: true, Service: serviceKeep, Now: testStart,
				Workers: workersVerdict{Action: workersKeep}, Gang: test.verdict, GangWaits: "why",
			}
			if got := decideGate(in); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

// TestUnadmittedLeader: a leader that was admitted without its PodGroup is replaced,
// but not at once, so that a webhook that knows no better is not asked all the time.
func TestUnadmittedLeader(t *testing.T) {
	for name, test := range map[string]struct {
		age   time.Duration
		steps int
		after time.Duration
	}{
		"young": {time.Second, 0, gangPatience - time.Second},
		"old":   {gangPatience, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := &plan{}
			p.replaceUnadmitted(&observation{Now: testStart, Leader: &leader{pod: pod{Created: testStart.Add(-test.age)}}})
			if len(p.Steps) != test.steps || p.After != test.after {
				t.Errorf("%d steps, again after %s; want %d, %s", len(p.Steps), p.After, test.steps, test.after)
			}
		})
	}
}

func TestTidyGang(t *testing.T) {
	ref := podGroupRef("old")
	for name, test := range map[string]struct {
		left    leftObject
		steps   []step
		after   time.Duration
		problem *Problem
	}{
		"not deleted yet": {leftObject{Ref: ref, UID: "u"}, []step{deleteGang{Ref: ref, UID: "u"}}, 0, nil},
		"goes":            {leftObject{Ref: ref, Deleted: testStart.Add(-time.Second)}, nil, cleanupPatience - time.Second, nil},
		"does not go": {
			leftObject{Ref: ref, Deleted: testStart.Add(-cleanupPatience), HeldBy: []string{"example.com/hold"}},
			nil, 0,
			&Problem{
				Reason:  lwsv1.ReasonPodGroupCleanupBlocked,
				Message: "Group 3: PodGroup old, which no pod refers to, is held by the finalizer example.com/hold",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &plan{}
			o := &observation{Now: testStart, Gang: gang{Left: []leftObject{test.left}}}
			o.Group.Index = "3"
			p.tidyGang(o)
			if diff := cmp.Diff(test.steps, p.Steps); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.problem, p.Report.Scheduling); diff != "" || p.After != test.after {
				t.Errorf("again after %s, want %s; problem (-want +got):\n%s", p.After, test.after, diff)
			}
		})
	}
}
