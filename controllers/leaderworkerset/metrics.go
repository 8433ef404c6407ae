package leaderworkerset

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/metrics"
	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// sampleOf is a set in the words of its metrics.
func sampleOf(t tally, groups []groupState, moves rollout.Verdict, computed []metav1.Condition, now time.Time) metrics.Sample {
	sample := metrics.Sample{Now: now, Desired: t.Desired, Ready: t.Ready, Groups: make([]metrics.Group, 0, len(groups))}
	for i := range groups {
		g := &groups[i]
		sample.Groups = append(sample.Groups, metrics.Group{Leader: g.Leader.UID, Created: g.Created, State: stateOf(g)})
	}
	updating := meta.FindStatusCondition(computed, lwsv1.ConditionUpdateInProgress)
	if updating != nil && updating.Status == metav1.ConditionTrue {
		sample.RollingSince = updating.LastTransitionTime.Time
	}
	if moves.Phase == rollout.Acting {
		sample.Step = moves.Message
	}
	return sample
}

func stateOf(g *groupState) metrics.State {
	switch {
	case g.Exhausted:
		return metrics.Exhausted
	case g.Terminating:
		return metrics.Terminating
	case g.Gated:
		return metrics.Gated
	case g.Unschedulable:
		return metrics.Unschedulable
	case g.Ready:
		return metrics.Ready
	default:
		return metrics.Starting
	}
}
