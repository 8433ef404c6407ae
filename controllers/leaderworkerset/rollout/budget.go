package rollout

import "slices"

// budget is what the plan may spend, counted in groups.
type budget struct {
	remaining int
	baseline  int
	spared    int
	floor     int
	surge     int
	available int
}

func (s *state) budget() budget {
	b := budget{remaining: s.remaining(), baseline: s.baseline()}
	b.spared = min(s.unplaced(), s.Replicas-b.baseline)
	b.floor = max(0, s.Replicas-s.MaxUnavailable-b.spared)
	b.surge = s.surge(b)
	b.available = s.readyBelow(s.Replicas + b.surge)
	return b
}

func (s *state) remaining() int {
	done := s.count(func(g Group) bool {
		return g.ready() && g.Updated && g.Index >= s.Partition && g.Index < s.Replicas
	})
	return s.Replicas - s.below() - done
}

// baseline: a rollout that begins counts the groups that have a place. One in
// progress keeps its number, so that groups of a template that fits nowhere are
// never taken for groups that had no place before.
func (s *state) baseline() int {
	if s.StatefulSet.Rolling {
		return max(0, min(s.StatefulSet.Baseline, s.Replicas))
	}
	before := s.StatefulSet.Replicas - s.StatefulSet.Surge
	if before <= 0 { // nothing ran, or the StatefulSet was lost and its pods were not
		return s.Replicas
	}
	before = min(before, s.Replicas)
	return before - s.count(func(g Group) bool {
		return g.live() && g.Unschedulable && g.Index < before
	})
}

// unplaced counts the desired groups that cannot be scheduled although they have
// the revision they are to have. Outdated ones are replaced first: their
// successors may fit.
func (s *state) unplaced() int {
	return s.count(func(g Group) bool {
		return g.live() && g.Unschedulable && g.Index < s.Replicas &&
			(g.Updated || g.Index < s.Partition)
	})
}

// surge grows only for ready groups that wait to be replaced, never for a mere
// failure, and shrinks as the remaining groups fit into maxUnavailable: with
// maxUnavailable 1 and maxSurge 2, 4 remaining have 2 surge groups, 2 have 1,
// 1 has none.
func (s *state) surge(b budget) int {
	target := min(b.remaining-b.spared-s.MaxUnavailable, s.MaxSurge)
	if target <= 0 {
		return 0
	}
	kept := min(max(0, s.StatefulSet.Surge), s.MaxSurge)
	waiting := s.count(func(g Group) bool {
		return g.ready() && !g.Updated && g.Index >= s.Partition && g.Index < s.Replicas
	})
	surge := min(target, max(kept, waiting))
	if s.unplaced() > b.spared {
		// The scheduler places pods, not groups: surge may hold what a desired group
		// waits for, while it waits itself for what the other holds.
		surge = 0
	}
	return s.hold(surge, kept, b.floor)
}

// hold returns how many of the kept surge groups stay when surge are enough:
// highest first, they go unless a ready one is needed for the floor.
func (s *state) hold(surge, kept, floor int) int {
	ready := s.readyBelow(s.Replicas + kept)
	for _, g := range slices.Backward(s.Groups) {
		if !g.ready() || g.Index < s.Replicas+surge || g.Index >= s.Replicas+kept {
			continue
		}
		if ready <= floor {
			return g.Index - s.Replicas + 1
		}
		ready--
	}
	return surge
}

func (s *state) readyBelow(index int) int {
	return s.count(func(g Group) bool { return g.ready() && g.Index < index })
}

// replacements: broken groups all at once, whatever their index, then ready ones
// from the highest index, as many as there are above the floor.
func (s *state) replacements(b budget) []Deletion {
	var broken, ready []Deletion
	above := b.available - b.floor
	for _, g := range slices.Backward(s.Groups) {
		switch {
		case !s.outdated(g) || !g.live():
		case !g.Ready:
			broken = append(broken, Deletion{g.Index, OutdatedBroken})
		case len(ready) < above:
			ready = append(ready, Deletion{g.Index, Outdated})
		}
	}
	return append(broken, ready...)
}
