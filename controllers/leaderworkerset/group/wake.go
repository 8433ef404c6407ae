package group

import (
	"context"
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// waker finds out which groups an event concerns.
type waker struct {
	reader client.Reader
	ledger *ledger
	paired *pairs
}

type queue = workqueue.TypedRateLimitingInterface[identity.Group]

// pods: an event of a pod wakes its group. What only the watch shows goes into the
// ledger first, also if a pod was replaced under its name between two lists.
func (w *waker) pods() handler.TypedEventHandler[*corev1.Pod, identity.Group] {
	return handler.TypedFuncs[*corev1.Pod, identity.Group]{
		CreateFunc: func(ctx context.Context, e crevent.TypedCreateEvent[*corev1.Pod], q queue) {
			w.pod(ctx, e.Object, progress, q)
		},
		UpdateFunc: func(ctx context.Context, e crevent.TypedUpdateEvent[*corev1.Pod], q queue) {
			if e.ObjectOld.UID != e.ObjectNew.UID {
				w.deleted(ctx, e.ObjectOld, q)
				w.pod(ctx, e.ObjectNew, progress, q)
				return
			}
			w.ledger.changed(e.ObjectOld, e.ObjectNew)
			w.paired.changed(e.ObjectOld, e.ObjectNew)
			switch {
			case podTurned(e.ObjectOld, e.ObjectNew):
				w.pod(ctx, e.ObjectNew, turn, q)
			case podMoved(e.ObjectOld, e.ObjectNew):
				w.pod(ctx, e.ObjectNew, progress, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e crevent.TypedDeleteEvent[*corev1.Pod], q queue) {
			w.deleted(ctx, e.Object, q)
		},
	}
}

func (w *waker) deleted(ctx context.Context, p *corev1.Pod, q queue) {
	w.ledger.deleted(p)
	w.paired.deleted(p)
	w.pod(ctx, p, turn, q)
	if replaced, ok := identity.ReplacedBy(p); ok {
		q.Add(replaced) // it may have lost who was to take its place
	}
}

// pod wakes the group of a pod, and a leader that waits for that group.
func (w *waker) pod(ctx context.Context, p *corev1.Pod, wait time.Duration, q queue) {
	wakePod(p, wait, q)
	if group, ok := identity.GroupOfPod(p); ok {
		w.replacements(ctx, group, q)
	}
}

// An event of a worker waits for others of its group: workers are made, placed, started
// and ended together.
const (
	// turn is how long what may end the group waits, or lets another one start.
	turn = 100 * time.Millisecond
	// progress is how long it waits when a worker is made, placed and started as planned.
	progress = 500 * time.Millisecond
)

func wakePod(p *corev1.Pod, wait time.Duration, q queue) {
	group, ok := identity.GroupOfPod(p)
	switch {
	case !ok:
	case identity.IsLeader(p):
		q.Add(group)
	default:
		q.AddAfter(group, wait)
	}
}

// podTurned says whether anything changed that decisions are made from, other than the
// progress of a pod that starts.
func podTurned(before, after *corev1.Pod) bool {
	return before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		before.Status.Phase != after.Status.Phase && after.Status.Phase != corev1.PodRunning ||
		!equality.Semantic.DeepEqual(before.Finalizers, after.Finalizers) ||
		!equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences) ||
		!equality.Semantic.DeepEqual(before.Labels, after.Labels) ||
		!equality.Semantic.DeepEqual(before.Annotations, after.Annotations) ||
		!equality.Semantic.DeepEqual(restartCounts(before), restartCounts(after))
}

// podMoved says whether a pod came further on its way to run. Of a worker its readiness
// is nothing to decide from: that is for the set to know.
func podMoved(before, after *corev1.Pod) bool {
	return before.Status.Phase != after.Status.Phase ||
		before.Spec.NodeName != after.Spec.NodeName ||
		len(before.Spec.SchedulingGates) != len(after.Spec.SchedulingGates) ||
		conditionsChanged(before, after)
}

func conditionsChanged(before, after *corev1.Pod) bool {
	if identity.IsLeader(after) && isConditionTrue(before, corev1.ContainersReady) != isConditionTrue(after, corev1.ContainersReady) {
		return true
	}
	was, is := condition(before, corev1.PodScheduled), condition(after, corev1.PodScheduled)
	return was.Status != is.Status || was.Reason != is.Reason || was.Message != is.Message
}

func condition(p *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

func restartCounts(p *corev1.Pod) map[string]int32 {
	var counts map[string]int32
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range statuses {
			if statuses[i].RestartCount == 0 {
				continue
			}
			if counts == nil {
				counts = map[string]int32{}
			}
			counts[statuses[i].Name] = statuses[i].RestartCount
		}
	}
	return counts
}

// statefulSets: a worker StatefulSet wakes its group; the leader StatefulSet the
// groups that wait for what it says.
func (w *waker) statefulSets() handler.TypedEventHandler[*appsv1.StatefulSet, identity.Group] {
	return handler.TypedFuncs[*appsv1.StatefulSet, identity.Group]{
		CreateFunc: func(ctx context.Context, e crevent.TypedCreateEvent[*appsv1.StatefulSet], q queue) {
			w.statefulSet(ctx, nil, e.Object, q)
		},
		UpdateFunc: func(ctx context.Context, e crevent.TypedUpdateEvent[*appsv1.StatefulSet], q queue) {
			w.statefulSet(ctx, e.ObjectOld, e.ObjectNew, q)
		},
		DeleteFunc: func(ctx context.Context, e crevent.TypedDeleteEvent[*appsv1.StatefulSet], q queue) {
			w.statefulSet(ctx, nil, e.Object, q)
		},
	}
}

func (w *waker) statefulSet(ctx context.Context, before, after *appsv1.StatefulSet, q queue) {
	if group, ok := identity.GroupOfWorkerStatefulSet(after); ok {
		if before == nil || workersChanged(before, after) || group.HasKey() && availabilityChanged(before, after) {
			q.Add(group)
			w.replacements(ctx, group, q)
		}
		return
	}
	set, ok := identity.SetOf(after)
	switch {
	case !ok:
	case before == nil, before.UID != after.UID, !equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences):
		w.all(ctx, set, q)
	case replicasOf(after) < replicasOf(before):
		// What is scaled away does not end by an event of its own if it has no leader,
		// or one that is retained.
		w.all(ctx, set, q)
	case replicasOf(after) != replicasOf(before),
		before.Labels[lwsv1.RevisionLabelKey] != after.Labels[lwsv1.RevisionLabelKey],
		before.Status.CurrentRevision != after.Status.CurrentRevision,
		sparedBy(before) != sparedBy(after):
		w.waiting(ctx, set, q)
	}
}

func replicasOf(s *appsv1.StatefulSet) int32 {
	return leadersFactsOf(s).Replicas
}

// workersChanged leaves the status out, which says how many are ready.
func workersChanged(before, after *appsv1.StatefulSet) bool {
	return before.UID != after.UID || before.Generation != after.Generation ||
		before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		!equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences) ||
		!equality.Semantic.DeepEqual(before.Labels, after.Labels)
}

