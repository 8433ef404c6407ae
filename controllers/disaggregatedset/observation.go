package disaggregatedset

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/children"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
	"sigs.k8s.io/lws/controllers/disaggregatedset/revision"
	"sigs.k8s.io/lws/controllers/disaggregatedset/scaler"
)

// observation is all that a reconcile knows. Objects in it belong to the cache
// and are only read.
type observation struct {
	Set *dsv1.DisaggregatedSet
	Now time.Time
	// Revision is that of the spec.
	Revision string
	// Roles are those of the spec, in its order, then those that only old
	// generations have, by name.
	Roles []*role
	// Slices are those of the spec, in their order; Surplus are the others.
	Slices, Surplus []*slice
	// Strays are Services that belong to no generation.
	Strays []*corev1.Service
	// Scalers that no role needs.
	SpareScalers []*dsv1.DisaggregatedSetRoleScaler
	// Leaving and Foreign are objects with the set's labels that are not the set's
	// to write, by kind and name.
	Leaving, Foreign map[string]string
}

// role is a role of the spec or, without Spec, of an old generation.
type role struct {
	Name    string
	Spec    *dsv1.DisaggregatedRoleSpec
	Meaning revision.Meaning
	Scaling scaler.Role
	Scaler  *dsv1.DisaggregatedSetRoleScaler // nil without
	// Targets and Budgets are those in each slice of the spec.
	Targets []int
	Budgets []children.Budget
}

func (r *role) isExternal() bool { return r.Spec != nil && dsv1.IsExternal(r.Spec) }

// slice is one slice with its generations.
type slice struct {
	Index   int
	Current *generation
	// Old are the others, newest first.
	Old []*generation
	// Waits says that slice 0 is to be of the present form first.
	Waits bool
}

// generation is one revision in one slice.
type generation struct {
	Revision  string
	Sliceless bool
	Members   map[string]*member         // by role
	Services  map[string]*corev1.Service // by role
	Created   time.Time
}

// member is one LeaderWorkerSet.
type member struct {
	Key  identity.Key
	Live *lwsv1.LeaderWorkerSet
	// Baseline is what a member of an old generation was meant to have.
	Baseline int
	Replicas int
	Ready    int
}

// serves says that a member has a ready replica, and will with as many as given.
func (m *member) serves(replicas int) bool { return m != nil && min(m.Ready, replicas) > 0 }

// isEmpty says that no member has replicas.
func (g *generation) isEmpty() bool {
	for _, m := range g.Members {
		if m.Replicas > 0 {
			return false
		}
	}
	return true
}

// isPartial says that some members have replicas and others have none.
func (g *generation) isPartial() bool {
	some, lacks := false, false
	for _, m := range g.Members {
		some, lacks = some || m.Replicas > 0, lacks || m.Replicas == 0
	}
	return some && lacks
}

// isRolling says that an old generation has replicas.
func (s *slice) isRolling() bool {
	for _, g := range s.Old {
		if !g.isEmpty() {
			return true
		}
	}
	return false
}
