package disaggregatedset

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
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
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
)

// +kubebuilder:rbac:groups=disaggregatedset.x-k8s.io,resources=disaggregatedsets,verbs=list;watch
// +kubebuilder:rbac:groups=disaggregatedset.x-k8s.io,resources=disaggregatedsets/status,verbs=patch
// +kubebuilder:rbac:groups=disaggregatedset.x-k8s.io,resources=disaggregatedsets/finalizers,verbs=update
// +kubebuilder:rbac:groups=disaggregatedset.x-k8s.io,resources=disaggregatedsetrolescalers,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=disaggregatedset.x-k8s.io,resources=disaggregatedsetrolescalers/status,verbs=patch
// +kubebuilder:rbac:groups=leaderworkerset.x-k8s.io,resources=leaderworkersets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Options are what the reconciler shares with its surroundings.
type Options struct {
	// Clock tells the time; nil is the clock of the machine.
	Clock clock.PassiveClock
	// Unserved says why the API of LeaderWorkerSets cannot be used; empty if it can or
	// if that is not known yet, nil if it certainly can.
	Unserved func() string
	// Served is closed when it can be used from then on; nil if it can already.
	Served <-chan struct{}
	// Concurrency is how many sets are reconciled at the same time; 0 is 1.
	Concurrency int
	// Trace is told of rollouts that are over, and does not wait; nil if nobody is.
	Trace func(Span)

	// watching says that they are in the cache; nil if they certainly are.
	watching func() bool
}

const (
	controllerName = "disaggregatedset"

	// coalescing is how long events of a set's objects wait for others: a step of a
	// rollout makes several at once.
	coalescing = 50 * time.Millisecond

	// staleDelay is how long to wait for the cache to catch up with a write.
	staleDelay = 50 * time.Millisecond

	// beginningDelay is how long to wait while it is not known yet whether there are
	// LeaderWorkerSets: a manager that has just begun says nothing about that.
	beginningDelay = 200 * time.Millisecond

	// unservedDelay is how long to wait before the next look at an API that is not
	// served: there is nothing to watch.
	unservedDelay = 2 * time.Second
)

// Indexes by the name of the set that an object belongs to, by its label or, for
// scalers, which users may make without one, by what their names may begin with.
const (
	bySetIndex  = "disaggregatedset/set"
	byNameIndex = "disaggregatedset/name"
)

// CacheOptions narrow what the manager keeps in memory to what carries the labels
// of sets.
func CacheOptions() cache.Options {
	labelled, err := labels.NewRequirement(dsv1.SetNameLabelKey, selection.Exists, nil)
	if err != nil {
		panic(err) // the key is a constant
	}
	narrowed := cache.ByObject{Label: labels.NewSelector().Add(*labelled)}
	return cache.Options{ByObject: map[client.Object]cache.ByObject{
		&lwsv1.LeaderWorkerSet{}: narrowed,
		&corev1.Service{}:        narrowed,
	}}
}

// RegisterIndexes adds the indexes of kinds that are served from the beginning.
func RegisterIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &corev1.Service{}, bySetIndex, setOfLabels); err != nil {
		return fmt.Errorf("index services: %w", err)
	}
	if err := indexer.IndexField(ctx, &dsv1.DisaggregatedSetRoleScaler{}, byNameIndex, setsOfName); err != nil {
		return fmt.Errorf("index scalers: %w", err)
	}
	return nil
}

// RegisterLeaderWorkerSetIndexes adds those of LeaderWorkerSets, once they are
// served.
func RegisterLeaderWorkerSetIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &lwsv1.LeaderWorkerSet{}, bySetIndex, setOfLabels); err != nil {
		return fmt.Errorf("index LeaderWorkerSets: %w", err)
	}
	return nil
}

func setOfLabels(obj client.Object) []string {
	if set := identity.SetOf(obj.GetLabels()); set != "" {
		return []string{set}
	}
	return nil
}

// setsOfName are the sets that may have a scaler of this name: all that a role's
// name may follow.
func setsOfName(obj client.Object) []string {
	var sets []string
	name := obj.GetName()
	for i := range len(name) {
		if name[i] == '-' && i > 0 {
			sets = append(sets, name[:i])
		}
	}
	return sets
}

// Setup adds the controller to a manager.
func Setup(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if err := RegisterIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := RegisterMetrics(); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	late := &lateWatch{mgr: mgr, served: options.Served}
	options.watching = late.watching.Load
	r := New(mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder(controllerName), options)
	c, err := ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		For(&dsv1.DisaggregatedSet{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Service{}, wake(setOfLabels)).
		Watches(&dsv1.DisaggregatedSetRoleScaler{}, wake(setsOfName)).
		WithOptions(controller.Options{MaxConcurrentReconciles: options.Concurrency}).
		Build(r)
	if err != nil {
		return fmt.Errorf("controller %s: %w", controllerName, err)
	}
	late.controller = c
	return mgr.Add(late)
}

// lateWatch begins to watch LeaderWorkerSets when they are served.
type lateWatch struct {
	mgr        ctrl.Manager
	controller controller.Controller
	served     <-chan struct{}
	watching   atomic.Bool
}

var _ manager.LeaderElectionRunnable = &lateWatch{}

// Start waits until LeaderWorkerSets are served and watches them.
func (l *lateWatch) Start(ctx context.Context) error {
	if l.served != nil {
		select {
		case <-ctx.Done():
			return nil
		case <-l.served:
		}
	}
	if err := RegisterLeaderWorkerSetIndexes(ctx, l.mgr.GetFieldIndexer()); err != nil {
		return err
	}
	err := l.controller.Watch(source.Kind[client.Object](l.mgr.GetCache(), &lwsv1.LeaderWorkerSet{}, wake(setOfLabels)))
	if err != nil {
		return fmt.Errorf("watch LeaderWorkerSets: %w", err)
	}
	l.watching.Store(true)
	return nil
}

// NeedLeaderElection is false: a replica that waits for the Lease has its caches
// filled when it gets it.
func (l *lateWatch) NeedLeaderElection() bool { return false }

func wake(setsOf func(client.Object) []string) handler.EventHandler {
	add := func(obj client.Object, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) {
		for _, set := range setsOf(obj) {
			queue.AddAfter(ctrl.Request{NamespacedName: types.NamespacedName{Namespace: obj.GetNamespace(), Name: set}}, coalescing)
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[ctrl.Request]) {
			add(e.Object, q)
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[ctrl.Request]) {
			add(e.ObjectNew, q)
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[ctrl.Request]) {
			add(e.Object, q)
		},
	}
}
