package rollout

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func role2(name string, target, surge, unavailable int) Role {
	return Role{Name: name, Wanted: true, Target: target, Surge: surge, Unavailable: unavailable}
}

func removed(name string) Role { return Role{Name: name} }

func meant(baseline, spec, ready int) Count {
	return Count{Baseline: baseline, Spec: spec, Ready: ready}
}

func has(spec, ready int) Count { return Count{Spec: spec, Ready: ready} }

// text writes a plan as "old0.a 2>1 Drain", one step after the other.
func text(in Input, p Plan) string {
	switch p.Verdict {
	case Done:
		return "done"
	case Wait:
		return fmt.Sprintf("wait %s %s", p.Reason, in.Roles[p.Role].Name)
	case Act:
	}
	var steps []string
	for _, s := range p.Steps {
		side := "new"
		if s.Revision != Current {
			side = fmt.Sprintf("old%d", s.Revision)
		}
		steps = append(steps, fmt.Sprintf("%s.%s %d>%d %s", side, in.Roles[s.Role].Name, s.From, s.To, s.Reason))
	}
	return strings.Join(steps, ", ")
}

func TestCompute(t *testing.T) {
	tests := map[string]struct {
		in   Input
		want string
	}{
		"a new set comes up at once": {
			Input{Roles: []Role{role2("a", 8, 1, 0), role2("b", 4, 1, 0)}, New: []Count{has(0, 0), has(0, 0)}},
			"new.a 0>8 Grow, new.b 0>4 Grow",
		},
		"at rest": {
			Input{Roles: []Role{role2("a", 2, 1, 0), role2("b", 1, 1, 0)}, New: []Count{has(2, 0), has(1, 1)}},
			"done",
		},
		"scaled up at rest": {
			Input{Roles: []Role{role2("a", 6, 0, 1), role2("b", 1, 1, 0)}, New: []Count{has(2, 2), has(1, 1)}},
			"new.a 2>6 Grow",
		},
		"scaled down at rest": {
			Input{Roles: []Role{role2("a", 2, 0, 1), role2("b", 1, 1, 0)}, New: []Count{has(6, 6), has(1, 1)}},
			"new.a 6>2 ScaleDown",
		},
		"paused": {
			Input{
				Roles: []Role{role2("a", 0, 1, 0), role2("b", 0, 1, 0)}, New: []Count{has(6, 6), has(1, 1)},
				Old: [][]Count{{meant(6, 2, 2), meant(1, 1, 1)}},
			},
			"old0.a 2>0 ScaleDown, old0.b 1>0 ScaleDown, new.a 6>0 ScaleDown, new.b 1>0 ScaleDown",
		},
		"a role that is absent by wish holds nobody": {
			Input{
				Roles: []Role{role2("a", 2, 1, 0), role2("b", 0, 1, 0)}, New: []Count{has(1, 1), has(0, 0)},
				Old: [][]Count{{meant(2, 2, 2), meant(0, 0, 0)}},
			},
			"old0.a 2>1 Drain",
		},
		"the first replicas come together": {
			Input{
				Roles: []Role{role2("a", 8, 1, 0), role2("b", 4, 1, 0)}, New: []Count{has(0, 0), has(0, 0)},
				Old: [][]Count{{meant(8, 8, 8), meant(4, 4, 4)}},
			},
			"new.a 0>1 Grow, new.b 0>1 Grow",
		},
		"nothing goes before it is replaced": {
			Input{
				Roles: []Role{role2("a", 8, 1, 0), role2("b", 4, 1, 0)}, New: []Count{has(1, 0), has(1, 1)},
				Old: [][]Count{{meant(8, 8, 8), meant(4, 4, 4)}},
			},
			"old0.b 4>3 Drain",
		},
		"roles advance in proportion": {
			Input{
				Roles: []Role{role2("a", 8, 1, 0), role2("b", 4, 4, 4)}, New: []Count{has(2, 2), has(1, 1)},
				Old: [][]Count{{meant(8, 6, 6), meant(4, 3, 3)}},
			},
			"new.a 2>3 Grow, new.b 1>2 Grow",
		},
		"unavailability makes room without surge": {
			Input{
				Roles: []Role{role2("a", 8, 0, 2), role2("b", 4, 0, 1)}, New: []Count{has(0, 0), has(0, 0)},
				Old: [][]Count{{meant(8, 8, 8), meant(4, 4, 4)}},
			},
			"old0.a 8>6 Drain, old0.b 4>3 Drain",
		},
		"only as much room as the slowest role can use": {
			Input{
				Roles: []Role{role2("a", 8, 0, 8), role2("b", 4, 1, 0)}, New: []Count{has(0, 0), has(0, 0)},
				Old: [][]Count{{meant(8, 8, 8), meant(4, 4, 4)}},
			},
			"old0.a 8>6 Drain",
		},
		"a broken revision is replaced within the budgets": {
			Input{
				Roles: []Role{role2("a", 4, 1, 0), role2("b", 4, 1, 0)}, New: []Count{has(1, 1), has(1, 1)},
				Old: [][]Count{{meant(4, 4, 0), meant(4, 4, 0)}},
			},
			"old0.a 4>3 Drain, old0.b 4>3 Drain",
		},
		"the last replicas go together, when the new side is complete": {
			Input{
				Roles: []Role{role2("a", 2, 1, 0), role2("b", 1, 1, 0)}, New: []Count{has(2, 2), has(1, 1)},
				Old: [][]Count{{meant(2, 1, 1), meant(1, 1, 1)}},
			},
			"old0.a 1>0 Retire, old0.b 1>0 Retire",
		},
		"the budget lets them go before it is ready, which frees the place it may need": {
			Input{
				Roles: []Role{role2("a", 1, 1, 1), role2("b", 1, 1, 1)}, New: []Count{has(1, 0), has(1, 0)},
				Old: [][]Count{{meant(1, 1, 1), meant(1, 1, 1)}},
			},
			"old0.a 1>0 Retire, old0.b 1>0 Retire",
		},
		"not while one of them is missed": {
			Input{
				Roles: []Role{role2("a", 2, 1, 0), role2("b", 1, 1, 0)}, New: []Count{has(2, 2), has(1, 0)},
				Old: [][]Count{{meant(2, 1, 1), meant(1, 1, 1)}},
			},
			"wait NotReady b",
		},
		"the loan": {
			Input{
				Roles: []Role{role2("a", 1, 0, 1), role2("b", 1, 1, 0)}, New: []Count{has(0, 0), has(0, 0)},
				Old: [][]Count{{meant(1, 1, 1), meant(1, 1, 1)}},
			},
			"new.a 0>1 Borrow, new.b 0>1 Grow",
		},
		"no loan where the old revision can go": {
			Input{
				Roles: []Role{role2("a", 1, 0, 1), role2("b", 1, 1, 1)}, New: []Count{has(0, 0), has(0, 0)},
				Old: [][]Count{{meant(1, 1, 1), meant(1, 1, 1)}},
			},
			"old0.a 1>0 Retire, old0.b 1>0 Retire",
		},
		"the loan at the end of a larger role": {
			Input{
				Roles: []Role{role2("a", 2, 0, 1), role2("b", 10, 1, 0)}, New: []Count{has(1, 1), has(5, 5)},
				Old: [][]Count{{meant(2, 1, 1), meant(10, 5, 5)}},
			},
			"new.a 1>2 Borrow, new.b 5>6 Grow",
		},
		"without any budget": {
			Input{
				Roles: []Role{role2("a", 2, 0, 0), role2("b", 1, 1, 0)}, New: []Count{has(0, 0), has(0, 0)},
				Old: [][]Count{{meant(2, 2, 2), meant(1, 1, 1)}},
			},
			"wait NoBudget a",
		},
		"a raised target: up first": {
			Input{
				Roles: []Role{role2("a", 1, 1, 0), role2("b", 2, 1, 0)}, New: []Count{has(0, 0), has(0, 0)},
				Old: [][]Count{{meant(1, 1, 1), meant(1, 1, 1)}},
			},
			"new.a 0>1 Grow, new.b 0>2 Grow",
		},
		"a raised target: old replicas wait until it is reached": {
			Input{
				Roles: []Role{role2("a", 8, 1, 0), role2("b", 12, 1, 0)}, New: []Count{has(4, 4), has(8, 4)},
				Old: [][]Count{{meant(8, 4, 4), meant(4, 2, 2)}},
			},
			"new.a 4>5 Grow",
		},
		"a lowered target: from old first": {
			Input{
				Roles: []Role{role2("a", 5, 1, 0), role2("b", 4, 1, 0)}, New: []Count{has(1, 1), has(1, 0)},
				Old: [][]Count{{meant(10, 9, 9), meant(4, 4, 4)}},
			},
			"old0.a 9>4 ScaleDown",
		},
		"a lowered target: then from new": {
			Input{
				Roles: []Role{role2("a", 2, 1, 0), role2("b", 4, 1, 0)}, New: []Count{has(4, 4), has(2, 2)},
				Old: [][]Count{{meant(8, 4, 4), meant(4, 2, 2)}},
			},
			"old0.a 4>1 ScaleDown, new.a 4>2 ScaleDown, new.b 2>3 Grow",
		},
		"three revisions: the broken one goes first": {
			Input{
				Roles: []Role{role2("a", 2, 1, 0), role2("b", 2, 1, 0)}, New: []Count{has(0, 0), has(0, 0)},
				Old: [][]Count{{meant(2, 1, 0), meant(2, 1, 0)}, {meant(2, 2, 2), meant(2, 2, 2)}},
			},
			"old0.a 1>0 Retire, old0.b 1>0 Retire",
		},
		"three revisions: what a lowered target leaves over is taken from the oldest in the end": {
			Input{
				Roles: []Role{role2("a", 2, 1, 0), role2("b", 4, 1, 0)}, New: []Count{has(0, 0), has(0, 0)},
				Old: [][]Count{{meant(6, 1, 1), meant(4, 2, 2)}, {meant(6, 5, 5), meant(4, 2, 2)}},
			},
			"old1.a 5>2 ScaleDown",
		},
		"an added role grows with the others": {
			Input{
				Roles: []Role{role2("a", 4, 1, 0), role2("b", 4, 1, 0), role2("router", 2, 1, 0)},
				New:   []Count{has(0, 0), has(0, 0), has(0, 0)},
				Old:   [][]Count{{meant(4, 4, 4), meant(4, 4, 4), {}}},
			},
			"new.a 0>1 Grow, new.b 0>1 Grow, new.router 0>1 Grow",
		},
		"the old revision waits for an added role": {
			Input{
				Roles: []Role{role2("a", 1, 1, 0), role2("b", 1, 1, 0), role2("router", 1, 1, 0)},
				New:   []Count{has(1, 1), has(1, 1), has(1, 0)},
				Old:   [][]Count{{meant(1, 1, 1), meant(1, 1, 1), {}}},
			},
			"wait NotReady router",
		},
		"a removed role drains with its revision": {
			Input{
				Roles: []Role{role2("a", 4, 1, 0), role2("b", 4, 1, 0), removed("router")},
				New:   []Count{has(2, 2), has(2, 2), {}},
				Old:   [][]Count{{meant(4, 3, 3), meant(4, 3, 3), meant(4, 4, 4)}},
			},
			"old0.a 3>2 Drain, old0.b 3>2 Drain, old0.router 4>2 Drain",
		},
		"all roles renamed: the old ones serve until the new ones do": {
			Input{
				Roles: []Role{role2("a", 2, 1, 0), role2("b", 2, 1, 0), removed("c"), removed("d")},
				New:   []Count{has(2, 1), has(2, 2), {}, {}},
				Old:   [][]Count{{{}, {}, meant(2, 2, 2), meant(2, 2, 2)}},
			},
			"old0.c 2>1 Drain, old0.d 2>1 Drain",
		},
		"an orphan of an old revision goes, ready or not": {
			Input{
				Roles: []Role{role2("a", 2, 1, 0), role2("b", 2, 1, 0)}, New: []Count{has(1, 0), has(1, 0)},
				Old: [][]Count{{meant(2, 1, 1), meant(2, 0, 0)}},
			},
			"old0.a 1>0 Complete, new.a 1>2 Grow, new.b 1>2 Grow",
		},
		"a role that the new revision lost comes back, room or not": {
			Input{
				Roles: []Role{role2("a", 2, 0, 1), role2("b", 2, 0, 1)}, New: []Count{has(1, 1), has(0, 0)},
				Old: [][]Count{{meant(2, 1, 1), meant(2, 2, 2)}},
			},
			"old0.b 2>1 Drain, new.b 0>1 Complete",
		},
		"terminating replicas authorise nothing": {
			Input{
				Roles: []Role{role2("a", 4, 1, 0), role2("b", 4, 1, 0)}, New: []Count{has(1, 3), has(1, 1)},
				Old: [][]Count{{meant(4, 3, 4), meant(4, 3, 3)}},
			},
			"new.a 1>2 Grow, new.b 1>2 Grow",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := Compute(tc.in)
			if diff := cmp.Diff(tc.want, text(tc.in, p)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if err := violation(tc.in, p); err != nil {
				t.Error(err)
			}
		})
	}
}

