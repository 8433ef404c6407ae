package leaderworkerset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/metrics"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// Reconciler brings a set into line with its spec. What concerns one group only
// is the work of the reconciler of groups.
type Reconciler struct {
	client   client.Client // reads from the cache
	live     client.Reader // reads from the API server
	reports  *group.Reports
	recorder events.EventRecorder
	clock    clock.PassiveClock
	memory   *memory
	metrics  *metrics.Metrics
	gangs    Scheduling
}

// New returns a reconciler of sets. The client reads from a cache with the
// options of CacheOptions, live from the API server.
func New(c client.Client, live client.Reader, recorder events.EventRecorder, options Options) *Reconciler {
	r := &Reconciler{
		client:   c,
		live:     live,
		reports:  options.Reports,
		recorder: recorder,
		clock:    options.Clock,
		memory:   newMemory(),
		gangs:    options.Scheduling,
		metrics:  options.Metrics,
	}
	if r.metrics == nil {
		r.metrics = metrics.New()
	}
	if r.gangs == nil {
		r.gangs = scheduling.NewNone(false)
	}
	if r.clock == nil {
		r.clock = clock.RealClock{}
	}
	return r
}

// Reconcile brings one set closer to its spec.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	set := &lwsv1.LeaderWorkerSet{}
	if err := r.client.Get(ctx, request.NamespacedName, set); err != nil {
		if !apierrors.IsNotFound(err) {
			return ctrl.Result{}, fmt.Errorf("set %s: %w", request, err)
		}
		r.memory.forget(request.NamespacedName)
		r.reports.Forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	if !set.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.end(ctx, set)
	}
	return r.realise(ctx, set)
}

func (r *Reconciler) realise(ctx context.Context, set *lwsv1.LeaderWorkerSet) (ctrl.Result, error) {
	seen, err := r.observe(ctx, set)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("set %s: %w", client.ObjectKeyFromObject(set), err)
	}
	r.memory.sawGroups(client.ObjectKeyFromObject(set), len(seen.Groups))
	p, err := makePlan(seen)
	if err == nil {
		p.Scheduling, err = planScheduling(seen, r.gangs)
	}
	if err != nil {
		return ctrl.Result{}, reconcile.TerminalError(fmt.Errorf("set %s: %w", client.ObjectKeyFromObject(set), err))
	}
	out := r.apply(ctx, seen, p)
	r.report(ctx, seen, p, out)
	if err := errors.Join(out.Errs...); err != nil {
		return ctrl.Result{}, fmt.Errorf("set %s: %w", client.ObjectKeyFromObject(set), err)
	}
	return ctrl.Result{RequeueAfter: out.Again}, nil
}

// report stores the status, once, and tells what changed with it.
func (r *Reconciler) report(ctx context.Context, seen *observation, p *plan, out *outcome) {
	remembered := r.memory.of(client.ObjectKeyFromObject(seen.Set), seen.Set.UID)
	record(r.recorder, seen.Set, out.Told)

	stored := &seen.Set.Status
	status := computeStatus(stored, statusInput{
		Generation:      seen.Set.Generation,
		Tally:           p.Tally,
		Worst:           worst(out.Obstacles),
		CurrentRevision: p.Current,
		UpdateRevision:  p.Revision.Key,
		GroupRestarts:   p.Counts.Sum,
		PodSelector:     identity.LeaderSelectorString(seen.Set.Name),
		Scheduling:      schedulingCondition(seen, out),
		Now:             metav1.NewTime(seen.Now),
	})
	r.metrics.Observe(client.ObjectKeyFromObject(seen.Set),
		sampleOf(p.Tally, seen.Groups, p.Rollout.Verdict, status.Conditions, seen.Now))
	switch urgencyOf(stored, status) {
	case statusEqual:
		return
	case statusLater:
		if wait := remembered.StatusStored.Add(statusInterval(p.Tally.Desired)).Sub(seen.Now); wait > 0 {
			out.lookAgain(wait)
			return
		}
	case statusNow:
	}
	set := seen.Set.DeepCopy()
	set.Status = *status
	patch := client.MergeFromWithOptions(seen.Set, client.MergeFromWithOptimisticLock{})
	if err := r.client.Status().Patch(ctx, set, patch, client.FieldOwner(lwsv1.FieldManager)); err != nil {
		out.failed("storing the status", err)
		return
	}
	remembered.StatusStored = seen.Now
	record(r.recorder, set, transitionEvents(stored.Conditions, status.Conditions))
}

// end is all that a set being deleted gets: its objects go by garbage collection.
// With the policy Parallel the workers do not wait for their leaders. A deletion
// that orphans leaves everything.
func (r *Reconciler) end(ctx context.Context, set *lwsv1.LeaderWorkerSet) error {
	if lwsv1.PodTerminationPolicy(set) != lwsv1.ParallelPodTermination || isOrphaning(set) {
		return nil
	}
	workers, err := r.workersOf(ctx, set)
	if err != nil {
		return fmt.Errorf("set %s: %w", client.ObjectKeyFromObject(set), err)
	}
	var errs []error
	for _, worker := range workers {
		if worker.DeletionTimestamp != nil {
			continue
		}
		if err := deleteByUID(ctx, r.client, worker, metav1.DeletePropagationForeground); err != nil {
			errs = append(errs, fmt.Errorf("deleting StatefulSet %s: %w", client.ObjectKeyFromObject(worker), err))
		}
	}
	return errors.Join(errs...)
}

func isOrphaning(set *lwsv1.LeaderWorkerSet) bool {
	return slices.Contains(set.Finalizers, metav1.FinalizerOrphanDependents)
}

func (r *Reconciler) workersOf(ctx context.Context, set *lwsv1.LeaderWorkerSet) ([]*appsv1.StatefulSet, error) {
	seen := &observation{Set: set}
	if err := leadershipOf(set).observe(ctx, r, seen); err != nil {
		return nil, err
	}
	var pods corev1.PodList
	if err := r.listOfSet(ctx, set, &pods, identity.LeadersBySetIndex); err != nil {
		return nil, err
	}
	var workers appsv1.StatefulSetList
	if err := r.listOfSet(ctx, set, &workers, identity.WorkerStatefulSetsBySetIndex); err != nil {
		return nil, err
	}
	m := seen.members()
	m.leaders, m.workers = pointers(pods.Items), pointers(workers.Items)
	return ownWorkers(m), nil
}
