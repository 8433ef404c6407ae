package leaderworkerset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/lws/controllers/leaderworkerset/metrics"
	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

func TestSampleOf(t *testing.T) {
	now := testTime.Add(time.Minute)
	acting := rollout.Verdict{Phase: rollout.Acting, Message: "1 leader deleted"}
	tests := map[string]struct {
		tally   tally
		groups  []groupState
		verdict rollout.Verdict
		want    metrics.Sample
	}{
		"at rest": {
			tally:   tally{Desired: 1, Settled: 1, Ready: 1},
			groups:  []groupState{{Leader: objectRef{"x-0", "a"}, Created: testTime.Time, Ready: true}},
			verdict: rollout.Verdict{Phase: rollout.Done, Message: "every group is ready"},
			want: metrics.Sample{
				Now: now, Desired: 1, Ready: 1,
				Groups: []metrics.Group{{Leader: "a", Created: testTime.Time, State: metrics.Ready}},
			},
		},
		"a rollout": {
			tally:   tally{Desired: 2, Settled: 1, Ready: 1, Outdated: 1},
			verdict: acting,
			want: metrics.Sample{
				Now: now, Desired: 2, Ready: 1,
				Groups: []metrics.Group{}, RollingSince: testTime.Time, Step: "1 leader deleted",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := sampleOf(test.tally, test.groups, test.verdict, conditionsFor(test.tally, nil), now)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestStateOf(t *testing.T) {
	tests := map[string]struct {
		group groupState
		want  metrics.State
	}{
		"starts":                           {groupState{}, metrics.Starting},
		"ready":                            {groupState{Ready: true}, metrics.Ready},
		"no room for a worker":             {groupState{Unschedulable: true}, metrics.Unschedulable},
		"held at its gate, and no room":    {groupState{Gated: true, Unschedulable: true}, metrics.Gated},
		"goes while it is still ready":     {groupState{Terminating: true, Ready: true}, metrics.Terminating},
		"exhausted, its leader terminated": {groupState{Exhausted: true, Terminating: true}, metrics.Exhausted},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := stateOf(&test.group); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
