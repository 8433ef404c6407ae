package group

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/source"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/metrics"
)

// +kubebuilder:rbac:groups=leaderworkerset.x-k8s.io,resources=leaderworkersets,verbs=get;list;watch
// +kubebuilder:rbac:groups=leaderworkerset.x-k8s.io,resources=leaderworkersets/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=controllerrevisions,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments;replicasets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups="",resources=pods/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=pods/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=scheduling.k8s.io,resources=podgroups;compositepodgroups,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=scheduling.volcano.sh,resources=podgroups,verbs=get;list;watch;create

// Options are what the reconciler of groups shares with its surroundings.
type Options struct {
	// Reports is what groups tell their sets.
	Reports *Reports
	// Metrics are what is measured; nil measures for nobody.
	Metrics *metrics.Metrics
	// Scheduling has the pods of a group scheduled together; nil is nobody.
	Scheduling Scheduling
	// Clock tells the time; nil is the clock of the machine.
	Clock clock.PassiveClock
	// Concurrency is how many groups are reconciled at the same time; 0 is 1.
	Concurrency int
}

const (
	controllerName = "group"
	recorderName   = "leaderworkerset"
)

// Setup adds the reconciler of groups, and the index of pods by their group, to a
// manager whose cache has the other indexes of package identity.
//
// The function that it returns watches scheduling objects, once they are served.
func Setup(mgr ctrl.Manager, options Options) (watchScheduling func() error, err error) {
	if err := registerIndex(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return nil, err
	}
	r := New(mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder(recorderName), options)
	c, err := controller.NewTyped(controllerName, mgr, controller.TypedOptions[identity.Group]{
		Reconciler:              r,
		MaxConcurrentReconciles: options.Concurrency,
	})
	if err != nil {
		return nil, fmt.Errorf("controller %s: %w", controllerName, err)
	}
	w := &waker{reader: mgr.GetClient(), ledger: r.ledger, paired: r.paired}
	cache := mgr.GetCache()
	for _, watched := range []source.TypedSource[identity.Group]{
		source.TypedKind(cache, &corev1.Pod{}, w.pods()),
		source.TypedKind(cache, &appsv1.StatefulSet{}, w.statefulSets()),
		source.TypedKind(cache, &appsv1.Deployment{}, w.deployments()),
		source.TypedKind(cache, &appsv1.ReplicaSet{}, w.replicaSets()),
		source.TypedKind(cache, &corev1.Service{}, w.services()),
		source.TypedKind(cache, &lwsv1.LeaderWorkerSet{}, w.sets()),
	} {
		if err := c.Watch(watched); err != nil {
			return nil, fmt.Errorf("controller %s: %w", controllerName, err)
		}
	}
	return func() error { return w.watchScheduling(c, cache, r.gangs) }, nil
}

// registerIndex adds the indexes that a group finds its pods by, its replacement, and
// groups of its name.
func registerIndex(ctx context.Context, indexer client.FieldIndexer) error {
	for name, keys := range map[string]func(metav1.Object) []string{
		identity.PodsByGroupIndex:         identity.PodsByGroup,
		identity.ReplacementsByGroupIndex: identity.ReplacementsByGroup,
		identity.KeyedLeadersByNameIndex:  identity.KeyedLeadersByName,
	} {
		if err := indexer.IndexField(ctx, &corev1.Pod{}, name, func(obj client.Object) []string { return keys(obj) }); err != nil {
			return fmt.Errorf("index %s: %w", name, err)
		}
	}
	return nil
}
