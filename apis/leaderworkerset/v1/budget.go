package v1

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// RolloutBudget bounds a rollout, in groups.
type RolloutBudget struct {
	// MaxSurge is how many groups may exist above the desired number.
	MaxSurge int32

	// MaxUnavailable is how many groups the rollout may take out of service.
	MaxUnavailable int32
}

// Partition is the index below which groups keep the older revision.
func Partition(set *LeaderWorkerSet) int32 {
	if config := set.Spec.RolloutStrategy.RollingUpdateConfiguration; config != nil {
		return max(valueOr(config.Partition, 0), 0)
	}
	return 0
}

// Budget is the rollout budget of the set for its desired number of groups.
func Budget(set *LeaderWorkerSet) RolloutBudget {
	return BudgetFor(set.Spec.RolloutStrategy.RollingUpdateConfiguration, Replicas(set))
}

// BudgetFor resolves a configuration, which may be absent, for a number of
// groups: a surge rounds up, unavailable rounds down, and both are at most that
// number. When both come out as zero, unavailable counts as 1, since nothing could ever
// move otherwise:
//
//	5 groups, maxUnavailable 10%, maxSurge 0   → 0 unavailable by rounding → 1
//	5 groups, maxUnavailable 0, maxSurge 10%   → 1 surge
func BudgetFor(config *RollingUpdateConfiguration, replicas int32) RolloutBudget {
	budget := RolloutBudget{MaxSurge: DefaultMaxSurge, MaxUnavailable: DefaultMaxUnavailable}
	if config != nil {
		budget.MaxSurge = groups(config.MaxSurge, replicas, DefaultMaxSurge, true)
		budget.MaxUnavailable = groups(config.MaxUnavailable, replicas, DefaultMaxUnavailable, false)
	}
	budget.MaxSurge = min(budget.MaxSurge, replicas)
	budget.MaxUnavailable = min(budget.MaxUnavailable, replicas)
	if budget.MaxSurge == 0 && budget.MaxUnavailable == 0 {
		budget.MaxUnavailable = 1
	}
	return budget
}

// BudgetRoundsToZero is whether both budgets come out as zero for a number of
// groups above zero, so that unavailable counts as 1 against what is written.
func BudgetRoundsToZero(config *RollingUpdateConfiguration, replicas int32) bool {
	if config == nil || replicas == 0 {
		return false
	}
	return groups(config.MaxSurge, replicas, DefaultMaxSurge, true) == 0 &&
		groups(config.MaxUnavailable, replicas, DefaultMaxUnavailable, false) == 0
}

// groups resolves a number or percentage. What is no percentage, which the schema
// refuses, counts as absent.
func groups(value *intstr.IntOrString, replicas, fallback int32, roundUp bool) int32 {
	if value == nil {
		return fallback
	}
	if value.Type == intstr.Int {
		return max(value.IntVal, 0)
	}
	digits, isPercent := strings.CutSuffix(value.StrVal, "%")
	percent, err := strconv.ParseInt(digits, 10, 32)
	if !isPercent || err != nil || percent < 0 {
		return fallback
	}
	hundredths := int64(replicas) * min(percent, 100)
	if roundUp {
		hundredths += 99
	}
	return int32(hundredths / 100)
}
