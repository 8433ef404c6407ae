package identity

import (
	"fmt"
	"strconv"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// RevisionLength is the length of a revision.
const RevisionLength = 8

// Limits of names. A StatefulSet adds 11 characters to its own name in a label of
// its pods; a ReplicaSet's key has 8 and a - of its own.
const (
	labelLimit       = 63
	statefulSetLimit = labelLimit - 11
	groupKeyLength   = 8
)

// Span is a name that is made from those of the set and a role.
type Span struct {
	Role   string
	Object string
	Name   string
	Limit  int
}

// TooLong is by how many characters the name is.
func (s Span) TooLong() int { return len(s.Name) - s.Limit }

// Left is how many characters the name of the set and that of the role may have
// together.
func (s Span) Left(set string) int { return len(set) + len(s.Role) - s.TooLong() }

// String names the object and how long it is.
func (s Span) String() string {
	return fmt.Sprintf("%s %q has %d characters, %d too many", s.Object, s.Name, len(s.Name), s.TooLong())
}

// Longest is, of all names that a role's objects have, the one that fits worst,
// with the digits of the highest slice and of the highest group and worker index.
func Longest(set *dsv1.DisaggregatedSet, role *dsv1.DisaggregatedRoleSpec) Span {
	spans := spansOf(set, role)
	worst := spans[0]
	for _, s := range spans[1:] {
		if s.TooLong() > worst.TooLong() {
			worst = s
		}
	}
	return worst
}

func spansOf(set *dsv1.DisaggregatedSet, role *dsv1.DisaggregatedRoleSpec) []Span {
	key := Key{Slice: int(dsv1.Slices(set)) - 1, Revision: "00000000", Role: role.Name}
	lws := LeaderWorkerSetName(set.Name, key)
	size := lwsv1.Size(&role.Spec.LeaderWorkerTemplate)
	asSet := dsv1.RoleLeaderWorkerSet(role)
	spans := []Span{{role.Name, "Service", ServiceName(set.Name, key), labelLimit}}
	add := func(object, name string, limit int) {
		spans = append(spans, Span{role.Name, object, name, limit})
	}
	if lwsv1.GroupIdentity(asSet) == lwsv1.HashGroupIdentity {
		group := lws + "-" + "00000000"[:groupKeyLength]
		add("leader pod", group, labelLimit)
		if size > 1 {
			add("worker StatefulSet", group, statefulSetLimit)
		}
		return spans
	}
	add("leader StatefulSet", lws, statefulSetLimit)
	highest := max(int(lwsv1.Replicas(asSet)+lwsv1.Budget(asSet).MaxSurge)-1, 0)
	group := lws + "-" + strconv.Itoa(highest)
	add("leader pod", group, labelLimit)
	if size > 1 {
		// Its pods add - and at most 10 digits, for which there is room then.
		add("worker StatefulSet", group, statefulSetLimit)
	}
	return spans
}
