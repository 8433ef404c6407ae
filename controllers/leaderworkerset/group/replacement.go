package group

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// replaced is what decisions have to know of the group that a gated leader replaces,
// with Hash identity. With Ordinal identity a group is replaced under its own name, and
// what is left of it is found there.
type replaced struct {
	// Key of the group, empty if the leader replaces none.
	Key string
	// Stored: the pair is stored on the leader.
	Stored bool
	// Retained is the name of the leader of an exhausted group, empty if it is none.
	Retained string
	// Left are its pods, Object another object of it, empty if there is none.
	Left   []pod
	Object string
}

// observeReplaced reads the group that the leader replaces.
func (r *Reconciler) observeReplaced(ctx context.Context, o *observation) error {
	if !o.isKeyedAtGate() {
		return nil
	}
	o.Replaced = replaced{Key: o.Leader.Replaces, Stored: o.Leader.Replaces != ""}
	if !o.Replaced.Stored {
		pairs, err := r.pairs(ctx, o)
		if err != nil {
			return err
		}
		o.Replaced.Key = pairs[o.Group.Index]
	}
	if o.Replaced.Key == "" {
		return nil
	}
	return r.observeLeft(ctx, o, identity.KeyGroup(o.Group.SetKey(), o.Replaced.Key))
}

// observeLeft reads what is left of the group that the leader replaces.
func (r *Reconciler) observeLeft(ctx context.Context, o *observation, of identity.Group) error {
	pods, err := r.podsOf(ctx, of)
	if err != nil {
		return err
	}
	for i := range pods {
		p := &pods[i]
		index, _ := identity.WorkerIndex(p)
		o.Replaced.Left = append(o.Replaced.Left, podOf(p, index, r.ledger))
		if identity.IsLeader(p) && IsExhausted(p) && IsRetained(p) {
			o.Replaced.Retained = p.Name
		}
	}
	sortPods(o.Replaced.Left)
	o.Replaced.Object, err = r.objectOf(ctx, of)
	return err
}

// objectOf names an object of a group beside its pods, empty if there is none.
func (r *Reconciler) objectOf(ctx context.Context, of identity.Group) (string, error) {
	name := types.NamespacedName{Namespace: of.Namespace, Name: of.Name()}
	workers, err := get(ctx, r.client, name, &appsv1.StatefulSet{})
	if err != nil {
		return "", err
	}
	if found, ok := groupOfWorkers(workers); ok && found == of {
		return "StatefulSet " + name.Name, nil
	}
	service, err := get(ctx, r.client, name, &corev1.Service{})
	if err != nil || service == nil {
		return "", err
	}
	if found, ok := identity.GroupOfService(service, service.Spec.Selector); ok && found == of {
		return "Service " + name.Name, nil
	}
	return "", nil
}

// observeExpected finds out whether an exhausted group is still wanted: a leader waits
// for its place, or its ReplicaSet is about to make one.
func (r *Reconciler) observeExpected(ctx context.Context, o *observation) error {
	if !o.Group.HasKey() || o.Leader == nil || !o.Leader.Exhausted || !o.Leader.Deleting || o.isSetGone() {
		return nil
	}
	maker, err := r.makerOf(ctx, o.Group.Namespace, o.Leader.Controller)
	if err != nil || maker == nil {
		return err
	}
	// The leaders first: one that appears in between must not stand without its pair,
	// for then the group would be let go as if it had been scaled away.
	leaders, err := r.leadersOf(ctx, o.Group.SetKey())
	if err != nil {
		return err
	}
	pairs, err := r.pairs(ctx, o)
	if err != nil {
		return err
	}
	o.Expected = isPlaceOpen(o.Leader.UID, o.Group.Index, maker, leaders, pairs)
	return nil
}