// services: the Service of a group wakes it.
func (w *waker) services() handler.TypedEventHandler[*corev1.Service, identity.Group] {
	return onEvents(func(ctx context.Context, _, s *corev1.Service, q queue) {
		if group, ok := identity.GroupOfService(s, s.Spec.Selector); ok {
			q.Add(group)
			w.replacements(ctx, group, q)
		}
	})
}

// sets: a set wakes the groups that its change concerns. Its status concerns none.
func (w *waker) sets() handler.TypedEventHandler[*lwsv1.LeaderWorkerSet, identity.Group] {
	return handler.TypedFuncs[*lwsv1.LeaderWorkerSet, identity.Group]{
		CreateFunc: func(ctx context.Context, e crevent.TypedCreateEvent[*lwsv1.LeaderWorkerSet], q queue) {
			w.all(ctx, client.ObjectKeyFromObject(e.Object), q)
		},
		UpdateFunc: func(ctx context.Context, e crevent.TypedUpdateEvent[*lwsv1.LeaderWorkerSet], q queue) {
			w.set(ctx, e.ObjectOld, e.ObjectNew, q)
		},
		DeleteFunc: func(ctx context.Context, e crevent.TypedDeleteEvent[*lwsv1.LeaderWorkerSet], q queue) {
			w.all(ctx, client.ObjectKeyFromObject(e.Object), q)
		},
	}
}

