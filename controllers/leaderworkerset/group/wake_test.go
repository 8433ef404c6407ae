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

// podOfGroup0 is a pod that runs.
func podOfGroup0(workerIndex string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", UID: "a", Labels: map[string]string{
		lwsv1.SetNameLabelKey: "set", lwsv1.GroupIndexLabelKey: "0", lwsv1.WorkerIndexLabelKey: workerIndex,
	}}}
	p.Spec.NodeName = "node"
	p.Status.Phase = corev1.PodRunning
	return p
}

// Of a leader nothing waits, of a worker what ends its group waits shorter than what
// only was to come.
func TestWorkersWaitForOthersOfTheirGroup(t *testing.T) {
	but := func(p *corev1.Pod, change func(*corev1.Pod)) *corev1.Pod {
		p = p.DeepCopy()
		change(p)
		return p
	}
	worker, leader := podOfGroup0("1"), podOfGroup0("0")
	none, short, long := []time.Duration(nil), []time.Duration{turn}, []time.Duration{progress}
	for name, test := range map[string]struct {
		before, after *corev1.Pod
		want          []time.Duration
	}{
		"leader is made":         {nil, leader, []time.Duration{0}},
		"leader is placed":       {but(leader, func(p *corev1.Pod) { p.Spec.NodeName = "" }), leader, []time.Duration{0}},
		"leader is gone":         {leader, nil, []time.Duration{0}},
		"no pod of a group":      {nil, &corev1.Pod{}, none},
		"worker is made":         {nil, worker, long},
		"worker is placed":       {but(worker, func(p *corev1.Pod) { p.Spec.NodeName = "" }), worker, long},
		"worker is started":      {but(worker, func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }), worker, long},
		"worker is ready":        {worker, but(worker, func(p *corev1.Pod) { p.Status.Conditions = ready() }), none},
		"worker failed":          {worker, but(worker, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), short},
		"worker is to go":        {worker, but(worker, func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }), short},
		"worker is gone":         {worker, nil, short},
		"worker is another":      {worker, but(worker, func(p *corev1.Pod) { p.UID = "b" }), []time.Duration{turn, progress}},
		"container is restarted": {worker, but(worker, func(p *corev1.Pod) { p.Status.ContainerStatuses = restartedOnce() }), short},
	} {
		q := &later{}
		w := &waker{ledger: newLedger(), paired: newPairs()}
		var before, after client.Object
		if test.before != nil {
			before = test.before
		}
		if test.after != nil {
			after = test.after
		}
		if pass(t.Context(), w.pods(), q, before, after); !slices.Equal(q.waits, test.want) {
			t.Errorf("%s: waits %v, want %v", name, q.waits, test.want)
		}
	}
}

func ready() []corev1.PodCondition {
	return []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

func restartedOnce() []corev1.ContainerStatus {
	return []corev1.ContainerStatus{{Name: "c", RestartCount: 1}}
}
