package rollout

import (
	"fmt"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

const maxReplicas = 40

func drawRole(t *rapid.T, i int) Role {
	return Role{
		Name:        fmt.Sprintf("role%d", i),
		Wanted:      rapid.IntRange(0, 9).Draw(t, "wanted") > 0,
		Target:      drawReplicas(t, "target"),
		Surge:       rapid.SampledFrom([]int{0, 0, 1, 1, 2, 5, 40}).Draw(t, "surge"),
		Unavailable: rapid.SampledFrom([]int{0, 0, 1, 1, 2, 5, 40}).Draw(t, "unavailable"),
	}
}

// drawReplicas prefers the small numbers at which the rules meet.
func drawReplicas(t *rapid.T, name string) int {
	if rapid.Bool().Draw(t, "small") {
		return rapid.IntRange(0, 4).Draw(t, name)
	}
	return rapid.IntRange(0, maxReplicas).Draw(t, name)
}

func drawCount(t *rapid.T) Count {
	c := Count{Baseline: drawReplicas(t, "baseline"), Spec: drawReplicas(t, "spec")}
	c.Ready = rapid.IntRange(0, c.Spec+2).Draw(t, "ready")
	return c
}

// drawInput is any input at all, however it may have come about.
func drawInput(t *rapid.T) Input {
	var in Input
	n := rapid.IntRange(2, 10).Draw(t, "roles")
	in.Old = make([][]Count, rapid.IntRange(0, 3).Draw(t, "revisions"))
	for i := range n {
		r := drawRole(t, i)
		c := drawCount(t)
		if !r.Wanted {
			c = Count{}
		}
		in.Roles, in.New = append(in.Roles, r), append(in.New, c)
		for k := range in.Old {
			in.Old[k] = append(in.Old[k], drawCount(t))
		}
	}
	return in
}

// drawWhole is an input that a consistent start can lead to: no revision lacks
// a role, and every role can move.
func drawWhole(t *rapid.T) Input {
	in := drawInput(t)
	for i := range in.Roles {
		r := &in.Roles[i]
		if r.Surge+r.Unavailable == 0 {
			r.Surge = 1
		}
		in.New[i].Baseline = 0
	}
	for k := range in.Old {
		makeWhole(t, in, in.Old[k], false)
	}
	makeWhole(t, in, in.New, true)
	return in
}

func makeWhole(t *rapid.T, in Input, counts []Count, isNew bool) {
	empty := rapid.IntRange(0, 3).Draw(t, "empty") == 0
	for i := range counts {
		c := &counts[i]
		switch {
		case isNew && !in.Roles[i].Wanted || !isNew && c.Baseline == 0 || empty:
			c.Spec, c.Ready = 0, 0
		case c.Spec == 0:
			c.Spec = 1
		}
	}
}

func TestGuaranteesHoldForEveryInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		if err := violation(in, Compute(in)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSameInputSamePlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		if a, b := fmt.Sprint(Compute(in)), fmt.Sprint(Compute(in)); a != b {
			t.Fatalf("%s, then %s", a, b)
		}
	})
}

// TestAnyPartOfAPlanIsSafe: a manager that dies between two writes leaves
// surge and availability intact, and the next plan makes every revision whole.
func TestAnyPartOfAPlanIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawWhole(t)
		p := Compute(in)
		taken := make([]bool, len(p.Steps))
		for i := range taken {
			taken[i] = rapid.Bool().Draw(t, "taken")
		}
		part := apply(in, p, func(i int) bool { return taken[i] })
		if err := surge(in, part, p); err != nil {
			t.Fatal(err)
		}
		if err := availability(in, part, p); err != nil {
			t.Fatal(err)
		}
		next := Compute(part)
		if err := violation(part, next); err != nil {
			t.Fatal(err)
		}
	})
}

func TestEveryRolloutEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := finish(drawWhole(t)); err != nil {
			t.Fatal(err)
		}
	})
}

