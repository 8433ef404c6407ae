package group

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/metrics"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// Reconciler looks after one group at a time.
type Reconciler struct {
	client   client.Client
	live     client.Reader // past the cache
	recorder events.EventRecorder
	reports  *Reports
	clock    clock.PassiveClock
	notes    *notes
	ledger   *ledger
	paired   *pairs
	metrics  *metrics.Metrics
	gangs    Scheduling
}

// New returns a reconciler of groups. live reads past the cache.
func New(c client.Client, live client.Reader, recorder events.EventRecorder, options Options) *Reconciler {
	r := &Reconciler{
		client:   c,
		live:     live,
		recorder: recorder,
		reports:  options.Reports,
		clock:    options.Clock,
		notes:    newNotes(),
		ledger:   newLedger(),
		gangs:    options.Scheduling,
		paired:   newPairs(),
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

// Reconcile brings one group to what it has to be.
func (r *Reconciler) Reconcile(ctx context.Context, group identity.Group) (reconcile.Result, error) {
	o, err := r.observe(ctx, group)
	if err != nil {
		return reconcile.Result{}, err
	}
	p := planFor(o)
	note := r.notes.of(group, o.leaderUID())
	w := &writer{Reconciler: r, o: o, note: note}
	result, err := w.conclude(p, w.apply(ctx, p.Steps))
	r.reports.Put(group, p.Report)
	r.tell(o, note, p.Tell)
	r.tidy(o)
	return result, errors.Join(err, p.Err)
}

func (o *observation) leaderUID() types.UID {
	if o.Leader == nil {
		return ""
	}
	return o.Leader.UID
}

// conclude makes of what came of the writes when to look again, what the set is to
// know, and what is told.
func (w *writer) conclude(p *plan, err error) (reconcile.Result, error) {
	if !errors.Is(err, errStale) {
		w.note.stale = 0
	}
	if err == nil {
		if w.o.Set != nil {
			w.note.policy = w.o.Set.Policy
		}
		return reconcile.Result{RequeueAfter: p.After}, nil
	}
	// What was to be told once all is done is not, or not yet.
	p.Tell = nil
	if failed, ok := isGang(err); ok {
		p.Report.Scheduling = &Problem{Reason: failed.reason, Message: fmt.Sprintf("Group %s: %s", w.o.Group.Index, failed)}
	}
	taken, isTaken := isTaken(err)
	switch {
	case errors.Is(err, errEnding), errors.Is(err, context.Canceled):
		return reconcile.Result{}, nil // the next manager goes on
	case errors.Is(err, errStale):
		return reconcile.Result{RequeueAfter: w.note.behind()}, nil
	case isTaken:
		p.Report.Problem = conflictProblem(taken.message)
		p.tell(nameConflict(taken.message))
		return reconcile.Result{RequeueAfter: w.note.take(taken.name, taken.message, w.o.Now)}, nil
	}
	w.refused(p, err)
	return reconcile.Result{}, fmt.Errorf("group %s: %w", w.o.Group, err)
}

// refused reports a write that the API server, or an admission webhook, does not
// want. It is tried again with backoff: a quota may grow.
func (w *writer) refused(p *plan, err error) {
	var failed *writeError
	if !errors.As(err, &failed) || !isRefusal(failed.err) {
		return
	}
	text := fmt.Sprintf("Group %s: %s was refused: %s", w.o.Group.Index, failed.verb+" "+failed.object, failed.err)
	if failed.verb != verbCreate {
		p.tell(failedUpdate(text))
		return
	}
	p.Report.Problem = &Problem{Reason: lwsv1.ReasonFailedCreate, Message: text}
	p.tell(failedCreate(text))
}

// isRefusal says whether the API server answered and does not want the object. A
// request that it had no time for is none.
func isRefusal(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch code := status.Status().Code; code {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusUnauthorized:
		return false
	default:
		return code >= http.StatusBadRequest && code < http.StatusInternalServerError
	}
}

// tidy drops what is remembered of what is gone.
func (r *Reconciler) tidy(o *observation) {
	r.ledger.keep(o.Group, o.Watched, o.Losses)
	if o.Set == nil && o.Leader == nil {
		r.paired.forget(o.Group.SetKey())
	}
	if o.Leader == nil && o.Workers == nil && len(o.pods) == 0 {
		r.notes.forget(o.Group)
	}
}

func (r *Reconciler) log(ctx context.Context) logr.Logger {
	return log.FromContext(ctx)
}
