package leaderworkerset

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// outcome is what came of the writes of a reconcile: what is in the way, what is
// to be told, and when to look again.
type outcome struct {
	Obstacles []obstacle
	Told      []notice
	Errs      []error
	Again     time.Duration // zero: when something changes

	Scheduling *scheduling.Problem // why scheduling objects of the set are not there
}

// retryConflict is how long a write that was based on an old read waits for the
// cache.
const retryConflict = 100 * time.Millisecond

// obstruct notes what keeps groups from being there.
func (o *outcome) obstruct(reason, message string) {
	o.Obstacles = append(o.Obstacles, obstacle{reason, message})
}

// lookAgain asks for a reconcile after a time, or sooner.
func (o *outcome) lookAgain(after time.Duration) {
	if o.Again == 0 || after < o.Again {
		o.Again = after
	}
}

// write is what was tried when the API server did not do it.
type write struct {
	Verb   string
	Object string // kind and name
}

func (w write) String() string { return w.Verb + " " + w.Object }

const (
	verbCreate = "creating"
	verbUpdate = "updating"
	verbDelete = "deleting"
)

// failed sorts out the error of a write. Nothing is made in a namespace that goes,
// and nothing there is an error; what is gone has its own event; what the end of the
// manager interrupts, its successor does. A refusal is tried again with backoff like
// any error, for a quota may grow.
func (o *outcome) failed(what string, err error) {
	switch {
	case isNamespaceTerminating(err), apierrors.IsNotFound(err), errors.Is(err, context.Canceled):
	case apierrors.IsConflict(err):
		o.lookAgain(retryConflict)
	default:
		o.Errs = append(o.Errs, fmt.Errorf("%s: %w", what, err))
	}
}

func isNamespaceTerminating(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// isRefusal says whether the API server, or an admission webhook, answered and
// does not want the object. A request that it had no time for is none.
func isRefusal(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || isNamespaceTerminating(err) {
		return false
	}
	switch code := status.Status().Code; code {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusConflict, http.StatusNotFound, http.StatusUnauthorized:
		return false
	default:
		return code >= http.StatusBadRequest && code < http.StatusInternalServerError
	}
}

// gravity orders obstacles by how much a user has to do about them. Among equals
// the first counts.
var gravity = []string{
	lwsv1.ReasonNameConflict,
	lwsv1.ReasonFailedCreate,
	"", // a refused update
	lwsv1.ReasonPredecessorTerminating,
	lwsv1.ReasonGroupUnschedulable,
}

// worst is the obstacle that the set speaks of, nil when there is none.
func worst(obstacles []obstacle) *obstacle {
	var found *obstacle
	rank := len(gravity) + 1
	for i, o := range obstacles {
		r := slices.Index(gravity, o.Reason)
		if r < 0 {
			r = len(gravity)
		}
		if r < rank {
			found, rank = &obstacles[i], r
		}
	}
	return found
}
