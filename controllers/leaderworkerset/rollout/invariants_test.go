package rollout_test

import (
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// violation says what is wrong with a plan for an input, or "". It counts
// everything again by the words of the specification, in its own way.
func violation(in rollout.Input, p rollout.Plan) string {
	if again := rollout.Compute(reversed(in)); !same(p, again) {
		return "another order of the groups gives another plan: " + cmp.Diff(p, again)
	}
	for _, check := range []func(rollout.Input, rollout.Plan) string{
		wrongSpec, wrongDeletion, wrongBudget, wrongPhase,
	} {
		if text := check(in, p); text != "" {
			return text
		}
	}
	return ""
}

func same(a, b rollout.Plan) bool {
	return a.Spec == b.Spec && a.Verdict == b.Verdict && a.Counts == b.Counts &&
		slices.Equal(a.Delete, b.Delete) && slices.Equal(a.Release, b.Release)
}

func reversed(in rollout.Input) rollout.Input {
	in.Groups = slices.Clone(in.Groups)
	slices.Reverse(in.Groups)
	return in
}

func wrongSpec(in rollout.Input, p rollout.Plan) string {
	surge := min(in.MaxSurge, in.Replicas)
	switch s := p.Spec; {
	case s.Replicas != in.Replicas+s.Surge || s.Surge < 0 || s.Surge > surge:
		return fmt.Sprintf("%+v: replicas beyond %d and %d surge", s, in.Replicas, surge)
	case s.OnDelete && s.Partition != 0:
		return fmt.Sprintf("%+v: OnDelete has no partition", s)
	case !s.OnDelete && s.Partition < in.Partition:
		return fmt.Sprintf("%+v: partition below the user's", s)
	case !s.Rolling && s.Baseline != 0:
		return fmt.Sprintf("%+v: a baseline without a rollout", s)
	}
	// Whatever the plan deletes or not, the StatefulSet controller has no
	// admitted leader to delete by itself.
	for _, g := range in.Groups {
		if !p.Spec.OnDelete && g.Leader == rollout.Live && !g.Updated &&
			g.Index >= p.Spec.Partition && g.Index < p.Spec.Replicas {
			return fmt.Sprintf("%+v: group %d is left to the StatefulSet controller", p.Spec, g.Index)
		}
	}
	return ""
}

func wrongDeletion(in rollout.Input, p rollout.Plan) string {
	var previous []int
	for _, d := range p.Delete {
		g := groupAt(in, d.Index)
		if slices.Contains(previous, d.Index) || !rightCause(in, g, d.Cause) {
			return fmt.Sprintf("%+v of %+v", d, g)
		}
		previous = append(previous, d.Index)
	}
	for _, i := range p.Release {
		g := groupAt(in, i)
		if g.Leader != rollout.Retained || i < p.Spec.Replicas && (g.Updated || i < in.Partition) {
			return fmt.Sprintf("released %+v", g)
		}
	}
	if now := in.StatefulSet; len(p.Delete)+len(p.Release) > 0 && !(now.Observed && !now.OldTemplate) {
		return "acts before the StatefulSet is observed"
	}
	return ""
}

func groupAt(in rollout.Input, index int) rollout.Group {
	for _, g := range in.Groups {
		if g.Index == index {
			return g
		}
	}
	return rollout.Group{Index: -1, Leader: "absent"}
}

func rightCause(in rollout.Input, g rollout.Group, cause rollout.Cause) bool {
	replaced := g.Leader == rollout.Live && !g.Updated && g.Index >= in.Partition
	switch cause {
	case rollout.Outdated:
		return replaced && g.Ready
	case rollout.OutdatedBroken:
		return replaced && !g.Ready
	case rollout.WrongRevision:
		return g.Leader == rollout.Gated && !in.Admits(g) && !(g.Index < in.Partition && g.Current)
	}
	return false
}

// wrongBudget: ready groups are counted before and after the plan, in the
// desired groups and in the surge groups that exist anyway.
func wrongBudget(in rollout.Input, p rollout.Plan) string {
	maxUnavailable := in.MaxUnavailable
	if maxUnavailable == 0 && min(in.MaxSurge, in.Replicas) == 0 {
		maxUnavailable = 1
	}
	if text := wrongSpared(in, p); text != "" {
		return text
	}
	floor := max(0, in.Replicas-maxUnavailable-p.Counts.Spared)
	kept := min(max(0, in.StatefulSet.Surge), in.MaxSurge, in.Replicas)
	before, stand := readyBelow(in, in.Replicas+kept), readyBelow(in, p.Spec.Replicas)
	after := stand
	for _, d := range p.Delete {
		if g := groupAt(in, d.Index); d.Cause == rollout.Outdated && g.Index < p.Spec.Replicas {
			after--
		}
	}
	if after < stand && after < floor {
		return fmt.Sprintf("deletions leave %d ready, floor %d", after, floor)
	}
	if fit := p.Counts.Remaining-p.Counts.Spared <= maxUnavailable; !fit && stand < min(before, floor) {
		return fmt.Sprintf("surge that goes leaves %d ready of %d, floor %d", stand, before, floor)
	}
	return ""
}

// wrongSpared: only groups that cannot be scheduled are spared, and no more than
// had no place when the rollout began.
func wrongSpared(in rollout.Input, p rollout.Plan) string {
	unschedulable := 0
	for _, g := range in.Groups {
		if g.Index < in.Replicas && g.Unschedulable {
			unschedulable++
		}
	}
	began := in.Replicas
	if in.StatefulSet.Rolling {
		began = max(0, in.StatefulSet.Baseline)
	} else if old := in.StatefulSet.Replicas - in.StatefulSet.Surge; old > 0 {
		began = min(old, in.Replicas) - unschedulable
	}
	if n := p.Counts.Spared; n < 0 || n > unschedulable || n > max(0, in.Replicas-began) {
		return fmt.Sprintf("%d groups spared of %d that cannot be scheduled, %d had a place", n, unschedulable, began)
	}
	return ""
}

func readyBelow(in rollout.Input, index int) int {
	n := 0
	for _, g := range in.Groups {
		if g.Leader == rollout.Live && g.Ready && g.Index < index {
			n++
		}
	}
	return n
}

func wrongPhase(in rollout.Input, p rollout.Plan) string {
	acts := p.Spec != in.StatefulSet.Spec || len(p.Delete)+len(p.Release) > 0
	switch {
	case p.Reason == "" || p.Message == "":
		return "no reason or message"
	case acts != (p.Phase == rollout.Acting):
		return fmt.Sprintf("acts %v in phase %s", acts, p.Phase)
	case p.Phase == rollout.Done && p.Counts.Remaining+p.Counts.Outdated > 0:
		return fmt.Sprintf("done with %+v", p.Counts)
	}
	return ""
}
