package group

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

func TestDecideRestart(t *testing.T) {
	f := &failure{Kind: podDeleted, Pod: "w", Message: "pod w was deleted"}
	waiting, held, stuck := worker(1, phase(corev1.PodPending)), worker(1, phase(corev1.PodPending)), worker(1, unplaced)
	held.Scheduling = heldByGate
	limit := func(n int32) restartBudget { return restartBudget{Limited: true, Limit: n} }
	backoff := restartBudget{BacksOff: true, Base: 10 * time.Second, Cap: 300 * time.Second}
	counted := func(b restartBudget, n int32, leader string) restartBudget {
		b.Count = Count{Restarts: n, Leader: corePodUID(leader)}
		return b
	}
	const (
		always     = lwsv1.RecreateGroupOnPodRestart
		afterStart = lwsv1.RecreateGroupAfterStart
	)
	tests := map[string]struct {
		in   restartInput
		want restartVerdict
	}{
		"no failure": {restartInput{Policy: always}, restartVerdict{Action: restartNone}},
		"None":       {restartInput{Policy: lwsv1.NoneRestartPolicy, Failure: f, WasWhole: true}, restartVerdict{Action: restartNone}},
		"at once": {
			restartInput{Policy: always, Failure: f},
			restartVerdict{Action: restartRecreate, Message: "pod w was deleted"},
		},
		"at once though a member is pending": {
			restartInput{Policy: always, Failure: f, Pending: &stuck},
			restartVerdict{Action: restartRecreate, Message: "pod w was deleted"},
		},
		"after start, never whole": {
			restartInput{Policy: afterStart, Failure: f},
			restartVerdict{Action: restartSkip, Message: "pod w was deleted before all pods of the group had started"},
		},
		"after start, never whole, one is starting": {
			restartInput{Policy: afterStart, Failure: f, Pending: &waiting},
			restartVerdict{Action: restartSkip, Message: "pod w was deleted while pod set-3-1 is starting"},
		},
		"after start, never whole, one is gated": {
			restartInput{Policy: afterStart, Failure: f, Pending: &held},
			restartVerdict{Action: restartSkip, Message: "pod w was deleted while pod set-3-1 is held by a scheduling gate"},
		},
		"after start, never whole, one is unschedulable": {
			restartInput{Policy: afterStart, Failure: f, Pending: &stuck},
			restartVerdict{
				Action: restartSkip, Unschedulable: &stuck,
				Message: "pod w was deleted while pod set-3-1 cannot be scheduled: 0/3 nodes are available",
			},
		},
		"after start, whole": {
			restartInput{Policy: afterStart, Failure: f, WasWhole: true},
			restartVerdict{Action: restartRecreate, Message: "pod w was deleted"},
		},
		"after start, whole, one is pending again": {
			restartInput{Policy: afterStart, Failure: f, WasWhole: true, Pending: &waiting},
			restartVerdict{Action: restartSkip, Message: "pod w was deleted while pod set-3-1 is starting"},
		},
		"counted first": {
			restartInput{Policy: always, Failure: f, Leader: "now", Budget: counted(limit(3), 2, "before")},
			restartVerdict{Action: restartCount, Message: "pod w was deleted"},
		},
		"counted": {
			restartInput{Policy: always, Failure: f, Leader: "now", Budget: counted(limit(3), 3, "now")},
			restartVerdict{Action: restartRecreate, Message: "pod w was deleted"},
		},
		"counted, and the limit was lowered since": {
			restartInput{Policy: always, Failure: f, Leader: "now", Budget: counted(limit(0), 3, "now")},
			restartVerdict{Action: restartRecreate, Message: "pod w was deleted"},
		},
		"spent": {
			restartInput{Policy: always, Failure: f, Leader: "now", Budget: counted(limit(3), 3, "before")},
			restartVerdict{Action: restartExhaust, Message: "pod w was deleted, and the group was recreated 3 times with a maximum of 3"},
		},
		"lowered below the count": {
			restartInput{Policy: always, Failure: f, Leader: "now", Budget: counted(limit(1), 3, "before")},
			restartVerdict{Action: restartExhaust, Message: "pod w was deleted, and the group was recreated 3 times with a maximum of 1"},
		},
		"none allowed": {
			restartInput{Policy: always, Failure: f, Leader: "now", Budget: limit(0)},
			restartVerdict{Action: restartExhaust, Message: "pod w was deleted, and the group was recreated 0 times with a maximum of 0"},
		},
		"spent does not wait for the backoff": {
			restartInput{
				Policy: always, Failure: f, Leader: "now", Created: testStart, Now: testStart,
				Budget: restartBudget{Limited: true, BacksOff: true, Base: time.Hour, Cap: time.Hour},
			},
			restartVerdict{Action: restartExhaust, Message: "pod w was deleted, and the group was recreated 0 times with a maximum of 0"},
		},
		"too young": {
			restartInput{
				Policy: always, Failure: f, Leader: "now", Created: testStart, Now: testStart.Add(3 * time.Second), Budget: backoff,
			},
			restartVerdict{Action: restartDefer, Message: "pod w was deleted", After: 7 * time.Second},
		},
		"too young, for the third time": {
			restartInput{
				Policy: always, Failure: f, Leader: "now", Created: testStart, Now: testStart.Add(3 * time.Second),
				Budget: counted(backoff, 2, "before"),
			},
			restartVerdict{Action: restartDefer, Message: "pod w was deleted", After: 37 * time.Second},
		},
		"old enough to the second": {
			restartInput{
				Policy: always, Failure: f, Leader: "now", Created: testStart, Now: testStart.Add(10 * time.Second), Budget: backoff,
			},
			restartVerdict{Action: restartCount, Message: "pod w was deleted"},
		},
		"counted under backoff goes on at once": {
			restartInput{
				Policy: always, Failure: f, Leader: "now", Created: testStart, Now: testStart.Add(10 * time.Second),
				Budget: counted(backoff, 1, "now"),
			},
			restartVerdict{Action: restartRecreate, Message: "pod w was deleted"},
		},
		"a clock that is behind defers no longer than the delay": {
			restartInput{
				Policy: always, Failure: f, Leader: "now", Created: testStart.Add(time.Minute), Now: testStart, Budget: backoff,
			},
			restartVerdict{Action: restartDefer, Message: "pod w was deleted", After: 10 * time.Second},
		},
		"a clock that is behind defers nothing without backoff": {
			restartInput{
				Policy: always, Failure: f, Leader: "now", Created: testStart.Add(time.Minute), Now: testStart, Budget: limit(3),
			},
			restartVerdict{Action: restartCount, Message: "pod w was deleted"},
		},
		"a limit without backoff does not defer": {
			restartInput{Policy: always, Failure: f, Leader: "now", Created: testStart, Now: testStart, Budget: limit(3)},
			restartVerdict{Action: restartCount, Message: "pod w was deleted"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, decideRestart(test.in)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBackoffDelay(t *testing.T) {
	tests := map[string]struct {
		base, limit time.Duration
		want        []time.Duration
	}{
		"documented":   {10, 300, []time.Duration{10, 20, 40, 80, 160, 300, 300}},
		"cap is base":  {7, 7, []time.Duration{7, 7, 7}},
		"power of two": {1, 8, []time.Duration{1, 2, 4, 8, 8}},
		"odd cap":      {2, 7, []time.Duration{2, 4, 7, 7}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for count, want := range test.want {
				b := restartBudget{BacksOff: true, Base: test.base * time.Second, Cap: test.limit * time.Second}
				b.Count.Restarts = int32(count)
				if got := b.delay(); got != want*time.Second {
					t.Errorf("after %d recreations %s, want %s", count, got, want*time.Second)
				}
			}
			b := restartBudget{BacksOff: true, Base: test.base * time.Second, Cap: test.limit * time.Second}
			b.Count.Restarts = 1<<31 - 1
			if got := b.delay(); got != test.limit*time.Second {
				t.Errorf("after very many %s, want %s", got, test.limit*time.Second)
			}
		})
	}
}

func TestPendingMember(t *testing.T) {
	tests := map[string]struct {
		g    *generation
		m    *memory
		want string
	}{
		"none": {g: group(with(), with())},
		"the one that cannot be placed before others": {
			g: group(with(phase(corev1.PodPending)), with(unplaced)), want: "set-3-1",
		},
		"one that was there when the group was whole": {
			g: group(with(), with(phase(corev1.PodPending))), m: remembered("set-3-1"), want: "set-3-1",
		},
		"a replacement does not count": {
			g: group(with(), with(phase(corev1.PodPending), createdAfter(time.Second))), m: remembered("set-3-1"),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if p := pendingMember(test.g, test.m); p != nil {
				got = p.Name
			}
			if got != test.want {
				t.Errorf("waits for %q, want %q", got, test.want)
			}
		})
	}
}
