package v1

import (
	"strconv"
)

// Kubernetes bounds the names that are made from a set's name. The label
// controller-revision-hash of a StatefulSet's pods has the StatefulSet's name, a
// dash and up to 10 characters in 63; a host name has 63.
const (
	longestStatefulSetName = 63 - 11
	longestHostName        = 63
	hashSuffix             = 1 + 8 // a dash and the first characters of the group's key
)

// LongestName is how many characters the name of a set may have, so that every name
// made from it can exist:
//
//	Ordinal, size 1    the leader StatefulSet <set>                       52
//	Ordinal, workers   the worker StatefulSet <set>-<highest group>       51 - digits
//	Hash, size 1       the leader's host name <set>-<8 characters>        54
//	Hash, workers      the worker StatefulSet <set>-<8 characters>        43
//
// The host name of a worker, which adds a dash and up to 10 digits to the name of
// its StatefulSet, always fits when that does. The rules of the kind say the same.
func LongestName(set *LeaderWorkerSet) int {
	hasWorkers := Size(&set.Spec.LeaderWorkerTemplate) > 1
	switch {
	case GroupIdentity(set) == HashGroupIdentity && hasWorkers:
		return longestStatefulSetName - hashSuffix
	case GroupIdentity(set) == HashGroupIdentity:
		return longestHostName - hashSuffix
	case hasWorkers:
		return longestStatefulSetName - len("-") - len(strconv.Itoa(highestGroup(set)))
	}
	return longestStatefulSetName
}

// highestGroup is the highest index of a group, those of a surge included.
func highestGroup(set *LeaderWorkerSet) int {
	return max(int(Replicas(set))+int(Budget(set).MaxSurge)-1, 0)
}
