package harness

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// lookInterval is the least time between two looks at what is recorded, so that a
// burst of changes is looked at once.
const lookInterval = 20 * time.Millisecond

// Observer records what happens in a namespace.
type Observer struct {
	client    client.WithWatch
	namespace string
	started   time.Time

	mu      sync.Mutex
	changed chan struct{}
	history History
	pods    map[string]*corev1.Pod
	failure error
}

// Observe begins to record, also further kinds, and stops when ctx ends. What exists
// already is recorded as if it had just been made.
func (e *Environment) Observe(ctx context.Context, namespace string, further ...client.ObjectList) (*Observer, error) {
	o := &Observer{
		client: e.Client, namespace: namespace, started: time.Now(),
		changed: make(chan struct{}), pods: map[string]*corev1.Pod{},
	}
	usual := []client.ObjectList{
		&lwsv1.LeaderWorkerSetList{}, &corev1.EventList{}, &corev1.PodList{}, &appsv1.StatefulSetList{},
	}
	for _, list := range append(usual, further...) {
		if err := o.follow(ctx, list); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// follow records a kind: what there is, and every change after that.
func (o *Observer) follow(ctx context.Context, list client.ObjectList) error {
	if err := o.client.List(ctx, list, client.InNamespace(o.namespace)); err != nil {
		return fmt.Errorf("observing %T: %w", list, err)
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	for _, item := range items {
		o.record(watch.Event{Type: watch.Added, Object: item})
	}
	version := list.GetResourceVersion()
	changes, err := o.watch(ctx, list, version)
	if err != nil {
		return err
	}
	go o.keepFollowing(ctx, list, changes, version)
	return nil
}

func (o *Observer) watch(ctx context.Context, list client.ObjectList, version string) (watch.Interface, error) {
	changes, err := o.client.Watch(ctx, list, &client.ListOptions{
		Namespace: o.namespace, Raw: &metav1.ListOptions{ResourceVersion: version},
	})
	if err != nil {
		return nil, fmt.Errorf("observing %T from %s: %w", list, version, err)
	}
	return changes, nil
}

// keepFollowing records changes. The API server ends a watch that is slow to read:
// another goes on where it ended, so that nothing is missed.
func (o *Observer) keepFollowing(ctx context.Context, list client.ObjectList, changes watch.Interface, version string) {
	for {
		for change := range changes.ResultChan() {
			o.record(change)
			if object, err := meta.Accessor(change.Object); err == nil {
				version = object.GetResourceVersion()
			}
		}
		changes.Stop()
		if ctx.Err() != nil || o.Failure() != nil {
			return
		}
		var err error
		if changes, err = o.watch(ctx, list, version); err != nil {
			o.fail(err)
			return
		}
	}
}

func (o *Observer) record(change watch.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	gone := change.Type == watch.Deleted
	switch object := change.Object.(type) {
	case *lwsv1.LeaderWorkerSet:
		o.history.Sets = append(o.history.Sets, SetState{At: time.Now(), Gone: gone, LeaderWorkerSet: object})
	case *corev1.Pod:
		o.history.Pods = append(o.history.Pods, newPodState(object, gone))
		o.pods[object.Name] = object
		if gone {
			delete(o.pods, object.Name)
		}
	case *appsv1.StatefulSet:
		o.history.StatefulSets = append(o.history.StatefulSets, ObjectState{
			At: time.Now(), Version: VersionOf(object), Gone: gone,
			Ending: object.DeletionTimestamp != nil, Name: object.Name, UID: object.UID,
		})
	case *corev1.Event:
		o.recordEvent(object, gone)
	case client.Object:
		o.history.Further = append(o.history.Further, FurtherState{At: time.Now(), Gone: gone, Object: object})
	default:
		o.failure = fmt.Errorf("a watch in %s gave %s of %T: %v", o.namespace, change.Type, object, object)
	}
	close(o.changed)
	o.changed = make(chan struct{})
}

// recordEvent keeps one entry for each event about a set; a series only counts up.
func (o *Observer) recordEvent(event *corev1.Event, gone bool) {
	if gone || !slices.Contains([]string{lwsv1.Kind, dsv1.Kind}, event.InvolvedObject.Kind) {
		return
	}
	told := newEvent(event)
	known := slices.IndexFunc(o.history.Events, func(e Event) bool { return e.UID == told.UID })
	if known >= 0 {
		o.history.Events[known].Count = told.Count
		return
	}
	o.history.Events = append(o.history.Events, told)
}

func (o *Observer) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failure = err
	close(o.changed)
	o.changed = make(chan struct{})
}

// History is what was recorded so far.
func (o *Observer) History() History {
	o.mu.Lock()
	defer o.mu.Unlock()
	return History{
		Sets: slices.Clone(o.history.Sets), Events: slices.Clone(o.history.Events),
		Pods: slices.Clone(o.history.Pods), StatefulSets: slices.Clone(o.history.StatefulSets),
		Further: slices.Clone(o.history.Further),
	}
}

// Failure tells why the recording is not complete, if it is not.
func (o *Observer) Failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failure
}

// Set is the last state of a set, nil if there is none.
func (o *Observer) Set(name string) *lwsv1.LeaderWorkerSet {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, state := range slices.Backward(o.history.Sets) {
		if state.Name == name {
			if state.Gone {
				return nil
			}
			return state.LeaderWorkerSet
		}
	}
	return nil
}

// Pods are the pods of a set that exist, by name. They must not be changed.
func (o *Observer) Pods(set string) map[string]*corev1.Pod {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := map[string]*corev1.Pod{}
	for name, pod := range o.pods {
		if pod.Labels[lwsv1.SetNameLabelKey] == set {
			found[name] = pod
		}
	}
	return found
}

// Await waits until a condition holds that only depends on what is observed. While
// it does not, it says what is seen instead.
func (o *Observer) Await(ctx context.Context, limit time.Duration, holds func() (seen string, ok bool)) error {
	limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("after %s", limit))
	defer cancel()
	for {
		next := time.After(lookInterval)
		o.mu.Lock()
		changed, failure := o.changed, o.failure
		o.mu.Unlock()
		if failure != nil {
			return failure
		}
		seen, ok := holds()
		if ok {
			return nil
		}
		select {
		case <-changed:
			<-next
		case <-limited.Done():
			return fmt.Errorf("%w still: %s", context.Cause(limited), seen)
		}
	}
}
