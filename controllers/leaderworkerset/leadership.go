package leaderworkerset

import (
	"context"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
)

// leadership is the seam between the identities of groups, as far as a set goes: which
// object owns the leaders, how its groups are counted, and who replaces them. All else
// exists once.
type leadership interface {
	// observe reads the object that owns the leaders, and what is between it and them.
	observe(ctx context.Context, r *Reconciler, seen *observation) error
	// current is the key of the current revision.
	current(seen *observation, update string) string
	// tally counts the groups.
	tally(seen *observation, update, current string) tally
	// counts says which restart counts move to another group, and which are kept.
	counts(seen *observation, update, current string) countsRule
	// plan decides what becomes of the object and of the leaders.
	plan(seen *observation, p *plan) error
}

// leadershipOf is that of a set's identity, which never changes.
func leadershipOf(set *lwsv1.LeaderWorkerSet) leadership {
	if lwsv1.GroupIdentity(set) == lwsv1.HashGroupIdentity {
		return hash{}
	}
	return ordinal{}
}

// countsRule is what becomes of the restart counts of groups.
type countsRule struct {
	// Moves are from groups to those that replace them, To by From.
	Moves map[group.Entry]group.Entry
	// Alive says which counts are of a group that exists or that is coming back.
	Alive func(group.Entry) bool
}

// running is what the leaders' pod template was last written with.
type running struct {
	Key         string // of the revision, empty when there are no leaders
	Annotations map[string]string
}
