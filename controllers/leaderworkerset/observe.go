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

	StatefulSet *appsv1.StatefulSet // of the leaders' name, whoever's; nil when there is none, or with Hash identity
	Deployment  *appsv1.Deployment  // likewise with Hash identity
	Claim       claim               // what that is to the set
	Service     *corev1.Service     // of the shared Service's name, likewise

	ReplicaSets []*appsv1.ReplicaSet // of Deployment

	Groups     []groupState // in the order of their indices
	Workers    []*appsv1.StatefulSet
	Unplaced   *unplaced
	Unadmitted []unadmitted
	Revisions  []*appsv1.ControllerRevision // of the set, Orphans included
	Orphans    []*appsv1.ControllerRevision // a predecessor's without an owner, to be taken over
	Leaving    []*appsv1.ControllerRevision // a predecessor's, whose names are not free yet

	Scheduling schedulingState

	Reports       map[identity.Group]group.Report
	CreateFailure string // what is said about pods that cannot be made
}

// hasLeaders: what owns the leaders is, or is about to be, the set's own.
func (o *observation) hasLeaders() bool {
	return o.Claim == claimOurs || o.Claim == claimLeftover
}

// leaders is the leader StatefulSet if it is, or is about to be, the set's own.
func (o *observation) leaders() *appsv1.StatefulSet {
	if o.hasLeaders() {
		return o.StatefulSet
	}
	return nil
}

// running is what the leaders were last written with.
func (o *observation) running() running {
	switch {
	case !o.hasLeaders():
	case o.StatefulSet != nil:
		return running{o.StatefulSet.Labels[lwsv1.RevisionLabelKey], o.StatefulSet.Spec.Template.Annotations}
	case o.Deployment != nil:
		return running{o.Deployment.Labels[lwsv1.RevisionLabelKey], o.Deployment.Spec.Template.Annotations}
	}
	return running{}
}

// members are those that make the leaders of the set, which they do also while they
// are being deleted.
func (o *observation) members() members {
	m := members{set: o.Set}
	switch {
	case o.StatefulSet != nil && (o.hasLeaders() || isControlledBy(o.StatefulSet, o.Set)):
		m.statefulSet = o.StatefulSet
	case o.Deployment != nil && (o.hasLeaders() || isControlledBy(o.Deployment, o.Set)):
		m.deployment, m.replicaSets = o.Deployment, o.ReplicaSets
	}
	return m
}

func (r *Reconciler) observe(ctx context.Context, set *lwsv1.LeaderWorkerSet) (*observation, error) {
	seen := &observation{Set: set, Now: r.clock.Now(), Reports: r.reports.ForSet(client.ObjectKeyFromObject(set))}
	if err := leadershipOf(set).observe(ctx, r, seen); err != nil {
		return nil, err
	}
	name := types.NamespacedName{Namespace: set.Namespace, Name: identity.SharedServiceName(set.Name)}
	var err error
	if seen.Service, err = get(ctx, r.client, name, &corev1.Service{}); err != nil {
		return nil, err
	}
	if err := r.observeRevisions(ctx, seen); err != nil {
		return nil, err
	}
	if err := r.observeGroups(ctx, seen); err != nil {
		return nil, err
	}
	seen.Kept = keptPlacement(set, seen.running(), seen.Revisions)
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
	m := seen.members()
	m.leaders, m.workers, m.unschedulable = pointers(pods.Items), pointers(workers.Items), pointers(unschedulable.Items)
	seen.Groups, seen.Unplaced = groupsOf(m)
	seen.Unadmitted = unadmittedOf(m)
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

// observeCreateFailure reads what the controllers of our objects could not do. Only
// events of that kind are in the cache, and few or none in a namespace.
func (r *Reconciler) observeCreateFailure(ctx context.Context, seen *observation, m members) (string, error) {
	waiting := shortOfPods(m)
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
