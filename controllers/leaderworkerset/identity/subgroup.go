package identity

import (
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// SubGroups is the division of a group into subgroups.
type SubGroups struct {
	// Size is the number of pods of the group.
	Size int32
	// SubGroupSize is the number of pods of a subgroup, at least 1.
	SubGroupSize int32
	Type         lwsv1.SubGroupPolicyType
}

// Index is the subgroup of a member, false for a leader that is in none.
//
// With 5 pods in subgroups of 2, LeaderWorker: the leader is the extra pod of
// subgroup 0, which is {0 1 2}; the other is {3 4}. With 4 pods: {0 1} {2 3}. With
// LeaderExcluded and 5 pods: {1 2} {3 4}.
func (s SubGroups) Index(workerIndex int32) (int32, bool) {
	if workerIndex == 0 {
		return 0, s.Type != lwsv1.SubGroupPolicyTypeLeaderExcluded
	}
	return (workerIndex - s.firstMember()) / s.SubGroupSize, true
}

// Members are the worker indexes of a subgroup from first to last, both
// included. The leader, where it is an extra pod of subgroup 0, is part of it.
func (s SubGroups) Members(subGroup int32) (first, last int32) {
	first = subGroup*s.SubGroupSize + s.firstMember()
	last = int32(min(int64(first)+int64(s.SubGroupSize), int64(s.Size))) - 1
	if subGroup == 0 && s.Type != lwsv1.SubGroupPolicyTypeLeaderExcluded {
		first = 0
	}
	return first, last
}

// firstMember is the worker index from which pods are counted off into
// subgroups: 1 if the leader is not one of those counted.
func (s SubGroups) firstMember() int32 {
	if s.Type == lwsv1.SubGroupPolicyTypeLeaderExcluded || s.leaderIsExtra() {
		return 1
	}
	return 0
}

func (s SubGroups) leaderIsExtra() bool {
	return (s.Size-1)%s.SubGroupSize == 0 && s.Size%s.SubGroupSize != 0
}
