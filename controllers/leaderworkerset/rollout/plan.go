package rollout

// Deletion is a leader to delete, and its group with it. The caller deletes with
// the UID of the pod that it observed.
type Deletion struct {
	Index int
	Cause Cause
}

// Cause is why a leader is deleted.
type Cause string

const (
	// OutdatedBroken groups cost nothing to replace: they are not ready.
	OutdatedBroken Cause = "OutdatedBroken"
	// Outdated groups are ready and replaced within the budget.
	Outdated Cause = "Outdated"
	// WrongRevision leaders are gated and of a revision not wanted at their index.
	WrongRevision Cause = "WrongRevision"
)

// Counts are the numbers that a plan rests on.
type Counts struct {
	// Ready and Updated count desired groups, Available the ready groups with
	// the surge groups that are kept.
	Ready, Updated, Available int
	// Outdated counts live and gated ones, surge groups included.
	Outdated  int
	Remaining int
	Floor     int
	// Spared groups cannot be scheduled and are not waited for.
	Spared int
}

// Plan is what to do now. The caller writes Spec first, if it differs from the
// StatefulSet, and then deletes and releases; everything else is left alone.
type Plan struct {
	Spec   Spec
	Delete []Deletion
	// Release are the indices of retained leaders whose finalizers are removed.
	Release []int
	Verdict
	Counts Counts
}

// Compute plans the next step from what is observed. The same input, its groups
// in any order, gives the same plan.
func Compute(in Input) Plan {
	s := newState(in)
	b := s.budget()
	s.end = s.Replicas + b.surge
	spec := s.spec(b)
	chosen, released := append(s.replacements(b), s.strays(spec)...), s.releases()

	plan := Plan{Spec: spec, Counts: s.counts(b)}
	deferred := len(chosen) + len(released)
	if s.observes(spec) {
		plan.Delete, plan.Release, deferred = chosen, released, 0
	}
	plan.Verdict = s.verdict(plan, deferred)
	return plan
}

func (s *state) counts(b budget) Counts {
	desired := func(g Group) bool { return g.Index < s.Replicas }
	return Counts{
		Ready:     s.count(func(g Group) bool { return desired(g) && g.ready() }),
		Updated:   s.count(func(g Group) bool { return desired(g) && g.stands() && g.Updated }),
		Available: b.available,
		Outdated:  s.count(s.outdated),
		Remaining: b.remaining,
		Floor:     b.floor,
		Spared:    b.spared,
	}
}
