package rollout

import (
	"testing"
)

// state is where a rollout of two roles stands, without readiness.
type state struct{ old, fresh [2]int }

// TestEveryReachableState goes through every state that a rollout of two roles
// with targets 0 to 3 and budgets 0 to 2 can come to from a consistent start,
// with every readiness in every state and a manager that may die after any of
// its writes. In each of them the guarantees hold, and from each of them the
// rollout ends, if every role can move at all.
func TestEveryReachableState(t *testing.T) {
	var states, plans int
	for _, a := range everyRole() {
		for _, b := range everyRole() {
			if testing.Short() && (a.Target+b.Target)%3 != 0 || later(a, b) {
				continue
			}
			for baselineA := range 4 {
				for baselineB := range 4 {
					s, p := explore(t, [2]Role{a, b}, [2]int{baselineA, baselineB})
					states, plans = states+s, plans+p
				}
			}
		}
	}
	t.Logf("%d states, %d plans", states, plans)
	if states == 0 || plans <= states {
		t.Fatal("nothing was explored")
	}
}

func everyRole() []Role {
	var roles []Role
	for target := range 4 {
		for surge := range 3 {
			for unavailable := range 3 {
				roles = append(roles, Role{Wanted: true, Target: target, Surge: surge, Unavailable: unavailable})
			}
		}
	}
	return roles
}

// later says that the same two roles come in the other order as well.
func later(a, b Role) bool {
	key := func(r Role) int { return r.Target*9 + r.Surge*3 + r.Unavailable }
	return key(a) > key(b)
}

func explore(t *testing.T, roles [2]Role, baseline [2]int) (states, plans int) {
	t.Helper()
	roles[0].Name, roles[1].Name = "a", "b"
	start := state{old: baseline}
	seen := map[state]bool{start: true}
	for queue := []state{start}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		states++
		if canMove(roles) {
			if err := finish(input(roles, baseline, at, [4]int{})); err != nil {
				t.Fatalf("from %v: %v", at, err)
			}
		}
		for _, in := range everyReadiness(roles, baseline, at) {
			plans++
			p := Compute(in)
			if err := violation(in, p); err != nil {
				t.Fatalf("%v: %v", in, err)
			}
			for written := range 1 << len(p.Steps) {
				if next := after(at, p, written); !seen[next] {
					seen[next] = true
					queue = append(queue, next)
				}
			}
		}
	}
	return states, plans
}

func canMove(roles [2]Role) bool {
	for _, r := range roles {
		if r.Target > 0 && r.Surge+r.Unavailable == 0 {
			return false
		}
	}
	return true
}

func input(roles [2]Role, baseline [2]int, at state, ready [4]int) Input {
	in := Input{Roles: roles[:], New: make([]Count, 2), Old: [][]Count{make([]Count, 2)}}
	for i := range 2 {
		in.Old[0][i] = Count{Baseline: baseline[i], Spec: at.old[i], Ready: ready[i]}
		in.New[i] = Count{Spec: at.fresh[i], Ready: ready[2+i]}
	}
	return in
}

func everyReadiness(roles [2]Role, baseline [2]int, at state) []Input {
	var out []Input
	for a := range at.old[0] + 1 {
		for b := range at.old[1] + 1 {
			for c := range at.fresh[0] + 1 {
				for d := range at.fresh[1] + 1 {
					out = append(out, input(roles, baseline, at, [4]int{a, b, c, d}))
				}
			}
		}
	}
	return out
}

func after(at state, p Plan, written int) state {
	for i, s := range p.Steps {
		switch {
		case written&(1<<i) == 0:
		case s.Revision == Current:
			at.fresh[s.Role] = s.To
		default:
			at.old[s.Role] = s.To
		}
	}
	return at
}