func (w *waker) set(ctx context.Context, before, after *lwsv1.LeaderWorkerSet, q queue) {
	set := client.ObjectKeyFromObject(after)
	switch {
	case before.UID != after.UID, !reflect.DeepEqual(liveOf(before), liveOf(after)):
		w.all(ctx, set, q)
		return
	case lwsv1.Partition(before) != lwsv1.Partition(after):
		w.waiting(ctx, set, q)
	}
	for _, entry := range countsChanged(before, after) {
		q.Add(identity.Group{Namespace: set.Namespace, Set: set.Name, Index: entry.Index})
	}
}

func countsChanged(before, after *lwsv1.LeaderWorkerSet) []Entry {
	same := true
	for _, key := range []string{lwsv1.GroupRestartCountsAnnotationKey, lwsv1.GroupRestartLeadersAnnotationKey} {
		same = same && before.Annotations[key] == after.Annotations[key]
	}
	if same {
		return nil
	}
	was, _ := ReadCounts(before)
	is, _ := ReadCounts(after)
	return changedEntries(&was, &is)
}

// liveFields are what of a set takes effect on all its groups.
type liveFields struct {
	facts     setFacts
	retention string
}

func liveOf(set *lwsv1.LeaderWorkerSet) liveFields {
	facts := *setFactsOf(set)
	facts.Partition = 0
	return liveFields{facts: facts, retention: dependsOn(set.Spec.LeaderWorkerTemplate.PersistentVolumeClaimRetentionPolicy)}
}

// all wakes all groups of a set: those with a leader, and those with workers left.
func (w *waker) all(ctx context.Context, set types.NamespacedName, q queue) {
	w.leaders(ctx, set, q, func(*corev1.Pod) bool { return true })
	var workers appsv1.StatefulSetList
	w.list(ctx, set, identity.WorkerStatefulSetsBySetIndex, &workers)
	for i := range workers.Items {
		if group, ok := identity.GroupOfWorkerStatefulSet(&workers.Items[i]); ok {
			q.Add(group)
		}
	}
}

// waiting wakes the groups whose leader is held by its gate, or retained.
func (w *waker) waiting(ctx context.Context, set types.NamespacedName, q queue) {
	w.leaders(ctx, set, q, func(p *corev1.Pod) bool { return IsGated(p) || IsExhausted(p) })
}

func (w *waker) leaders(ctx context.Context, set types.NamespacedName, q queue, wanted func(*corev1.Pod) bool) {
	var leaders corev1.PodList
	w.list(ctx, set, identity.LeadersBySetIndex, &leaders)
	for i := range leaders.Items {
		if p := &leaders.Items[i]; wanted(p) {
			wakePod(p, turn, q)
		}
	}
}

// list reads from the cache. That fails only while the manager stops.
func (w *waker) list(ctx context.Context, set types.NamespacedName, index string, into client.ObjectList) {
	err := w.reader.List(ctx, into, client.InNamespace(set.Namespace),
		client.MatchingFields{index: set.String()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		log.FromContext(ctx).Error(err, "Groups of a set were not woken", "set", set)
	}
}
