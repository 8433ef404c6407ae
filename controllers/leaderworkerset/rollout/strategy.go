package rollout

import "slices"

func (s *state) spec(b budget) Spec {
	spec := Spec{Replicas: s.end, Surge: b.surge}
	spec.Partition, spec.OnDelete = s.strategy()
	if b.surge > 0 || s.has(s.outdated) {
		spec.Rolling, spec.Baseline = true, b.baseline
	}
	return spec
}

func (s *state) strategy() (partition int, onDelete bool) {
	if !s.has(s.outdated) {
		return s.Partition, false
	}
	if !s.shielded() {
		return 0, true
	}
	safe := s.safePartition()
	if s.needsUpdate(safe) && !s.needsCurrent() {
		return 0, true
	}
	return safe, false
}

// shielded: some desired group is to come back with another revision than the
// update revision.
func (s *state) shielded() bool { return !s.CurrentIsUpdate && s.below() > 0 }

// safePartition is the lowest partition at or above the user's from which the
// StatefulSet controller finds no admitted leader to delete.
func (s *state) safePartition() int {
	safe := s.Partition
	for _, g := range s.Groups {
		if s.outdated(g) && g.live() {
			safe = max(safe, g.Index+1)
		}
	}
	return safe
}

// needsUpdate: an index between the user's partition and the safe one is empty
// or about to be, and only OnDelete fills it with the update revision.
func (s *state) needsUpdate(safe int) bool {
	return s.missing(s.Partition, safe) > 0 || s.has(func(g Group) bool {
		return s.outdated(g) && !g.live() && g.Index < safe
	})
}

// needsCurrent: an index below the user's partition is empty or about to be, and
// OnDelete would fill it with the update revision.
func (s *state) needsCurrent() bool {
	return s.missing(0, s.below()) > 0 || s.has(func(g Group) bool {
		return g.Leader == Gated && g.Index < s.below() && !g.Current
	})
}

// observes: the controller works by the strategy of spec, with the update revision.
func (s *state) observes(spec Spec) bool {
	now := s.StatefulSet
	return now.Observed && !now.OldTemplate && now.OnDelete == spec.OnDelete && now.Partition == spec.Partition
}

// strays are gated leaders of a wrong revision that come back with the right one.
func (s *state) strays(spec Spec) []Deletion {
	var strays []Deletion
	for _, g := range slices.Backward(s.Groups) {
		if s.stray(g) && s.comesBackWanted(g.Index, spec) {
			strays = append(strays, Deletion{g.Index, WrongRevision})
		}
	}
	return strays
}

func (s *state) stray(g Group) bool {
	return g.Leader == Gated && g.Index < s.end && !s.wants(g)
}

func (s *state) comesBackWanted(index int, spec Spec) bool {
	if s.CurrentIsUpdate {
		return true
	}
	updated := spec.OnDelete || index >= spec.Partition
	return updated == (index >= s.Partition)
}

// releases: exhausted groups are kept for somebody to look at, unless they are
// outdated or scaled away.
func (s *state) releases() []int {
	var released []int
	for _, g := range s.Groups {
		replaced := !g.Updated && g.Index >= s.Partition
		if g.Leader == Retained && (replaced || g.Index >= s.end) {
			released = append(released, g.Index)
		}
	}
	return released
}