// isPlaceOpen: one of the maker's leaders that stand is held for an exhausted group, or
// there are fewer of them than there are to be. The leader of the group itself is going,
// also where the cache does not show that yet.
func isPlaceOpen(leader types.UID, key string, maker *appsv1.ReplicaSet, leaders []*corev1.Pod, pairs map[string]string) bool {
	standing := int32(0)
	for _, p := range leaders {
		if p.UID == leader || isGoing(p) || controllerOf(p).UID != maker.UID {
			continue
		}
		standing++
		if group, ok := keyedLeader(p); ok && IsGated(p) && pairs[group.Index] == key {
			return true
		}
	}
	return standing < replicasOr1(maker.Spec.Replicas)
}

// pairs are what all leaders of the set that stand replace.
func (r *Reconciler) pairs(ctx context.Context, o *observation) (map[string]string, error) {
	set := o.Group.SetKey()
	in := pairingInput{Set: set}
	if o.Leaders != nil {
		in.Replicas = o.Leaders.Replicas
	}
	var err error
	if in.Leaders, err = r.leadersOf(ctx, set); err != nil {
		return nil, err
	}
	counts, _ := ReadCounts(o.set)
	counted := map[string]bool{}
	for entry := range counts.counts {
		counted[entry.Index] = true
		in.Leftovers = append(in.Leftovers, entry.Index)
	}
	left, err := r.leftovers(ctx, set)
	if err != nil {
		return nil, err
	}
	in.Leftovers = append(in.Leftovers, left...)
	var failed error
	in.HasLeft = func(key string) bool {
		if counted[key] {
			return true
		}
		of := identity.KeyGroup(set, key)
		pods, err := r.podsOf(ctx, of)
		if err != nil {
			failed = err
		}
		object, err := r.objectOf(ctx, of)
		if err != nil {
			failed = err
		}
		return failed != nil || len(pods) > 0 || object != ""
	}
	pairs := r.paired.decide(in)
	return pairs, failed
}

// leftovers are the keys of groups with a worker StatefulSet, or with workers that are
// being deleted.
func (r *Reconciler) leftovers(ctx context.Context, set types.NamespacedName) ([]string, error) {
	var keys []string
	var workers appsv1.StatefulSetList
	if err := r.listOfSet(ctx, set, identity.WorkerStatefulSetsBySetIndex, &workers); err != nil {
		return nil, err
	}
	for i := range workers.Items {
		if group, ok := identity.GroupOfWorkerStatefulSet(&workers.Items[i]); ok && group.HasKey() {
			keys = append(keys, group.Index)
		}
	}
	var ending corev1.PodList
	if err := r.listOfSet(ctx, set, identity.EndingWorkersBySetIndex, &ending); err != nil {
		return nil, err
	}
	for i := range ending.Items {
		if group, ok := identity.GroupOfPod(&ending.Items[i]); ok {
			keys = append(keys, group.Index)
		}
	}
	return keys, nil
}

func (r *Reconciler) leadersOf(ctx context.Context, set types.NamespacedName) ([]*corev1.Pod, error) {
	var list corev1.PodList
	if err := r.listOfSet(ctx, set, identity.LeadersBySetIndex, &list); err != nil {
		return nil, err
	}
	leaders := make([]*corev1.Pod, len(list.Items))
	for i := range list.Items {
		leaders[i] = &list.Items[i]
	}
	return leaders, nil
}

func (r *Reconciler) listOfSet(ctx context.Context, set types.NamespacedName, index string, into client.ObjectList) error {
	err := r.client.List(ctx, into, client.InNamespace(set.Namespace),
		client.MatchingFields{index: set.String()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", index, set, err)
	}
	return nil
}

// waitsFor says what of the replaced group a leader waits for, empty for nothing. An
// exhausted group is waited for under both policies: a replacement would restart it.
func (r *replaced) waitsFor(immediate bool) string {
	switch {
	case r.Retained != "":
		return fmt.Sprintf("waits for group %s, whose restart budget is spent: the annotation %s=true on its leader %s starts it again",
			r.Key, lwsv1.RecoverAnnotationKey, r.Retained)
	case immediate || len(r.Left) > 0:
		return ""
	case r.Object != "":
		return "waits for " + r.Object + " of the group that it replaces"
	}
	return ""
}
