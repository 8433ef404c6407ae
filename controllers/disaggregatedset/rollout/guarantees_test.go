package rollout

import (
	"fmt"
	"slices"
)

// apply carries out the steps that take says, and leaves the input alone.
func apply(in Input, p Plan, take func(int) bool) Input {
	out := in
	out.New = slices.Clone(in.New)
	out.Old = make([][]Count, len(in.Old))
	for k := range in.Old {
		out.Old[k] = slices.Clone(in.Old[k])
	}
	for i, s := range p.Steps {
		if !take(i) {
			continue
		}
		side := out.New
		if s.Revision != Current {
			side = out.Old[s.Revision]
		}
		side[s.Role].Spec = s.To
		side[s.Role].Ready = min(side[s.Role].Ready, s.To)
	}
	return out
}

func all(int) bool { return true }

func (in Input) old(i int) (spec, ready, baseline int) {
	for _, counts := range in.Old {
		c := counts[i].sane()
		spec, ready, baseline = spec+c.Spec, ready+c.Ready, max(baseline, c.Baseline)
	}
	return spec, ready, baseline
}

// whole says that a revision has all its roles or none.
func whole(in Input, counts []Count, isNew bool) bool {
	some, lacks := false, false
	for i, r := range in.Roles {
		if r.absent() || isNew && !r.Wanted || !isNew && !counts[i].belongs() {
			continue
		}
		some, lacks = some || counts[i].Spec > 0, lacks || counts[i].Spec == 0
	}
	return !some || !lacks
}

// violation says which guarantee the plan breaks in this state, if any. It is
// written from the specification and shares nothing with the planner.
func violation(in Input, p Plan) error {
	out := apply(in, p, all)
	if p.Verdict == Act && len(p.Steps) == 0 || p.Verdict != Act && len(p.Steps) > 0 {
		return fmt.Errorf("verdict %d with %d steps", p.Verdict, len(p.Steps))
	}
	for _, s := range p.Steps {
		if s.To < 0 || s.From == s.To {
			return fmt.Errorf("senseless step %+v", s)
		}
	}
	for _, check := range []func(in, out Input, p Plan) error{
		surge, availability, noOrphan, ratio, monotonic, target,
	} {
		if err := check(in, out, p); err != nil {
			return err
		}
	}
	return nil
}

func surge(in, out Input, _ Plan) error {
	for i, r := range in.Roles {
		if out.New[i].Spec <= in.New[i].Spec {
			continue
		}
		old, _, _ := in.old(i)
		total := old + out.New[i].Spec
		if total <= r.Target+r.Surge {
			continue
		}
		// Guarantee 3 goes first: the role was missing beside others.
		if out.New[i].Spec == 1 && !whole(in, in.New, true) {
			continue
		}
		borrowed := out.New[i].Spec == in.New[i].Spec+1 && !movesWhenReady(in)
		if running(in) == 1 {
			borrowed = borrowed && old == 1 && r.Surge == 0 && total == r.Target+1 && guardedBesides(in, i)
		}
		if !borrowed {
			return fmt.Errorf("surge of %s: %d old + %d new of %d+%d", r.Name, old, out.New[i].Spec, r.Target, r.Surge)
		}
	}
	return nil
}

func running(in Input) int {
	n := 0
	for _, counts := range in.Old {
		if slices.ContainsFunc(counts, func(c Count) bool { return c.Spec > 0 }) {
			n++
		}
	}
	return n
}

// movesWhenReady says that, without a loan, something moves once every new
// replica is ready.
func movesWhenReady(in Input) bool {
	ready := apply(in, Plan{}, all)
	for i := range ready.New {
		ready.New[i].Ready = ready.New[i].Spec
	}
	p := Compute(ready)
	return p.Verdict == Act && !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Reason == Borrow })
}

// guardedBesides says that another role than i may not go: its floor is above
// zero, or its target rose above what is there.
func guardedBesides(in Input, i int) bool {
	for j, r := range in.Roles {
		if old, _, baseline := in.old(j); j != i && r.active() && old > 0 &&
			(r.Target-r.Unavailable > 0 || r.Target > baseline && old+in.New[j].Spec < r.Target) {
			return true
		}
	}
	return false
}

func availability(in, out Input, p Plan) error {
	for i, r := range in.Roles {
		oldSpec, oldReady, baseline := in.old(i)
		_, oldReadyAfter, _ := out.old(i)
		before, after := oldReady+in.New[i].sane().Ready, oldReadyAfter+out.New[i].sane().Ready
		if !r.active() || completed(in, p) {
			continue
		}
		if floor := r.Target - r.Unavailable; after < min(before, floor) {
			return fmt.Errorf("availability of %s: ready %d to %d, floor %d", r.Name, before, after, floor)
		}
		if r.Target > baseline && oldSpec+in.New[i].Spec < r.Target && oldReadyAfter < oldReady {
			return fmt.Errorf("availability of %s: an old ready replica went before the raised target was caught up with", r.Name)
		}
	}
	return nil
}

