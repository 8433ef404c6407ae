package group

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crevent "sigs.k8s.io/controller-runtime/pkg/event"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
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

// later is a queue that only notes how long groups are to wait.
type later struct {
	queue
	waits []time.Duration
}

func (q *later) Add(identity.Group) { q.waits = append(q.waits, 0) }

func (q *later) AddAfter(_ identity.Group, wait time.Duration) { q.waits = append(q.waits, wait) }

func TestWorkersWaitForOthersOfTheirGroup(t *testing.T) {
	pod := func(workerIndex string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Labels: map[string]string{
			lwsv1.SetNameLabelKey: "set", lwsv1.GroupIndexLabelKey: "0", lwsv1.WorkerIndexLabelKey: workerIndex,
		}}}
	}
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		want []time.Duration
	}{
		"leader":            {pod("0"), []time.Duration{0}},
		"worker":            {pod("1"), []time.Duration{coalescing}},
		"no pod of a group": {&corev1.Pod{}, nil},
	} {
		q := &later{}
		if wakePod(test.pod, q); !slices.Equal(q.waits, test.want) {
			t.Errorf("%s: waits %v, want %v", name, q.waits, test.want)
		}
	}
}
