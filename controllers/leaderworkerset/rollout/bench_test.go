package rollout_test

import (
	"testing"

	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// BenchmarkCompute plans a step of a rollout of 1000 groups.
func BenchmarkCompute(b *testing.B) {
	in := rollout.Input{
		Replicas: 1000, MaxUnavailable: 250,
		StatefulSet: rollout.StatefulSet{Spec: onDelete(1000, 0), Observed: true},
	}
	for i := range 1000 {
		in.Groups = append(in.Groups, rollout.Group{
			Index: i, Leader: rollout.Live, Ready: i < 900, Updated: i >= 700, Current: i < 700,
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		if plan := rollout.Compute(in); len(plan.Delete) != 150 {
			b.Fatalf("%d deletions: %+v", len(plan.Delete), plan.Counts)
		}
	}
}
