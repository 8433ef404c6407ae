package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// world is what can be seen of the pods and the set, kept current by watches.
type world struct {
	cache   cache.Cache
	changed chan struct{}
}

// pods are the pods under one label, by UID.
type pods struct {
	all, ready, leaders map[types.UID]string
}

func watchWorld(ctx context.Context, config *rest.Config, scheme *runtime.Scheme) (*world, error) {
	objects, err := cache.New(config, cache.Options{
		Scheme:            scheme,
		DefaultNamespaces: map[string]cache.Config{namespace: {}},
		ByObject:          map[client.Object]cache.ByObject{&corev1.Pod{}: {Transform: stripPod}},
	})
	if err != nil {
		return nil, fmt.Errorf("watching the cluster: %w", err)
	}
	w := &world{cache: objects, changed: make(chan struct{}, 1)}
	for _, object := range []client.Object{&corev1.Pod{}, &lwsv1.LeaderWorkerSet{}} {
		informer, err := objects.GetInformer(ctx, object)
		if err != nil {
			return nil, fmt.Errorf("watching %T: %w", object, err)
		}
		if _, err := informer.AddEventHandler(w.notifier()); err != nil {
			return nil, fmt.Errorf("watching %T: %w", object, err)
		}
	}
	go func() { _ = objects.Start(ctx) }()
	if !objects.WaitForCacheSync(ctx) {
		return nil, fmt.Errorf("watching the cluster: %w", context.Cause(ctx))
	}
	return w, nil
}

// stripPod keeps what is counted, so that the benchmark takes little from what it measures.
func stripPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	pod.ManagedFields, pod.Annotations = nil, nil
	pod.Spec = corev1.PodSpec{}
	pod.Status = corev1.PodStatus{Phase: pod.Status.Phase, Conditions: pod.Status.Conditions}
	return pod, nil
}

func (w *world) notifier() toolscache.ResourceEventHandler {
	notify := func() {
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { notify() },
		UpdateFunc: func(any, any) { notify() },
		DeleteFunc: func(any) { notify() },
	}
}

// interval is after which a condition is looked at again though nothing that is watched
// has changed: it may be about something else.
const interval = time.Second

// until waits for the condition, which says what it sees while it does not hold.
func (w *world) until(ctx context.Context, limit time.Duration, condition func() (seen string, holds bool, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		seen, holds, err := condition()
		if err != nil || holds {
			return err
		}
		select {
		case <-w.changed:
		case <-time.After(interval):
		case <-ctx.Done():
			return fmt.Errorf("after %s still: %s", limit, seen)
		}
	}
}

func (w *world) pods(ctx context.Context, labelKey string) (pods, error) {
	selector, err := labels.Parse(labelKey)
	if err != nil {
		return pods{}, fmt.Errorf("label %q: %w", labelKey, err)
	}
	var list corev1.PodList
	err = w.cache.List(ctx, &list, client.InNamespace(namespace),
		client.MatchingLabelsSelector{Selector: selector}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return pods{}, fmt.Errorf("listing pods: %w", err)
	}
	found := pods{all: map[types.UID]string{}, ready: map[types.UID]string{}, leaders: map[types.UID]string{}}
	for _, pod := range list.Items {
		found.all[pod.UID] = pod.Name
		if isReady(&pod) {
			found.ready[pod.UID] = pod.Name
		}
		if pod.Labels[lwsv1.WorkerIndexLabelKey] == "0" {
			found.leaders[pod.UID] = pod.Name
		}
	}
	return found, nil
}

func isReady(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning {
		return false
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// settled says whether the set's status describes its spec and every group of it is ready.
func (w *world) settled(ctx context.Context, groups int) (string, bool, error) {
	var set lwsv1.LeaderWorkerSet
	if err := w.cache.Get(ctx, client.ObjectKey{Namespace: namespace, Name: setName}, &set); err != nil {
		return "", false, fmt.Errorf("reading the set: %w", err)
	}
	status := set.Status
	seen := fmt.Sprintf("generation %d of %d observed, %d ready, %d updated of %d, %s",
		status.ObservedGeneration, set.Generation, status.ReadyReplicas, status.UpdatedReplicas, groups, status.Summary)
	holds := status.ObservedGeneration == set.Generation &&
		int(status.ReadyReplicas) == groups && int(status.UpdatedReplicas) == groups &&
		meta.IsStatusConditionTrue(status.Conditions, lwsv1.ConditionAvailable) &&
		meta.IsStatusConditionPresentAndEqual(status.Conditions, lwsv1.ConditionUpdateInProgress, metav1.ConditionFalse)
	return seen, holds, nil
}
