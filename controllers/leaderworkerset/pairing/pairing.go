package pairing

import (
	"cmp"
	"slices"
	"time"
)

// Leader is what is known of the leader of one group.
type Leader struct {
	Key string
	// Gated: it was never admitted. Going: it is being deleted, has ended, or is gone.
	Gated, Going bool
	// Decided: Replaces, the key of the group that it is paired with or empty for none,
	// holds. Of a leader that is not decided it is empty.
	Decided  bool
	Replaces string
	Created  time.Time
	// Requested is when the deletion of a going leader was requested, or when it ended
	// if that was earlier; where that is not known, the earliest time that it can have
	// been.
	Requested time.Time
	// Order counts the leaders that were seen to begin to go. It is exact where the time
	// is in seconds. 0 is before all that were seen.
	Order int
}

// moment is when a group began to go.
type moment struct {
	time  time.Time
	order int
}

func (l *Leader) moment() moment { return moment{l.Requested, l.Order} }

func (m moment) compare(other moment) int {
	return cmp.Or(cmp.Compare(m.order, other.order), m.time.Compare(other.time))
}

type candidate struct {
	key  string
	went time.Time
	// rank is when it went, or when it last lost a leader that waited for it.
	rank moment
}

// Compute pairs all waiting leaders: by key with the key of the group that each
// replaces, empty for none. leftovers are keys of groups.
func Compute(leaders []Leader, leftovers []string) map[string]string {
	open := candidates(leaders, leftovers)
	pairs := map[string]string{}
	for _, l := range waiting(leaders) {
		best := -1
		for i, c := range open {
			if !c.went.After(l.Created) && (best < 0 || c.rank.compare(open[best].rank) > 0) {
				best = i
			}
		}
		if best < 0 {
			pairs[l.Key] = ""
			continue
		}
		pairs[l.Key] = open[best].key
		open = slices.Delete(open, best, best+1)
	}
	return pairs
}

// waiting are the leaders to be paired, the oldest first.
func waiting(leaders []Leader) []Leader {
	found := slices.DeleteFunc(slices.Clone(leaders), func(l Leader) bool {
		return !l.Gated || l.Going || l.Decided
	})
	slices.SortFunc(found, func(a, b Leader) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Key, b.Key))
	})
	return found
}

// candidates are the groups that can be replaced, in an order that does not depend on
// that of the input.
func candidates(leaders []Leader, leftovers []string) []candidate {
	known, taken, passed := map[string]bool{}, map[string]bool{}, map[string]moment{}
	for i := range leaders {
		l := &leaders[i]
		known[l.Key] = true
		switch {
		case l.Replaces == "":
		case l.Gated && l.Going:
			passed[l.Replaces] = later(passed[l.Replaces], l.moment())
		default:
			taken[l.Replaces] = true
		}
	}
	var open []candidate
	add := func(key string, went moment) {
		if !taken[key] {
			open = append(open, candidate{key, went.time, later(went, passed[key])})
			taken[key] = true
		}
	}
	for i := range leaders {
		if l := &leaders[i]; l.Going && !l.Gated {
			add(l.Key, l.moment())
		}
	}
	for _, key := range leftovers {
		if !known[key] {
			add(key, moment{})
		}
	}
	slices.SortFunc(open, func(a, b candidate) int { return cmp.Compare(a.key, b.key) })
	return open
}

func later(a, b moment) moment {
	if a.compare(b) >= 0 {
		return a
	}
	return b
}
