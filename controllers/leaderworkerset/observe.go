package leaderworkerset

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// observation is all that a reconcile knows. Objects in it belong to the cache
// and are only read.
type observation struct {
	Set      *lwsv1.LeaderWorkerSet // as stored
	Realised *lwsv1.LeaderWorkerSet // as it is to be realised
	Kept     kept                   // the difference
	Now      time.Time

	StatefulSet *appsv1.StatefulSet // of the leaders' name, whoever's; nil when there is none
	Claim       claim               // what StatefulSet is to the set
	Service     *corev1.Service     // of the shared Service's name, likewise

	Groups    []groupState // in the order of their indices
	Workers   []*appsv1.StatefulSet
	Unplaced  *unplaced
	Revisions []*appsv1.ControllerRevision // of the set, Orphans included
	Orphans   []*appsv1.ControllerRevision // a predecessor's without an owner, to be taken over
	Leaving   []*appsv1.ControllerRevision // a predecessor's, whose names are not free yet

	Scheduling schedulingState

	Reports       map[identity.Group]group.Report
	CreateFailure string // what the StatefulSet controller says about pods that it cannot make
}

// leaders is the leader StatefulSet if it is, or is about to be, the set's own.
func (o *observation) leaders() *appsv1.StatefulSet {
	if o.Claim == claimOurs || o.Claim == claimLeftover {
		return o.StatefulSet
	}
	return nil
}

// makerOfLeaders is the StatefulSet whose pods are leaders of the set, which they
// are also while it is being deleted.
func (o *observation) makerOfLeaders() *appsv1.StatefulSet {
	if o.Claim == claimLeaving && isControlledBy(o.StatefulSet, o.Set) {
		return o.StatefulSet
	}
	return o.leaders()
}

func (r *Reconciler) observe(ctx context.Context, set *lwsv1.LeaderWorkerSet) (*observation, error) {
	seen := &observation{Set: set, Now: r.clock.Now(), Reports: r.reports.ForSet(client.ObjectKeyFromObject(set))}
	name := types.NamespacedName{Namespace: set.Namespace, Name: identity.LeaderStatefulSetName(set.Name)}
	var err error
	if seen.StatefulSet, err = get(ctx, r.client, name, &appsv1.StatefulSet{}); err != nil {
		return nil, err
	}
	name.Name = identity.SharedServiceName(set.Name)
	if seen.Service, err = get(ctx, r.client, name, &corev1.Service{}); err != nil {
		return nil, err
	}
	seen.Claim = claimOfStatefulSet(set, seen.StatefulSet)
	if err := r.observeRevisions(ctx, seen); err != nil {
		return nil, err
	}
	if err := r.observeGroups(ctx, seen); err != nil {
		return nil, err
	}
	seen.Kept = keptPlacement(set, seen.leaders(), seen.Revisions)
	seen.Realised = seen.Kept.applyTo(set)
	return seen, nil
}

// observeGroups reads what the set's groups consist of, each kind once.
func (r *Reconciler) observeGroups(ctx context.Context, seen *observation) error {
	var pods, unschedulable corev1.PodList
	var workers appsv1.StatefulSetList
	for _, read := range []struct {
		list  client.ObjectList
		index string
	}{
		{&pods, identity.LeadersBySetIndex},
		{&workers, identity.WorkerStatefulSetsBySetIndex},
		{&unschedulable, identity.UnschedulableBySetIndex},
	} {
		if err := r.listOfSet(ctx, seen.Set, read.list, read.index); err != nil {
			return err
		}
	}
	m := members{
		set:           seen.Set,
		statefulSet:   seen.makerOfLeaders(),
		leaders:       pointers(pods.Items),
		workers:       pointers(workers.Items),
		unschedulable: pointers(unschedulable.Items),
	}
	seen.Groups, seen.Unplaced = groupsOf(m)
	seen.Workers = ownWorkers(m)
	if err := r.observeScheduling(ctx, seen, m); err != nil {
		return err
	}
	text, err := r.observeCreateFailure(ctx, seen, m)
	seen.CreateFailure = text
	return err
}

func (r *Reconciler) observeRevisions(ctx context.Context, seen *observation) error {
	var revisions appsv1.ControllerRevisionList
	if err := r.listOfSet(ctx, seen.Set, &revisions, identity.RevisionsBySetIndex); err != nil {
		return err
	}
	for _, revision := range pointers(revisions.Items) {
		switch claimOf(seen.Set, revision) {
		case claimOurs:
			seen.Revisions = append(seen.Revisions, revision)
		case claimLeftover:
			if isSetRevision(revision) {
				seen.Orphans = append(seen.Orphans, revision)
				seen.Revisions = append(seen.Revisions, revision)
			}
		case claimLeaving:
			seen.Leaving = append(seen.Leaving, revision)
		case claimAbsent, claimForeign:
		}
	}
	return nil
}

// observeCreateFailure reads what the StatefulSet controller could not do. Only
// events of that kind are in the cache, and few or none in a namespace.
func (r *Reconciler) observeCreateFailure(ctx context.Context, seen *observation, m members) (string, error) {
	waiting := statefulSetsShortOfPods(m)
	if len(waiting) == 0 {
		return "", nil
	}
	var failures corev1.EventList
	if err := r.client.List(ctx, &failures, client.InNamespace(seen.Set.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return "", fmt.Errorf("events in %s: %w", seen.Set.Namespace, err)
	}
	return latestFailure(pointers(failures.Items), waiting), nil
}

func (r *Reconciler) listOfSet(ctx context.Context, set *lwsv1.LeaderWorkerSet, list client.ObjectList, index string) error {
	key := client.ObjectKeyFromObject(set)
	err := r.client.List(ctx, list, client.InNamespace(key.Namespace),
		client.MatchingFields{index: key.String()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", index, key, err)
	}
	return nil
}

// get reads an object from the cache, as it is there. It is nil when there is none.
func get[T client.Object](ctx context.Context, reader client.Reader, key types.NamespacedName, into T) (T, error) {
	var none T
	err := reader.Get(ctx, key, into, client.UnsafeDisableDeepCopy)
	switch {
	case apierrors.IsNotFound(err):
		return none, nil
	case err != nil:
		return none, fmt.Errorf("%T %s: %w", into, key, err)
	default:
		return into, nil
	}
}

func pointers[T any](items []T) []*T {
	refs := make([]*T, len(items))
	for i := range items {
		refs[i] = &items[i]
	}
	return refs
}