// TestInterruptedRolloutsEnd changes everything that can change while a rollout
// runs: readiness, targets, budgets, the part of a plan that is carried out, and
// the revision itself. Whatever happened, it ends once the pods become ready.
func TestInterruptedRolloutsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawWhole(t)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			p := Compute(in)
			if err := violation(in, p); err != nil {
				t.Fatalf("%v: %v", in, err)
			}
			whole := rapid.IntRange(0, 4).Draw(t, "whole") > 0
			in = apply(in, p, func(int) bool { return whole || rapid.Bool().Draw(t, "taken") })
			disturb(t, &in)
		}
		if err := finish(in); err != nil {
			t.Fatal(err)
		}
	})
}

func disturb(t *rapid.T, in *Input) {
	switch rapid.IntRange(0, 9).Draw(t, "event") {
	case 0:
		i := rapid.IntRange(0, len(in.Roles)-1).Draw(t, "role")
		in.Roles[i].Target = drawReplicas(t, "target")
	case 1:
		if len(in.Old) < 5 {
			supersede(in)
		}
	case 2:
		in.Old = in.Old[:min(len(in.Old), in.draining()+1)]
	default:
		wake(t, in.New)
		for k := range in.Old {
			wake(t, in.Old[k])
		}
	}
}

// supersede makes the new revision the newest old one.
func supersede(in *Input) {
	was := make([]Count, len(in.New))
	for i, c := range in.New {
		was[i] = c
		if in.Roles[i].Wanted && (c.Spec > 0 || in.Roles[i].Target > 0) {
			was[i].Baseline = max(c.Spec, in.Roles[i].Target)
		}
	}
	in.Old = append([][]Count{was}, in.Old...)
	in.New = make([]Count, len(was))
}

func wake(t *rapid.T, counts []Count) {
	for i := range counts {
		counts[i].Ready = rapid.IntRange(0, counts[i].Spec).Draw(t, "ready")
	}
}

// TestPipelining: where nothing ever becomes ready, as many new replicas start
// as the budgets stake, and no more.
func TestPipelining(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 10).Draw(t, "roles")
		in := Input{New: make([]Count, n), Old: [][]Count{make([]Count, n)}}
		replicas := rapid.IntRange(4, maxReplicas).Draw(t, "replicas")
		s, u := rapid.IntRange(0, 3).Draw(t, "surge"), rapid.IntRange(0, 3).Draw(t, "unavailable")
		if s+u == 0 {
			s = 1
		}
		for i := range n {
			in.Roles = append(in.Roles, Role{Name: strconv.Itoa(i), Wanted: true, Target: replicas, Surge: s, Unavailable: u})
			in.Old[0][i] = Count{Baseline: replicas, Spec: replicas, Ready: replicas}
		}
		for range bound(in) {
			p := Compute(in)
			if p.Verdict != Act {
				break
			}
			in = apply(in, p, all)
		}
		for i, c := range in.New {
			if want := min(s+u, replicas); c.Spec != want {
				t.Fatalf("%d of role %d on their way, budgets allow %d: %v", c.Spec, i, want, in)
			}
		}
	})
}

// TestStakesNoMoreThanItsBudget: from a state at rest, new replicas that are not
// ready never exceed the budgets.
func TestStakesNoMoreThanItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawWhole(t)
		in.Old = make([][]Count, 1)
		in.New = make([]Count, len(in.Roles))
		for i := range in.Roles {
			r := &in.Roles[i]
			r.Wanted = true
			in.Old[0] = append(in.Old[0], Count{Baseline: r.Target, Spec: r.Target, Ready: r.Target})
		}
		for range 40 {
			p := Compute(in)
			in = apply(in, p, all)
			for i, r := range in.Roles {
				borrowed := 0
				if r.Surge == 0 {
					borrowed = 1
				}
				if on := in.New[i].Spec - in.New[i].sane().Ready; on > max(r.Surge, borrowed)+r.Unavailable {
					t.Fatalf("%d of %s on their way, budgets %d+%d: %v", on, r.Name, r.Surge, r.Unavailable, in)
				}
				c := &in.New[i]
				c.Ready = rapid.IntRange(min(c.Ready, c.Spec), c.Spec).Draw(t, "ready")
			}
		}
	})
}

func FuzzGuarantees(f *testing.F) {
	f.Add([]byte("prefill and decode"))
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		in := drawInput(t)
		if err := violation(in, Compute(in)); err != nil {
			t.Fatal(err)
		}
	}))
}
