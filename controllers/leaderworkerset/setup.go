package leaderworkerset

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/metrics"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// +kubebuilder:rbac:groups=leaderworkerset.x-k8s.io,resources=leaderworkersets,verbs=list;watch;patch
// +kubebuilder:rbac:groups=leaderworkerset.x-k8s.io,resources=leaderworkersets/status,verbs=patch
// +kubebuilder:rbac:groups=leaderworkerset.x-k8s.io,resources=leaderworkersets/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=controllerrevisions,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch;delete
// +kubebuilder:rbac:groups="",resources=events,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=scheduling.k8s.io,resources=workloads;podgroups;compositepodgroups,verbs=get;list;watch;create;patch

// Options are what the reconciler of sets shares with its surroundings.
type Options struct {
	// Reports is what groups tell their sets.
	Reports *group.Reports
	// Metrics are what is measured; nil measures for nobody.
	Metrics *metrics.Metrics
	// Scheduling has the pods of sets scheduled together; nil is nobody.
	Scheduling Scheduling
	// Clock tells the time; nil is the clock of the machine.
	Clock clock.PassiveClock
	// Concurrency is how many sets are reconciled at the same time; 0 is 1.
	Concurrency int
}

const (
	controllerName = "leaderworkerset"
	recorderName   = "leaderworkerset"
)

// coalescing is how long events of the children of a set with so many groups wait for
// others: a rollout step or a group that starts makes many at once, and a look at a
// large set costs more. Up to 20 groups: 0.2 s, from 100 groups on: 1 s.
func coalescing(groups int) time.Duration {
	const (
		shortest = 200 * time.Millisecond
		longest  = time.Second
		perGroup = 10 * time.Millisecond
	)
	return max(shortest, min(time.Duration(groups)*perGroup, longest))
}

// Setup adds the reconciler of sets to a manager. The manager's cache has the
// options of CacheOptions and the indexes of RegisterIndexes. The function that it
// returns watches scheduling objects, once they are served.
func Setup(mgr ctrl.Manager, options Options) (watchScheduling func() error, err error) {
	r := New(mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder(recorderName), options)
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		For(&lwsv1.LeaderWorkerSet{}, builder.WithPredicates(setChanged())).
		Watches(&appsv1.StatefulSet{}, r.children(setOfLabels)).
		Watches(&appsv1.StatefulSet{}, r.namesakes()).
		Watches(&appsv1.Deployment{}, r.children(setOfLabels)).
		Watches(&appsv1.Deployment{}, r.namesakes()).
		Watches(&appsv1.ReplicaSet{}, r.children(setOfLabels), builder.WithPredicates(owners())).
		Watches(&corev1.Pod{}, r.children(setOfLabels), builder.WithPredicates(leaderOrUnplaced())).
		Watches(&corev1.Service{}, r.children(setOfLabels), builder.WithPredicates(sharedServices())).
		Watches(&corev1.Service{}, r.namesakes()).
		Watches(&appsv1.ControllerRevision{}, r.children(setOfLabels)).
		Watches(&corev1.Event{}, r.children(setOfFailure(mgr.GetClient()))).
		WatchesRawSource(options.Reports.Source()).
		WithOptions(controller.Options{MaxConcurrentReconciles: options.Concurrency}).
		Build(r)
	if err != nil {
		return nil, fmt.Errorf("controller %s: %w", controllerName, err)
	}
	return func() error { return r.watchScheduling(c, mgr.GetCache()) }, nil
}

// watchScheduling has events of scheduling objects wake their sets, and wakes the
// sets that wait for them to be served.
func (r *Reconciler) watchScheduling(c controller.Controller, cache cache.Cache) error {
	for _, kind := range r.gangs.Kinds() {
		sources := []source.Source{
			source.Kind(cache, kind.New(), r.children(setOfLabels), predicate.Funcs{UpdateFunc: specChanged}),
			source.Kind(cache, kind.New(), r.namesakes()),
		}
		if kind.Parents {
			sources = append(sources, source.Kind(
				cache, kind.New(), handler.EnqueueRequestsFromMapFunc(r.setsOfParent), predicate.Funcs{UpdateFunc: specChanged}))
		}
		for _, watched := range sources {
			if err := c.Watch(watched); err != nil {
				return fmt.Errorf("watch %s: %w", kind.Kind, err)
			}
		}
	}
	return c.Watch(source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
		var sets lwsv1.LeaderWorkerSetList
		if err := r.client.List(ctx, &sets, client.UnsafeDisableDeepCopy); err != nil {
			return fmt.Errorf("sets that use scheduling: %w", err)
		}
		for i := range sets.Items {
			if r.gangs.Uses(&sets.Items[i]) {
				queue.Add(ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&sets.Items[i])})
			}
		}
		return nil
	}))
}

