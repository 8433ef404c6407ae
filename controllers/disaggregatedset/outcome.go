package disaggregatedset

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// outcome is what came of the writes of one reconcile.
type outcome struct {
	Errs []error
	// Conflicts are names that are taken, Obstacles all else that is waited for.
	Conflicts, Obstacles []string
	Told                 []notice
	// Again is when to look again although nothing may change by then; 0 is never.
	Again time.Duration
	// Stale says that a write met an object that had changed.
	Stale bool
}

// failed sorts out the error of a write.
func (o *outcome) failed(what string, err error) {
	switch {
	case apierrors.IsConflict(err), isGone(err):
		o.Stale = true
		return
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return // everything goes; there is nothing left to do
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err):
		o.Obstacles = append(o.Obstacles, fmt.Sprintf("%s was refused: %v", what, err))
	}
	o.Errs = append(o.Errs, fmt.Errorf("%s: %w", what, err))
}

// isGone says that an object is no longer there, which the cache will show, the set
// itself included. That a kind is not served is another matter.
func isGone(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

func (o *outcome) lookAgain(after time.Duration) {
	if o.Again == 0 || after < o.Again {
		o.Again = after
	}
}

// add takes in what came of other writes of the same reconcile.
func (o *outcome) add(other *outcome) {
	o.Errs = append(o.Errs, other.Errs...)
	o.Conflicts, o.Obstacles = append(o.Conflicts, other.Conflicts...), append(o.Obstacles, other.Obstacles...)
	o.Told = append(o.Told, other.Told...)
	o.Stale = o.Stale || other.Stale
	if other.Again > 0 {
		o.lookAgain(other.Again)
	}
}

func (o *outcome) err() error { return errors.Join(o.Errs...) }
