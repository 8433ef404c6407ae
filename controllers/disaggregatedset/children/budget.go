package children

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Budget bounds the rollout of a role in a slice.
type Budget struct {
	Surge       int
	Unavailable int
}

// BudgetOf resolves the budgets of a role for its target: a surge rounds up,
// unavailability down. Where both come out as zero, unavailability counts as 1,
// since nothing could ever move otherwise.
func BudgetOf(spec *lwsv1.LeaderWorkerSetSpec, target int) Budget {
	b := asWritten(spec, target)
	if b.isZero() {
		b.Unavailable = 1
	}
	return b
}

// RoundsToZero says that both budgets come out as zero for a target above zero.
func RoundsToZero(spec *lwsv1.LeaderWorkerSetSpec, target int) bool {
	return target > 0 && asWritten(spec, target).isZero()
}

func (b Budget) isZero() bool { return b.Surge == 0 && b.Unavailable == 0 }

func asWritten(spec *lwsv1.LeaderWorkerSetSpec, target int) Budget {
	config := dsv1.RoleRollingUpdate(spec)
	return Budget{
		Surge:       resolve(config.MaxSurge, target, true),
		Unavailable: resolve(config.MaxUnavailable, target, false),
	}
}

// resolve counts what is no percentage, which the schema refuses, as zero.
func resolve(value *intstr.IntOrString, target int, roundUp bool) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(value, target, roundUp)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// strategy writes the budgets as a LeaderWorkerSet has them.
func (b Budget) strategy() lwsv1.RolloutStrategy {
	surge, unavailable := intstr.FromInt(b.Surge), intstr.FromInt(b.Unavailable)
	return lwsv1.RolloutStrategy{
		Type: lwsv1.RollingUpdateStrategyType,
		RollingUpdateConfiguration: &lwsv1.RollingUpdateConfiguration{
			MaxSurge: &surge, MaxUnavailable: &unavailable,
		},
	}
}
