package group

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// The events that concern groups with Hash identity only.

// deployments: the leader Deployment wakes the groups that wait for what it says.
func (w *waker) deployments() handler.TypedEventHandler[*appsv1.Deployment, identity.Group] {
	return onEvents(func(ctx context.Context, before, after *appsv1.Deployment, q queue) {
		set, ok := identity.SetOf(after)
		switch {
		case !ok:
		case before == nil, before.UID != after.UID, !equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences):
			w.all(ctx, set, q)
		case before.Labels[lwsv1.RevisionLabelKey] != after.Labels[lwsv1.RevisionLabelKey]:
			w.waiting(ctx, set, q)
		}
	})
}

// replicaSets: a ReplicaSet of leaders wakes its leaders when it comes or goes, and
// those that wait when it wants more or fewer.
func (w *waker) replicaSets() handler.TypedEventHandler[*appsv1.ReplicaSet, identity.Group] {
	return onEvents(func(ctx context.Context, before, after *appsv1.ReplicaSet, q queue) {
		set, ok := identity.SetOf(after)
		switch {
		case !ok:
		case before == nil, before.UID != after.UID, !equality.Semantic.DeepEqual(before.OwnerReferences, after.OwnerReferences):
			w.all(ctx, set, q)
		case replicasOr1(before.Spec.Replicas) != replicasOr1(after.Spec.Replicas):
			w.waiting(ctx, set, q)
		}
	})
}

// onEvents handles all events of a kind alike; before is nil for an object that comes or
// goes.
func onEvents[T client.Object](changed func(ctx context.Context, before, after T, q queue)) handler.TypedEventHandler[T, identity.Group] {
	var none T
	return handler.TypedFuncs[T, identity.Group]{
		CreateFunc: func(ctx context.Context, e crevent.TypedCreateEvent[T], q queue) { changed(ctx, none, e.Object, q) },
		UpdateFunc: func(ctx context.Context, e crevent.TypedUpdateEvent[T], q queue) {
			changed(ctx, e.ObjectOld, e.ObjectNew, q)
		},
		DeleteFunc: func(ctx context.Context, e crevent.TypedDeleteEvent[T], q queue) { changed(ctx, none, e.Object, q) },
	}
}

// replacements wakes the leaders that replace a group.
func (w *waker) replacements(ctx context.Context, group identity.Group, q queue) {
	if !group.HasKey() {
		return
	}
	var leaders corev1.PodList
	err := w.reader.List(ctx, &leaders, client.InNamespace(group.Namespace),
		client.MatchingFields{identity.ReplacementsByGroupIndex: group.String()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		log.FromContext(ctx).Error(err, "Replacements of a group were not woken", "group", group.String())
	}
	for i := range leaders.Items {
		wakePod(&leaders.Items[i], turn, q)
	}
}

// availabilityChanged: how many workers are ready is part of a leader's readiness if it
// has a key.
func availabilityChanged(before, after *appsv1.StatefulSet) bool {
	return before.Status.AvailableReplicas != after.Status.AvailableReplicas ||
		before.Status.ObservedGeneration != after.Status.ObservedGeneration
}
