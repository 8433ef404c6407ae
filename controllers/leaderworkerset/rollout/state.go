package rollout

import (
	"cmp"
	"slices"
)

// state is an Input made sane: no negative numbers, surge within replicas, a
// budget that lets a rollout move, groups by ascending index.
type state struct {
	Input
	// end is the index after the last group that the StatefulSet is to have.
	end int
}

func newState(in Input) *state {
	in.Replicas = max(0, in.Replicas)
	in.Partition = max(0, in.Partition)
	in.MaxSurge = min(max(0, in.MaxSurge), in.Replicas)
	in.MaxUnavailable = max(0, in.MaxUnavailable)
	if in.MaxUnavailable == 0 && in.MaxSurge == 0 {
		in.MaxUnavailable = 1
	}
	in.Groups = slices.Clone(in.Groups)
	slices.SortStableFunc(in.Groups, func(a, b Group) int { return cmp.Compare(a.Index, b.Index) })
	return &state{Input: in}
}

func (s *state) count(is func(Group) bool) int {
	n := 0
	for _, g := range s.Groups {
		if is(g) {
			n++
		}
	}
	return n
}

func (s *state) has(is func(Group) bool) bool { return slices.ContainsFunc(s.Groups, is) }

// outdated groups are replaced by the rollout. Those at end and beyond go with
// the StatefulSet's replicas.
func (s *state) outdated(g Group) bool {
	return g.stands() && !g.Updated && g.Index >= s.Partition && g.Index < s.end
}

// below is the number of desired groups below the partition.
func (s *state) below() int { return min(s.Partition, s.Replicas) }

// missing counts the indices in [from, to) without a leader pod.
func (s *state) missing(from, to int) int {
	return to - from - s.count(func(g Group) bool { return g.Index >= from && g.Index < to })
}
