package group

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	crevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/source"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// watchScheduling has events of scheduling objects wake groups, and wakes those that
// wait for scheduling objects to be served.
func (w *waker) watchScheduling(c controller.TypedController[identity.Group], cache cache.Cache, gangs Scheduling) error {
	for _, kind := range gangs.Kinds() {
		if err := c.Watch(source.TypedKind(cache, kind.New(), w.schedulingObjects())); err != nil {
			return fmt.Errorf("watch %s: %w", kind.Kind, err)
		}
	}
	return c.Watch(source.TypedFunc[identity.Group](func(ctx context.Context, q queue) error {
		var sets lwsv1.LeaderWorkerSetList
		if err := w.reader.List(ctx, &sets, client.UnsafeDisableDeepCopy); err != nil {
			return fmt.Errorf("sets that use scheduling: %w", err)
		}
		for i := range sets.Items {
			if gangs.Uses(&sets.Items[i]) {
				w.waiting(ctx, client.ObjectKeyFromObject(&sets.Items[i]), q)
			}
		}
		return nil
	}))
}

// schedulingObjects: one of a group wakes it, one of a set the leaders that wait for
// it. Their status is for nobody.
func (w *waker) schedulingObjects() handler.TypedEventHandler[client.Object, identity.Group] {
	return handler.TypedFuncs[client.Object, identity.Group]{
		CreateFunc: func(ctx context.Context, e crevent.TypedCreateEvent[client.Object], q queue) {
			w.schedulingObject(ctx, e.Object, q)
		},
		UpdateFunc: func(ctx context.Context, e crevent.TypedUpdateEvent[client.Object], q queue) {
			if e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero() || e.ObjectOld.GetUID() != e.ObjectNew.GetUID() {
				w.schedulingObject(ctx, e.ObjectNew, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e crevent.TypedDeleteEvent[client.Object], q queue) {
			w.schedulingObject(ctx, e.Object, q)
		},
	}
}

func (w *waker) schedulingObject(ctx context.Context, obj client.Object, q queue) {
	if group, ok := identity.GroupOfSchedulingObject(obj); ok {
		q.Add(group)
		return
	}
	if set, ok := identity.SetOf(obj); ok {
		w.waiting(ctx, set, q)
		return
	}
	sets, err := scheduling.SetsOfParent(ctx, w.reader, obj)
	if err != nil {
		log.FromContext(ctx).Error(err, "Groups below a Workload were not woken", "workload", client.ObjectKeyFromObject(obj))
	}
	for _, set := range sets {
		w.waiting(ctx, set, q)
	}
}
