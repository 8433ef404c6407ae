package leaderworkerset

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// ordinal: a StatefulSet owns the leaders, groups are numbered, and a plan replaces
// them one by one under the same name.
type ordinal struct{}

func (ordinal) observe(ctx context.Context, r *Reconciler, seen *observation) error {
	name := types.NamespacedName{Namespace: seen.Set.Namespace, Name: identity.LeaderStatefulSetName(seen.Set.Name)}
	var err error
	seen.StatefulSet, err = get(ctx, r.client, name, &appsv1.StatefulSet{})
	seen.Claim = claimOfStatefulSet(seen.Set, seen.StatefulSet)
	return err
}

func (ordinal) current(seen *observation, update string) string {
	return currentRevisionOf(seen.Set.Status.CurrentRevision, update, lwsv1.Replicas(seen.Set), seen.Groups)
}

func (ordinal) tally(seen *observation, update, _ string) tally {
	return tallyOf(lwsv1.Replicas(seen.Set), lwsv1.Partition(seen.Set), update, seen.Groups)
}

func (ordinal) counts(seen *observation, update, current string) countsRule {
	return countsRule{Alive: livingEntries(seen, update, current)}
}

func (ordinal) plan(seen *observation, p *plan) error {
	p.Rollout = rollout.Compute(rolloutInput(seen, p.Revision.Key))
	p.Delete = chosen(seen.Groups, p.Rollout.Delete)
	p.RolledOut = p.Rollout.Phase == rollout.Done
	var err error
	p.Leaders, err = planStatefulSet(seen, p.Revision.Key, p.Rollout.Spec)
	return err
}
