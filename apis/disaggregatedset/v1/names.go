package v1

import (
	"strconv"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// RevisionLength is the length of the hash of a revision.
const RevisionLength = 8

// NameRoom is how many characters the name of the set or of the role could be longer;
// below 0, by how many they are too long. It counts the longest LeaderWorkerSet of
// the role, <set>-<highest slice>-<revision>-<role>, against the longest name that a
// LeaderWorkerSet of the role may have. The rules of the kind say the same.
func NameRoom(set *DisaggregatedSet, role *DisaggregatedRoleSpec) int {
	dashes := len("---")
	slice := len(strconv.Itoa(int(Slices(set)) - 1))
	return lwsv1.LongestName(RoleLeaderWorkerSet(role)) - len(set.Name) - slice - RevisionLength - len(role.Name) - dashes
}
