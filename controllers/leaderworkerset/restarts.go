package leaderworkerset

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// countsPlan is the restart counts of a set as they are to be.
type countsPlan struct {
	Restarts string // annotation group-restart-counts
	Leaders  string // annotation group-restart-leaders
	Changed  bool
	Sum      int32
	// Unreadable says what in the annotations counts as never recreated.
	Unreadable error
}

// planCounts brings the restart counts of a set up to date: what groups ask for,
// without what belongs to no group any more.
func planCounts(seen *observation, rule countsRule) countsPlan {
	counts, unreadable := group.ReadCounts(seen.Set)
	for from, to := range rule.Moves {
		counts.Move(from, to)
	}
	for _, reporter := range reporters(seen.Reports) {
		report := seen.Reports[reporter]
		if report.Restart != nil {
			counts.Raise(report.Restart.Entry, report.Restart.Leader)
		}
		if report.Recovery != nil {
			counts.Clear(*report.Recovery)
		}
	}
	counts.Keep(rule.Alive)
	p := countsPlan{Sum: counts.Sum(), Unreadable: errors.Join(unreadable...)}
	p.Restarts, p.Leaders = counts.Annotations()
	stored := seen.Set.Annotations
	p.Changed = p.Restarts != stored[lwsv1.GroupRestartCountsAnnotationKey] ||
		p.Leaders != stored[lwsv1.GroupRestartLeadersAnnotationKey]
	return p
}

// reporters are the groups with a report, in an order that does not change.
func reporters(reports map[identity.Group]group.Report) []identity.Group {
	return slices.SortedFunc(maps.Keys(reports), func(a, b identity.Group) int {
		return cmp.Or(cmp.Compare(len(a.Index), len(b.Index)), cmp.Compare(a.Index, b.Index))
	})
}

// livingEntries says which counts are of a group that exists or that is coming
// back: a desired index whose leader is being replaced keeps the counts of the
// revisions that it may come back with.
func livingEntries(seen *observation, update, current string) func(group.Entry) bool {
	running := make(map[int32]string, len(seen.Groups))
	for _, g := range seen.Groups {
		running[g.Index] = g.Revision
	}
	desired := lwsv1.Replicas(seen.Set)
	return func(e group.Entry) bool {
		ordinal, ok := identity.Group{Index: e.Index}.Ordinal()
		if !ok {
			return false
		}
		returning := ordinal < desired && (e.Revision == update || e.Revision == current)
		return returning || running[ordinal] == e.Revision
	}
}
