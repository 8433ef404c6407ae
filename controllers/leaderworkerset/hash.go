package leaderworkerset

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// hash: a Deployment owns the leaders by its ReplicaSets, groups are named by keys, and
// the Deployment replaces them by groups of other keys.
//
// Groups that are going are not counted, as the Deployment does not count them: they
// come on top of what the set asks for.
type hash struct{}

func (hash) observe(ctx context.Context, r *Reconciler, seen *observation) error {
	name := types.NamespacedName{Namespace: seen.Set.Namespace, Name: identity.LeaderDeploymentName(seen.Set.Name)}
	var err error
	if seen.Deployment, err = get(ctx, r.client, name, &appsv1.Deployment{}); err != nil {
		return err
	}
	seen.Claim = claimOfDeployment(seen.Set, seen.Deployment)
	if seen.Deployment == nil {
		return nil
	}
	var replicaSets appsv1.ReplicaSetList
	if err := r.listOfSet(ctx, seen.Set, &replicaSets, identity.ReplicaSetsBySetIndex); err != nil {
		return err
	}
	for _, replicaSet := range pointers(replicaSets.Items) {
		if isControlledBy(replicaSet, seen.Deployment) {
			seen.ReplicaSets = append(seen.ReplicaSets, replicaSet)
		}
	}
	return nil
}

// current follows the update revision when a rollout is complete: as many groups as
// the set asks for are ready and of that revision, and none of another is left. What
// the Deployment has not observed may not have begun.
func (h hash) current(seen *observation, update string) string {
	stored := seen.Set.Status.CurrentRevision
	t := h.count(seen, update)
	switch {
	case stored == "" && t.Outdated == 0, t.Settled == t.Desired && t.Outdated == 0 && isDeploymentObserved(seen.Deployment):
		return update
	case stored == "":
		return seen.running().Key
	}
	return stored
}

func isDeploymentObserved(deployment *appsv1.Deployment) bool {
	return deployment != nil && deployment.Status.ObservedGeneration >= deployment.Generation
}

func (h hash) tally(seen *observation, update, current string) tally {
	t := h.count(seen, update)
	// What is left of an older revision when all that is asked for is there is surplus.
	t.Outdated = min(t.Outdated, t.Desired-t.Settled)
	t.Unfinished = current != update && t.Settled < t.Desired
	return t
}

// count is the tally as the groups alone show it.
func (hash) count(seen *observation, update string) tally {
	t := tally{Desired: lwsv1.Replicas(seen.Set)}
	settled := int32(0)
	for _, g := range seen.Groups {
		t.Exhausted += count(g.Exhausted)
		if g.Exhausted && t.ExhaustedLeader == "" {
			t.ExhaustedLeader = g.Leader.Name
		}
		if g.Terminating || g.Ended {
			continue
		}
		updated := g.Revision == update
		t.Existing++
		t.Ready += count(g.Ready)
		t.Updated += count(updated)
		t.Outdated += count(!updated)
		t.Unschedulable += count(g.Unschedulable)
		settled += count(g.Ready && updated)
	}
	t.Settled = min(settled, t.Desired)
	t.DesiredExhausted = min(t.Exhausted, t.Desired-t.Settled)
	return t
}

// counts move from a group that is deleted to the one that replaces it, of the same
// revision, unless it is exhausted: then its count is what recovery clears. One that has
// ended is counted before it is deleted. Those of groups that are gone are kept while a
// replacement may still be to come.
func (hash) counts(seen *observation, _, _ string) countsRule {
	revisions, stays := map[string]string{}, map[string]bool{}
	for _, g := range seen.Groups {
		revisions[g.Name], stays[g.Name] = g.Revision, g.Exhausted || !g.Terminating
	}
	rule := countsRule{Moves: map[group.Entry]group.Entry{}}
	for _, g := range seen.Groups {
		if g.Replaces == "" || g.Terminating || stays[g.Replaces] {
			continue
		}
		rule.Moves[group.Entry{Revision: g.Revision, Index: g.Replaces}] = group.Entry{Revision: g.Revision, Index: g.Name}
	}
	isComplete := noneIsToCome(seen)
	rule.Alive = func(e group.Entry) bool {
		revision, exists := revisions[e.Index]
		return exists && revision == e.Revision || !exists && !isComplete
	}
	return rule
}

// noneIsToCome: as many groups stand as the set wants, and none waits for the one that it
// replaces.
func noneIsToCome(seen *observation) bool {
	standing := int32(0)
	for _, g := range seen.Groups {
		if g.Terminating || g.Ended {
			continue
		}
		if g.Gated {
			return false
		}
		standing++
	}
	return standing >= lwsv1.Replicas(seen.Set)
}

func (hash) plan(seen *observation, p *plan) error {
	template, err := leaderTemplate(seen.Realised, p.Revision.Key)
	if err != nil {
		return err
	}
	desired := desiredDeployment(seen.Realised, p.Revision.Key, template)
	p.RolledOut = p.Current == p.Revision.Key
	p.Leaders = wanted{
		Kind:    appsv1.SchemeGroupVersion.WithKind("Deployment"),
		Name:    *desired.Name,
		Desired: desired,
		Applied: func() *string { return desired.ResourceVersion },
		Live:    seen.Deployment,
		Fresh:   &appsv1.Deployment{},
		Claim:   seen.Claim,
	}
	if !seen.hasLeaders() {
		return nil
	}
	desired.WithUID(seen.Deployment.UID)
	p.Leaders.Differs, err = deploymentDiffers(desired, seen.Deployment)
	return err
}
