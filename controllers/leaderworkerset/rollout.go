package leaderworkerset

import (
	appsv1 "k8s.io/api/apps/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// rolloutInput is what the planner of rollouts has to know of a set.
func rolloutInput(seen *observation, update string) rollout.Input {
	budget := lwsv1.Budget(seen.Set)
	in := rollout.Input{
		Replicas:        int(lwsv1.Replicas(seen.Set)),
		Partition:       int(lwsv1.Partition(seen.Set)),
		MaxUnavailable:  int(budget.MaxUnavailable),
		MaxSurge:        int(budget.MaxSurge),
		CurrentIsUpdate: true,
	}
	leaders := seen.leaders()
	if leaders == nil {
		return in
	}
	in.StatefulSet = rollout.StatefulSet{Spec: observedSpec(leaders), Observed: isObserved(leaders, update)}
	in.CurrentIsUpdate = currentIsUpdate(leaders, seen.Groups, update)
	for _, g := range seen.Groups {
		in.Groups = append(in.Groups, rollout.Group{
			Index:         int(g.Index),
			Leader:        leaderState(g),
			Ready:         g.Ready,
			Updated:       g.Revision == update,
			Current:       g.PodRevision == leaders.Status.CurrentRevision,
			Unschedulable: g.Unschedulable,
		})
	}
	return in
}

func leaderState(g groupState) rollout.Leader {
	switch {
	case g.Terminating && g.Exhausted:
		return rollout.Retained
	case g.Terminating:
		return rollout.Terminating
	case g.Gated:
		return rollout.Gated
	default:
		return rollout.Live
	}
}

// isObserved says whether the StatefulSet controller works by the template of the
// update revision.
func isObserved(leaders *appsv1.StatefulSet, update string) bool {
	return leaders.Spec.Template.Labels[lwsv1.RevisionLabelKey] == update &&
		leaders.Status.ObservedGeneration >= leaders.Generation
}

// currentIsUpdate says whether the StatefulSet controller makes a pod below its
// partition of the update revision. Until it has observed the template, only the
// pods tell what its current revision is.
func currentIsUpdate(leaders *appsv1.StatefulSet, groups []groupState, update string) bool {
	current := leaders.Status.CurrentRevision
	if current == "" {
		return true
	}
	if isObserved(leaders, update) {
		return current == leaders.Status.UpdateRevision
	}
	for _, g := range groups {
		if g.PodRevision == current {
			return g.Revision == update
		}
	}
	return false
}
