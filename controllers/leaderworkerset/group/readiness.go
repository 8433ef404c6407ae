package group

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Reasons of the condition group-ready.
const (
	reasonWorkersReady    = "WorkersReady"
	reasonWorkersNotReady = "WorkersNotReady"
)

// setReadiness tells by the leader's condition group-ready whether its workers are
// ready. With Hash identity whoever counts leaders counts groups so.
type setReadiness struct{ Ready bool }

// keepReadiness brings the condition in line with the workers. None at all means that
// they are not ready.
func (p *plan) keepReadiness(o *observation) {
	if !o.Leader.HasReadinessGate {
		return
	}
	if ready := o.areWorkersReady(); ready != o.Leader.GroupReady {
		p.do(setReadiness{Ready: ready})
	}
}

// areWorkersReady: all workers of the leader's revision are ready. A group of one pod
// has none to wait for.
func (o *observation) areWorkersReady() bool {
	if o.Leader.Size < 2 {
		return true
	}
	in := o.workersInput()
	workers := in.living()
	return workers != nil && !workers.Deleting && workers.Revision == o.Leader.Revision &&
		workers.Available >= o.Leader.Size-1
}

func (s setReadiness) run(ctx context.Context, w *writer) error {
	leader := w.leaderPod()
	condition := coreapply.PodCondition().
		WithType(lwsv1.GroupReadyReadinessGate).
		WithStatus(corev1.ConditionFalse).
		WithReason(reasonWorkersNotReady).
		WithLastTransitionTime(metav1.NewTime(w.o.Now))
	if s.Ready {
		condition.WithStatus(corev1.ConditionTrue).WithReason(reasonWorkersReady)
	}
	desired := coreapply.Pod(leader.Name, leader.Namespace).
		WithUID(leader.UID).
		WithStatus(coreapply.PodStatus().WithConditions(condition))
	err := w.client.Status().Apply(ctx, desired, client.FieldOwner(lwsv1.FieldManager), client.ForceOwnership)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return errStale
	}
	if err != nil {
		return w.failure(verbUpdate, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: leader.Name}}, err)
	}
	w.note.ready = &s.Ready
	return nil
}