// setsOfParent are the sets that leave their Workload to the owner of this one.
func (r *Reconciler) setsOfParent(ctx context.Context, workload client.Object) []ctrl.Request {
	keys, err := scheduling.SetsOfParent(ctx, r.client, workload)
	if err != nil {
		log.FromContext(ctx).Error(err, "Sets of a Workload were not woken", "workload", client.ObjectKeyFromObject(workload))
		return nil
	}
	var requests []ctrl.Request
	for _, key := range keys {
		requests = append(requests, ctrl.Request{NamespacedName: key})
	}
	return requests
}

// specChanged leaves out the status of scheduling objects, which the scheduler writes.
func specChanged(e event.UpdateEvent) bool {
	return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() ||
		e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
}

// setChanged leaves out writes of the status, which are ours.
func setChanged() predicate.Predicate {
	return predicate.Or(
		predicate.GenerationChangedPredicate{},
		predicate.LabelChangedPredicate{},
		predicate.AnnotationChangedPredicate{},
	)
}

// leaderOrUnplaced lets through what a set looks at of pods: leaders, and whether
// the scheduler can place a worker.
func leaderOrUnplaced() predicate.Predicate {
	counts := func(obj client.Object) bool {
		pod, ok := obj.(*corev1.Pod)
		return ok && (identity.IsLeader(pod) || len(identity.UnschedulableBySet(pod)) > 0)
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return counts(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return counts(e.ObjectOld) || counts(e.ObjectNew) },
		DeleteFunc: func(e event.DeleteEvent) bool { return counts(e.Object) },
	}
}

// owners leaves out all changes of an object but those of its owners.
func owners() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !equality.Semantic.DeepEqual(e.ObjectOld.GetOwnerReferences(), e.ObjectNew.GetOwnerReferences())
	}}
}

func sharedServices() predicate.Predicate {
	return predicate.NewPredicateFuncs(func(obj client.Object) bool {
		service, ok := obj.(*corev1.Service)
		if !ok {
			return false
		}
		_, ofGroup := identity.GroupOfService(service, service.Spec.Selector)
		return !ofGroup
	})
}

// children wakes the set of an object, after a short time for more to come.
func (r *Reconciler) children(setOf func(context.Context, client.Object) (types.NamespacedName, bool)) handler.EventHandler {
	wake := func(ctx context.Context, obj client.Object, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) {
		if set, ok := setOf(ctx, obj); ok {
			queue.AddAfter(ctrl.Request{NamespacedName: set}, coalescing(r.memory.groupsOf(set)))
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[ctrl.Request]) {
			wake(ctx, e.Object, q)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[ctrl.Request]) {
			wake(ctx, e.ObjectNew, q)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[ctrl.Request]) {
			wake(ctx, e.Object, q)
		},
	}
}

// namesakes wakes the set of an object's name when the object goes or changes its
// owners. The objects that a set has once are called like it: what was in its way has
// not its label, so nothing else tells.
func (r *Reconciler) namesakes() handler.EventHandler {
	wake := func(obj client.Object, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) {
		set := client.ObjectKeyFromObject(obj)
		queue.AddAfter(ctrl.Request{NamespacedName: set}, coalescing(r.memory.groupsOf(set)))
	}
	return handler.Funcs{
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[ctrl.Request]) {
			if owners().Update(e) {
				wake(e.ObjectNew, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[ctrl.Request]) {
			wake(e.Object, q)
		},
	}
}

func setOfLabels(_ context.Context, obj client.Object) (types.NamespacedName, bool) {
	return identity.SetOf(obj)
}

// setOfFailure finds the set whose StatefulSet or ReplicaSet cannot make a pod.
func setOfFailure(reader client.Reader) func(context.Context, client.Object) (types.NamespacedName, bool) {
	return func(ctx context.Context, obj client.Object) (types.NamespacedName, bool) {
		failure, ok := obj.(*corev1.Event)
		if !ok {
			return types.NamespacedName{}, false
		}
		about := types.NamespacedName{Namespace: failure.InvolvedObject.Namespace, Name: failure.InvolvedObject.Name}
		var short client.Object = &appsv1.StatefulSet{}
		switch failure.InvolvedObject.Kind {
		case "StatefulSet":
		case "ReplicaSet":
			short = &appsv1.ReplicaSet{}
		default:
			return types.NamespacedName{}, false
		}
		if err := reader.Get(ctx, about, short, client.UnsafeDisableDeepCopy); err != nil {
			return types.NamespacedName{}, false
		}
		return identity.SetOf(short)
	}
}