// completed says that the plan empties a revision that lacked a role, which
// guarantee 3 puts before availability.
func completed(in Input, p Plan) bool {
	for _, s := range p.Steps {
		if s.Revision != Current && !whole(in, in.Old[s.Revision], false) {
			return true
		}
	}
	return false
}

func noOrphan(_, out Input, _ Plan) error {
	for k := range out.Old {
		if !whole(out, out.Old[k], false) {
			return fmt.Errorf("orphan role in old revision %d: %v", k, out.Old[k])
		}
	}
	if !whole(out, out.New, true) {
		return fmt.Errorf("orphan role in the new revision: %v", out.New)
	}
	return nil
}

func ratio(in, out Input, _ Plan) error {
	smallest := 0
	for _, r := range in.Roles {
		if r.active() && (smallest == 0 || r.Target < smallest) {
			smallest = r.Target
		}
	}
	for i, a := range in.Roles {
		if !a.active() || out.New[i].Spec <= in.New[i].Spec {
			continue
		}
		for j, b := range in.Roles {
			// new_a/target_a - new_b/target_b < 1/smallest
			if b.active() && (out.New[i].Spec*b.Target-out.New[j].Spec*a.Target)*smallest >= a.Target*b.Target {
				return fmt.Errorf("ratio: %s %d/%d leads %s %d/%d", a.Name, out.New[i].Spec, a.Target, b.Name, out.New[j].Spec, b.Target)
			}
		}
	}
	return nil
}

func monotonic(in, out Input, _ Plan) error {
	newest := in.draining()
	for k := range in.Old {
		for i, r := range in.Roles {
			before, after := in.Old[k][i].Spec, out.Old[k][i].Spec
			old, _, _ := in.old(i)
			switch {
			case after > before:
				return fmt.Errorf("monotonic: old revision %d of %s grows", k, r.Name)
			case after == before || k == newest || r.absent() || !whole(in, in.Old[k], false):
			case old+in.New[i].Spec <= r.Target+r.Surge || in.Old[newest][i].Spec > 1:
				return fmt.Errorf("monotonic: older revision %d of %s is touched before the newer is gone", k, r.Name)
			}
		}
	}
	return nil
}

// target says that the new side moves towards its target and never past it.
func target(in, out Input, _ Plan) error {
	for i, r := range in.Roles {
		before, after, want := in.New[i].Spec, out.New[i].Spec, r.sane().Target
		if after > before && after > want || after < before && after != want {
			return fmt.Errorf("scaling of %s: new %d to %d, target %d", r.Name, before, after, want)
		}
	}
	return nil
}

// bound is how many acting plans a state may take to its end: each of them
// brings a replica nearer to where it belongs.
func bound(in Input) int {
	n := 1
	for i, r := range in.Roles {
		old, _, _ := in.old(i)
		n += old + in.New[i].Spec + r.Target
	}
	return n
}

// finish makes the new replicas ready whenever the plan waits and returns the
// error of the first plan that breaks a guarantee, or of an end that does not
// come. Old replicas never become ready: a broken revision blocks nobody.
func finish(in Input) error {
	for acts, most := 0, bound(in); acts <= most; {
		p := Compute(in)
		if err := violation(in, p); err != nil {
			return fmt.Errorf("%v: %w", in, err)
		}
		switch p.Verdict {
		case Done:
			return ended(in)
		case Act:
			acts++
			in = apply(in, p, all)
		case Wait:
			if !ready(&in) {
				return fmt.Errorf("%v: waits for ever: %s %s", in, p.Reason, in.Roles[p.Role].Name)
			}
		}
	}
	return fmt.Errorf("%v: no end", in)
}

// ready makes every new replica ready and says whether that changed anything.
func ready(in *Input) bool {
	changed := false
	for i := range in.New {
		c := &in.New[i]
		changed = changed || c.Ready < c.Spec
		c.Ready = c.Spec
	}
	return changed
}

func ended(in Input) error {
	for i, r := range in.Roles {
		if old, _, _ := in.old(i); old != 0 || in.New[i].Spec != r.sane().Target {
			return fmt.Errorf("done with %d old and %d new of %d %s", old, in.New[i].Spec, r.Target, r.Name)
		}
	}
	return nil
}
