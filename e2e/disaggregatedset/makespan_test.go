package disaggregatedset

import (
	"testing"
	"time"

	"sigs.k8s.io/lws/controllers/disaggregatedset/rollout"
)

// makespan follows the planner from its targets on the old side to the same on the
// new one: each new replica of a role takes its start time, nothing else takes any.
func makespan(roles []rollout.Role, starts [][]time.Duration) time.Duration {
	in := rollout.Input{Roles: roles, New: make([]rollout.Count, len(roles)), Old: [][]rollout.Count{make([]rollout.Count, len(roles))}}
	readyAt := make([][]time.Duration, len(roles))
	for i, role := range roles {
		in.Old[0][i] = rollout.Count{Baseline: role.Target, Spec: role.Target, Ready: role.Target}
	}
	for now := time.Duration(0); ; {
		for plan := rollout.Compute(in); plan.Verdict == rollout.Act; plan = rollout.Compute(in) {
			for _, step := range plan.Steps {
				if step.Revision != rollout.Current {
					in.Old[step.Revision][step.Role].Spec = step.To
					in.Old[step.Revision][step.Role].Ready = step.To
					continue
				}
				in.New[step.Role].Spec = step.To
				for n := step.From; n < step.To; n++ {
					readyAt[step.Role] = append(readyAt[step.Role], now+starts[step.Role][n])
				}
			}
		}
		next, pending := time.Duration(0), false
		for i := range roles {
			for _, at := range readyAt[i] {
				if at > now && (!pending || at < next) {
					next, pending = at, true
				}
			}
		}
		if !pending {
			return now
		}
		now = next
		for i := range roles {
			in.New[i].Ready = 0
			for _, at := range readyAt[i] {
				if at <= now {
					in.New[i].Ready++
				}
			}
		}
	}
}

func TestMakespan(t *testing.T) {
	second := time.Second
	for name, test := range map[string]struct {
		roles  []rollout.Role
		starts [][]time.Duration
		want   time.Duration
	}{
		"one after the other": {
			[]rollout.Role{{Name: "a", Wanted: true, Target: 2, Surge: 1}, {Name: "b", Wanted: true, Target: 1, Surge: 1}},
			[][]time.Duration{{2 * second, 3 * second}, {second}},
			5 * second,
		},
		"all at once": {
			[]rollout.Role{{Name: "a", Wanted: true, Target: 2, Surge: 2}, {Name: "b", Wanted: true, Target: 1, Surge: 1}},
			[][]time.Duration{{2 * second, 3 * second}, {second}},
			3 * second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := makespan(test.roles, test.starts); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
