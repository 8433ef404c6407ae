package group

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// observeNamesake looks for another group of the set that is called like the group of
// a gated leader: names have only the first digits of a key. What is past its gate is
// seen by all that come after it, since one cache shows them in the order in which
// they were made.
func (r *Reconciler) observeNamesake(ctx context.Context, o *observation) error {
	if !o.isKeyedAtGate() {
		return nil
	}
	var err error
	if o.Namesake, err = r.leaderOfNamesake(ctx, o.Group); err != nil || o.Namesake != "" {
		return err
	}
	o.Namesake, err = r.objectOfNamesake(ctx, o.Group)
	return err
}

// leaderOfNamesake is a leader of another group of the name, empty if there is none.
func (r *Reconciler) leaderOfNamesake(ctx context.Context, group identity.Group) (string, error) {
	var leaders corev1.PodList
	name := types.NamespacedName{Namespace: group.Namespace, Name: group.Name()}
	err := r.client.List(ctx, &leaders, client.InNamespace(name.Namespace),
		client.MatchingFields{identity.KeyedLeadersByNameIndex: name.String()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return "", fmt.Errorf("leaders of groups %s: %w", name, err)
	}
	for i := range leaders.Items {
		if other, ok := identity.GroupOfPod(&leaders.Items[i]); ok && isNamesake(group, other) {
			return "that of leader " + leaders.Items[i].Name, nil
		}
	}
	return "", nil
}

// objectOfNamesake is another object of such a group, whose leader may be gone.
func (r *Reconciler) objectOfNamesake(ctx context.Context, group identity.Group) (string, error) {
	name := types.NamespacedName{Namespace: group.Namespace, Name: group.Name()}
	workers, err := get(ctx, r.client, name, &appsv1.StatefulSet{})
	if err != nil {
		return "", err
	}
	if other, ok := groupOfWorkers(workers); ok && isNamesake(group, other) {
		return "one that StatefulSet " + name.Name + " is left of", nil
	}
	service, err := get(ctx, r.client, name, &corev1.Service{})
	if err != nil || service == nil {
		return "", err
	}
	if other, ok := identity.GroupOfService(service, service.Spec.Selector); ok && isNamesake(group, other) {
		return "one that Service " + name.Name + " is left of", nil
	}
	return "", nil
}

func isNamesake(group, other identity.Group) bool {
	return other.Set == group.Set && other.Index != group.Index && other.Name() == group.Name()
}

// redraw ends a gated leader whose group would be called like another one. It has
// nothing yet, and the next leader draws another key. Of two that are both gated both
// go: that needs no order of them.
func (p *plan) redraw(o *observation) {
	message := fmt.Sprintf("Leader %s is replaced: its group would be called %s, like %s", o.Leader.Name, o.Group.Name(), o.Namesake)
	p.Held = gateVerdict{gateConflict, message}
	p.do(deleteLeader{Leader: o.Leader.pod})
	p.tell(nameConflict(message))
}

// isOfOthers says whether a StatefulSet of the name of a group's workers is another
// group's, or belongs to another set: the leaders of a set x-0 are called like the
// workers of x's group 0.
func isOfOthers(workers *appsv1.StatefulSet, group identity.Group) bool {
	controller := controllerOf(workers)
	if controller.Kind == setKind.Kind && controller.Name != group.Set {
		return true
	}
	other, ok := groupOfWorkers(workers)
	return ok && isNamesake(group, other)
}
