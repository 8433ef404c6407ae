package children

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Budget bounds the rollout of a role in a slice.
type Budget struct {
	Surge       int
	Unavailable int
}

// Defaults of a role's budgets, which differ from those of a LeaderWorkerSet: the
// roles of a set start beside the old ones.
const (
	defaultSurge       = 1
	defaultUnavailable = 0
)

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
	config := spec.RolloutStrategy.RollingUpdateConfiguration
	if config == nil {
		return Budget{Surge: defaultSurge, Unavailable: defaultUnavailable}
	}
	return Budget{
		Surge:       resolve(config.MaxSurge, target, true, defaultSurge),
		Unavailable: resolve(config.MaxUnavailable, target, false, defaultUnavailable),
	}
}

func resolve(value *intstr.IntOrString, target int, roundUp bool, fallback int) int {
	if value == nil {
		return fallback
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(value, target, roundUp)
	if err != nil {
		return fallback
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
