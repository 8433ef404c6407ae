package identity

import (
	"fmt"
)

const (
	// maxStatefulSetName is what a pod's label controller-revision-hash, the
	// StatefulSet's name and 11 more characters, leaves of 63.
	maxStatefulSetName = 52
	// maxHostName is the limit of a DNS label: host names and Service names.
	maxHostName = 63
)

// NameDemand is what the length of a set's name depends on.
type NameDemand struct {
	// Groups is how many groups can exist at a time, surge included.
	Groups int32
	// Size is the number of pods of a group.
	Size int32
	Hash bool
}

// NameLimit is the longest name that a set can have, and why.
type NameLimit struct {
	// MaxLength of the set's name.
	MaxLength int
	// Object is the kind of object whose name sets the limit, Name that object's
	// name for the set.
	Object, Name string
}

// Limit is the limit that a set's name reaches first.
func (d NameDemand) Limit(set string) NameLimit {
	limits := d.limits(set)
	lowest := limits[0]
	for _, limit := range limits[1:] {
		if limit.MaxLength < lowest.MaxLength {
			lowest = limit
		}
	}
	return lowest
}

// Left is how many characters the name can still grow by, negative if it is too long.
func (l NameLimit) Left(set string) int {
	return l.MaxLength - len(set)
}

// String says what the limit is and where it comes from.
func (l NameLimit) String() string {
	return fmt.Sprintf("at most %d characters, so that the name of the %s, %s, can exist", l.MaxLength, l.Object, l.Name)
}

// limits: example, Ordinal, 12 groups of 8, the set called s: the StatefulSet of
// the workers of the last group is s-11, so s has at most 52-3 characters; its
// last pod is s-11-7, so s has at most 63-5.
func (d NameDemand) limits(set string) []NameLimit {
	group := d.longestGroupName(set)
	limit := func(maxLength int, object, name string) NameLimit {
		return NameLimit{MaxLength: maxLength - (len(name) - len(set)), Object: object, Name: name}
	}
	limits := []NameLimit{limit(maxHostName, "leader's host", group)}
	if !d.Hash {
		limits = append(limits, limit(maxStatefulSetName, "leader StatefulSet", LeaderStatefulSetName(set)))
	}
	if d.Size > 1 {
		limits = append(limits,
			limit(maxStatefulSetName, "worker StatefulSet", group),
			limit(maxHostName, "worker pod", WorkerName(group, d.Size-1)))
	}
	return limits
}

func (d NameDemand) longestGroupName(set string) string {
	if d.Hash {
		return set + "-" + "01234567"[:shortKeyLength]
	}
	return LeaderName(set, max(d.Groups, 1)-1)
}
