package revision

import (
	"cmp"
	"slices"
)

// Existing is a revision that has LeaderWorkerSets in some slice.
type Existing struct {
	Revision string
	Slice    int
	Roles    []Role
}

// Current is the revision of the spec's roles: the one with their hash or, if
// nothing exists of that, one that is believed, of the lowest slice and then of
// the first name.
func Current(roles []Role, existing []Existing) string {
	hash := Hash(roles)
	var believed []Existing
	for _, e := range existing {
		if e.Revision == hash {
			return hash
		}
		if sameRoles(roles, e.Roles) {
			believed = append(believed, e)
		}
	}
	if len(believed) == 0 {
		return hash
	}
	first := slices.MinFunc(believed, func(a, b Existing) int {
		return cmp.Or(cmp.Compare(a.Slice, b.Slice), cmp.Compare(a.Revision, b.Revision))
	})
	return first.Revision
}

// sameRoles says whether two sets of roles have the same names and meanings,
// whatever their order.
func sameRoles(a, b []Role) bool {
	if len(a) != len(b) {
		return false
	}
	return !slices.ContainsFunc(a, func(role Role) bool {
		return !slices.ContainsFunc(b, func(other Role) bool {
			return role.Name == other.Name && role.Meaning.Equal(other.Meaning)
		})
	})
}
