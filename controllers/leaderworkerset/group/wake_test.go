package group

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crevent "sigs.k8s.io/controller-runtime/pkg/event"

	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// handlerOf is what pass needs of an event handler.
type handlerOf[T any] interface {
	Create(context.Context, crevent.TypedCreateEvent[T], queue)
	Update(context.Context, crevent.TypedUpdateEvent[T], queue)
	Delete(context.Context, crevent.TypedDeleteEvent[T], queue)
}

func pass[T client.Object](ctx context.Context, h handlerOf[T], q queue, before, after client.Object) {
	switch {
	case before == nil:
		h.Create(ctx, crevent.TypedCreateEvent[T]{Object: after.(T)}, q)
	case after == nil:
		h.Delete(ctx, crevent.TypedDeleteEvent[T]{Object: before.(T)}, q)
	default:
		h.Update(ctx, crevent.TypedUpdateEvent[T]{ObjectOld: before.(T), ObjectNew: after.(T)}, q)
	}
}

// atOnce is a queue that does not wait for more to come.
type atOnce struct{ queue }

func (q atOnce) AddAfter(group identity.Group, _ time.Duration) { q.Add(group) }

func newQueue() queue {
	return atOnce{workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[identity.Group]())}
}
