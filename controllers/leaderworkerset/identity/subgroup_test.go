package identity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

const (
	withLeader    = lwsv1.SubGroupPolicyTypeLeaderWorker
	withoutLeader = lwsv1.SubGroupPolicyTypeLeaderExcluded
)

func TestSubGroupIndex(t *testing.T) {
	// -1 stands for no subgroup.
	tests := map[string]struct {
		groups SubGroups
		want   []int32
	}{
		"size divisible":             {SubGroups{4, 2, withLeader}, []int32{0, 0, 1, 1}},
		"leader is extra":            {SubGroups{5, 2, withLeader}, []int32{0, 0, 0, 1, 1}},
		"leader is extra, of 4":      {SubGroups{9, 4, withLeader}, []int32{0, 0, 0, 0, 0, 1, 1, 1, 1}},
		"subgroup size 1":            {SubGroups{3, 1, withLeader}, []int32{0, 1, 2}},
		"one subgroup":               {SubGroups{4, 4, withLeader}, []int32{0, 0, 0, 0}},
		"one subgroup, extra":        {SubGroups{4, 3, withLeader}, []int32{0, 0, 0, 0}},
		"size 1":                     {SubGroups{1, 1, withLeader}, []int32{0}},
		"excluded":                   {SubGroups{5, 2, withoutLeader}, []int32{-1, 0, 0, 1, 1}},
		"excluded, size 1":           {SubGroups{3, 1, withoutLeader}, []int32{-1, 0, 1}},
		"excluded, group of 1":       {SubGroups{1, 1, withoutLeader}, []int32{-1}},
		"type absent is with leader": {SubGroups{4, 2, ""}, []int32{0, 0, 1, 1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []int32
			for worker := range test.groups.Size {
				index, ok := test.groups.Index(worker)
				if !ok {
					index = -1
				}
				got = append(got, index)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMembersAreThoseWithTheIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := SubGroups{
			Size:         rapid.Int32Range(1, 40).Draw(t, "size"),
			SubGroupSize: rapid.Int32Range(1, 12).Draw(t, "subGroupSize"),
			Type:         rapid.SampledFrom([]lwsv1.SubGroupPolicyType{withLeader, withoutLeader}).Draw(t, "type"),
		}
		divides := (groups.Size-1)%groups.SubGroupSize == 0 ||
			groups.Type == withLeader && groups.Size%groups.SubGroupSize == 0
		if !divides || groups.SubGroupSize > groups.Size {
			t.Skip("refused by the API")
		}
		members := map[int32][]int32{}
		for worker := range groups.Size {
			if index, ok := groups.Index(worker); ok {
				members[index] = append(members[index], worker)
			}
		}
		for subGroup, want := range members {
			first, last := groups.Members(subGroup)
			if first != want[0] || last != want[len(want)-1] || int(last-first)+1 != len(want) {
				t.Fatalf("subgroup %d of %+v: Members = %d to %d, want %v", subGroup, groups, first, last, want)
			}
			extra := len(want) == int(groups.SubGroupSize)+1 && want[0] == 0
			if len(want) != int(groups.SubGroupSize) && !extra {
				t.Fatalf("subgroup %d of %+v has %v", subGroup, groups, want)
			}
		}
	})
}

func TestMembersOfHugeSubGroups(t *testing.T) {
	const most = 1<<31 - 1
	tests := map[string]struct {
		groups      SubGroups
		first, last int32
	}{
		"with leader":    {SubGroups{most, most, withLeader}, 0, most - 1},
		"without leader": {SubGroups{most, most - 1, withoutLeader}, 1, most - 1},
		"larger":         {SubGroups{5, most, withoutLeader}, 1, 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if first, last := test.groups.Members(0); first != test.first || last != test.last {
				t.Errorf("got %d to %d, want %d to %d", first, last, test.first, test.last)
			}
		})
	}
}
