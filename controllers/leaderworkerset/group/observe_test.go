package group

import (
	"math"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

func TestSparedBy(t *testing.T) {
	rolling := func(partition *int32) appsv1.StatefulSetUpdateStrategy {
		return appsv1.StatefulSetUpdateStrategy{
			Type:          appsv1.RollingUpdateStatefulSetStrategyType,
			RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: partition},
		}
	}
	for name, tc := range map[string]struct {
		strategy appsv1.StatefulSetUpdateStrategy
		behind   bool
		want     int32
	}{
		"below the partition":  {strategy: rolling(new(int32(3))), want: 3},
		"no partition":         {strategy: rolling(nil), want: 0},
		"nothing is said":      {want: 0},
		"OnDelete":             {strategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}, want: math.MaxInt32},
		"not yet observed":     {strategy: rolling(new(int32(3))), behind: true, want: 0},
		"OnDelete, unobserved": {strategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}, behind: true, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			leaders := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{UpdateStrategy: tc.strategy}}
			leaders.Generation, leaders.Status.ObservedGeneration = 2, 2
			if tc.behind {
				leaders.Status.ObservedGeneration = 1
			}
			if got := sparedBy(leaders); got != tc.want {
				t.Errorf("sparedBy = %d, want %d", got, tc.want)
			}
		})
	}
}
