package disaggregatedset

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
)

// Reconciler brings a set into line with its spec.
type Reconciler struct {
	client   client.Client // reads from the cache
	live     client.Reader // reads from the API server
	recorder events.EventRecorder
	clock    clock.PassiveClock
	// unserved and watching are those of Options, never nil.
	unserved func() string
	watching func() bool
	memory   *memory
	trace    func(Span)
}

// New returns a reconciler. The client reads from a cache with the indexes of
// RegisterIndexes, live from the API server.
func New(c client.Client, live client.Reader, recorder events.EventRecorder, options Options) *Reconciler {
	r := &Reconciler{
		client: c, live: live, recorder: recorder, clock: options.Clock,
		unserved: options.Unserved, watching: options.watching, memory: newMemory(), trace: options.Trace,
	}
	if r.trace == nil {
		r.trace = func(Span) {}
	}
	if r.clock == nil {
		r.clock = clock.RealClock{}
	}
	if r.unserved == nil {
		r.unserved = func() string { return "" }
	}
	if r.watching == nil {
		r.watching = func() bool { return true }
	}
	return r
}

// Reconcile brings one set closer to its spec.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	set := &dsv1.DisaggregatedSet{}
	if err := r.client.Get(ctx, request.NamespacedName, set); err != nil {
		if !apierrors.IsNotFound(err) {
			return ctrl.Result{}, fmt.Errorf("set %s: %w", request, err)
		}
		r.memory.forget(request.NamespacedName)
		forgetMetrics(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	if !set.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil // its objects go by garbage collection
	}
	if why := r.unserved(); why != "" {
		out := &outcome{Again: unservedDelay}
		seen := &observation{Set: set, Now: r.clock.Now()}
		r.store(ctx, seen, unserved(seen, why), out)
		return result(request, out)
	}
	if !r.watching() {
		return ctrl.Result{RequeueAfter: beginningDelay}, nil
	}
	return r.realise(ctx, request, set)
}

func (r *Reconciler) realise(ctx context.Context, request ctrl.Request, set *dsv1.DisaggregatedSet) (ctrl.Result, error) {
	seen, err := r.observe(ctx, set)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("set %s: %w", request, err)
	}
	plans := make([]*slicePlan, len(seen.Slices))
	for i := range seen.Slices {
		plans[i] = planSlice(seen, i)
	}
	measure(seen, plans)
	out := r.write(ctx, seen, plans)
	r.report(ctx, seen, out)
	return result(request, out)
}

func result(request ctrl.Request, out *outcome) (ctrl.Result, error) {
	if err := out.err(); err != nil {
		return ctrl.Result{}, fmt.Errorf("set %s: %w", request, err)
	}
	if out.Stale {
		return ctrl.Result{RequeueAfter: staleDelay}, nil
	}
	return ctrl.Result{RequeueAfter: out.Again}, nil
}

var _ reconcile.Reconciler = &Reconciler{}
