package rollout_test

import (
	"testing"

	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// FuzzCompute feeds numbers that no caller should have, and groups of three
// bits a field.
func FuzzCompute(f *testing.F) {
	f.Add(4, 0, 1, 1, 5, 1, 0, uint8(0b01011), []byte{0, 8, 16, 24, 9})
	f.Add(3, 2, 0, 1, 3, 0, 3, uint8(0b01101), []byte{16, 16, 2})
	f.Add(0, 0, 0, 0, 0, 0, 0, uint8(0), []byte{})
	f.Add(-1, -5, -2, -3, -4, -7, -1, uint8(0xff), []byte{1, 2, 3, 64, 128, 255})
	f.Add(1<<40, 1<<30, 1<<20, 1<<40, 7, 9, 1<<35, uint8(0b01010), []byte{24, 24, 24})
	f.Fuzz(func(
		t *testing.T, replicas, partition, maxUnavailable, maxSurge, written, surge, baseline int, flags uint8, groups []byte,
	) {
		bit := func(i int) bool { return flags>>i&1 == 1 }
		const limit = 1 << 40 // far beyond what the API accepts, and no overflow
		for _, n := range []*int{&replicas, &partition, &maxUnavailable, &maxSurge, &written, &surge, &baseline} {
			*n = min(max(*n, -limit), limit)
		}
		in := rollout.Input{
			Replicas: replicas, Partition: partition, MaxUnavailable: maxUnavailable, MaxSurge: maxSurge,
			CurrentIsUpdate: bit(0),
			StatefulSet: rollout.StatefulSet{
				Spec: rollout.Spec{
					Replicas: written, Surge: surge, Partition: partition / 2,
					OnDelete: bit(1), Rolling: bit(2), Baseline: baseline,
				},
				Observed: bit(3), OldTemplate: bit(4),
			},
			Groups: fuzzGroups(groups),
		}
		plan := rollout.Compute(in)
		in.Replicas, in.Partition = max(0, replicas), max(0, partition)
		in.MaxSurge, in.MaxUnavailable = max(0, maxSurge), max(0, maxUnavailable)
		if text := violation(in, plan); text != "" {
			t.Fatalf("%s\ninput %+v\nplan  %+v", text, in, plan)
		}
	})
}

// fuzzGroups reads a group from every byte; byte 7 of 8 is a missing index.
func fuzzGroups(bytes []byte) []rollout.Group {
	leaders := []rollout.Leader{rollout.Live, rollout.Gated, rollout.Terminating, rollout.Retained, "", "unknown"}
	var groups []rollout.Group
	for i, b := range bytes {
		if b&7 < 6 {
			groups = append(groups, rollout.Group{
				Index: i, Leader: leaders[b&7], Ready: b>>3&1 == 1, Updated: b>>4&1 == 1,
				Current: b>>5&1 == 1, Unschedulable: b>>6&1 == 1,
			})
		}
	}
	return groups
}
