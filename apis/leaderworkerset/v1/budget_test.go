package v1_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

func TestBudget(t *testing.T) {
	for name, c := range map[string]struct {
		replicas           int32
		unavailable, surge string
		want               lwsv1.RolloutBudget
		rounds             bool
	}{
		"numbers":                       {5, "2", "3", lwsv1.RolloutBudget{MaxUnavailable: 2, MaxSurge: 3}, false},
		"unavailable rounds down":       {5, "50%", "1", lwsv1.RolloutBudget{MaxUnavailable: 2, MaxSurge: 1}, false},
		"surge rounds up":               {5, "0", "50%", lwsv1.RolloutBudget{MaxUnavailable: 0, MaxSurge: 3}, false},
		"a little surge":                {5, "0%", "1%", lwsv1.RolloutBudget{MaxUnavailable: 0, MaxSurge: 1}, false},
		"all":                           {5, "100%", "100%", lwsv1.RolloutBudget{MaxUnavailable: 5, MaxSurge: 5}, false},
		"unavailable is capped":         {5, "9", "0", lwsv1.RolloutBudget{MaxUnavailable: 5, MaxSurge: 0}, false},
		"surge is capped":               {5, "0", "9", lwsv1.RolloutBudget{MaxUnavailable: 0, MaxSurge: 5}, false},
		"rounds to zero":                {5, "10%", "0", lwsv1.RolloutBudget{MaxUnavailable: 1, MaxSurge: 0}, true},
		"enough for one":                {10, "10%", "0", lwsv1.RolloutBudget{MaxUnavailable: 1, MaxSurge: 0}, false},
		"written as zero long ago":      {5, "0", "0", lwsv1.RolloutBudget{MaxUnavailable: 1, MaxSurge: 0}, true},
		"no groups":                     {0, "0", "1", lwsv1.RolloutBudget{MaxUnavailable: 1, MaxSurge: 0}, false},
		"a million groups":              {1_000_000, "33%", "33%", lwsv1.RolloutBudget{MaxUnavailable: 330_000, MaxSurge: 330_000}, false},
		"no percentage counts as unset": {5, "half", "-5%", lwsv1.RolloutBudget{MaxUnavailable: 1, MaxSurge: 0}, false},
		"beyond 100% counts as 100%":    {5, "200%", "300%", lwsv1.RolloutBudget{MaxUnavailable: 5, MaxSurge: 5}, false},
		"negative counts as zero":       {5, "-2", "-3", lwsv1.RolloutBudget{MaxUnavailable: 1, MaxSurge: 0}, true},
	} {
		t.Run(name, func(t *testing.T) {
			set := lwstest.New("s").Replicas(c.replicas).MaxUnavailable(c.unavailable).MaxSurge(c.surge).Obj()
			if got := lwsv1.Budget(set); got != c.want {
				t.Errorf("budget is %+v, want %+v", got, c.want)
			}
			config := set.Spec.RolloutStrategy.RollingUpdateConfiguration
			if got := lwsv1.BudgetRoundsToZero(config, c.replicas); got != c.rounds {
				t.Errorf("rounds to zero: %v, want %v", got, c.rounds)
			}
		})
	}
}

func TestBudgetOfNothingWritten(t *testing.T) {
	want := lwsv1.RolloutBudget{MaxUnavailable: 1, MaxSurge: 0}
	for name, config := range map[string]*lwsv1.RollingUpdateConfiguration{"absent": nil, "empty": {}} {
		if got := lwsv1.BudgetFor(config, 5); got != want {
			t.Errorf("%s: budget is %+v, want %+v", name, got, want)
		}
		if lwsv1.BudgetRoundsToZero(config, 5) {
			t.Errorf("%s: rounds to zero", name)
		}
	}
}

// Whatever is written, a rollout can move, and no budget is larger than the set.
func TestBudgetProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Custom(func(t *rapid.T) *intstr.IntOrString {
			switch rapid.IntRange(0, 3).Draw(t, "form") {
			case 0:
				return nil
			case 1:
				number := intstr.FromInt32(rapid.Int32().Draw(t, "number"))
				return &number
			case 2:
				percent := intstr.FromString(fmt.Sprintf("%d%%", rapid.IntRange(0, 100).Draw(t, "percent")))
				return &percent
			}
			text := intstr.FromString(rapid.String().Draw(t, "text"))
			return &text
		})
		config := &lwsv1.RollingUpdateConfiguration{MaxUnavailable: value.Draw(t, "maxUnavailable"), MaxSurge: value.Draw(t, "maxSurge")}
		replicas := rapid.Int32Range(0, 1_000_000).Draw(t, "replicas")
		got := lwsv1.BudgetFor(config, replicas)
		if got.MaxSurge < 0 || got.MaxSurge > replicas {
			t.Fatalf("surge is %d of %d", got.MaxSurge, replicas)
		}
		if got.MaxUnavailable < 0 || got.MaxUnavailable > max(replicas, 1) || got.MaxSurge+got.MaxUnavailable < 1 {
			t.Fatalf("nothing can move with %+v", got)
		}
	})
}