// tenRoles is in the middle of a rollout of as many roles as a set may have.
func tenRoles() Input {
	in := Input{Old: make([][]Count, 1)}
	for i := range 10 {
		n := 4 * (i + 1)
		in.Roles = append(in.Roles, role2(fmt.Sprint("role", i), n, 1, 1))
		in.New = append(in.New, has(n/4, n/4))
		in.Old[0] = append(in.Old[0], meant(n, n-n/4+1, n-n/4+1))
	}
	return in
}

func TestComputeAllocatesNothingButItsResult(t *testing.T) {
	in := tenRoles()
	if n := testing.AllocsPerRun(100, func() { Compute(in) }); n > 1 {
		t.Errorf("%v allocations, want the slice of steps only", n)
	}
	for i := range in.New {
		in.New[i].Ready = 0
	}
	in = apply(in, Compute(in), all)
	if p := Compute(in); p.Verdict != Wait {
		t.Fatalf("want a plan that waits, got %s", text(in, p))
	}
	if n := testing.AllocsPerRun(100, func() { Compute(in) }); n > 0 {
		t.Errorf("%v allocations of a plan that waits, want none", n)
	}
}

func BenchmarkComputeTenRoles(b *testing.B) {
	in := tenRoles()
	b.ReportAllocs()
	for b.Loop() {
		Compute(in)
	}
}

func BenchmarkComputeTenRolesWaiting(b *testing.B) {
	in := tenRoles()
	for i := range in.New {
		in.New[i].Ready = 0
	}
	in = apply(in, Compute(in), all)
	b.ReportAllocs()
	for b.Loop() {
		Compute(in)
	}
}
