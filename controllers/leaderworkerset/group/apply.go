package group

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// errStale: what a step was planned from is not so any more. The cache will show it.
var errStale = errors.New("the cache is behind")

// writer does the writes of one reconcile.
type writer struct {
	*Reconciler
	o    *observation
	note *note
}

// apply does the steps of a plan until one fails.
func (w *writer) apply(ctx context.Context, steps []step) error {
	for _, s := range steps {
		if err := s.run(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

func (liftGate) run(ctx context.Context, w *writer) error {
	if err := w.patchPod(ctx, w.leaderPod(), gatePatch(w.leaderPod())); err != nil {
		return err
	}
	w.note.lifted = true
	return nil
}

func (s annotateLeader) run(ctx context.Context, w *writer) error {
	operations := annotationPatch(w.leaderPod(), s.Key, s.Value)
	if s.Remove {
		operations = annotationRemoval(w.leaderPod(), s.Key)
	}
	if err := w.patchPod(ctx, w.leaderPod(), operations); err != nil {
		return err
	}
	if s.Key == lwsv1.GroupMembersAnnotationKey {
		written := s.Value
		w.note.memory = &written
	}
	return nil
}

func (exhaustLeader) run(ctx context.Context, w *writer) error {
	p := w.leaderPod()
	operations := annotationPatch(p, lwsv1.GroupRestartBudgetExhaustedAnnotationKey, trueValue)
	return w.patchPod(ctx, p, append(operations, finalizerPatch(p)...))
}

func (s retainPod) run(ctx context.Context, w *writer) error {
	return w.patchPod(ctx, w.o.pods[s.Pod.UID], finalizerPatch(w.o.pods[s.Pod.UID]))
}

func (s releasePod) run(ctx context.Context, w *writer) error {
	return w.patchPod(ctx, w.o.pods[s.Pod.UID], finalizerRemoval(w.o.pods[s.Pod.UID]))
}

// run deletes the leader in the foreground: garbage collection ends the workers at
// the same time, and the leader's name is free when they are gone.
func (s deleteLeader) run(ctx context.Context, w *writer) error {
	if err := w.delete(ctx, &corev1.Pod{}, s.Leader.Name, s.Leader.UID, metav1.DeletePropagationForeground); err != nil {
		return err
	}
	if s.Failure != nil && !w.note.deleted {
		w.metrics.Recreated(w.o.Group.SetKey(), string(s.Failure.Kind))
	}
	w.note.deleted = true
	if s.Failure != nil {
		w.log(ctx).Info("Recreating group", "leader", s.Leader.UID, "cause", s.Failure.Kind, "pod", s.Failure.Pod)
	}
	return nil
}

func (s deletePod) run(ctx context.Context, w *writer) error {
	return w.delete(ctx, &corev1.Pod{}, s.Pod.Name, s.Pod.UID, metav1.DeletePropagationBackground)
}

// run makes sure that an owner that is believed to be gone is gone: the caches of
// pods and StatefulSets are not of the same instant.
func (s deleteWorkers) run(ctx context.Context, w *writer) error {
	if s.Owner.Kind == kindPod {
		live := &metav1.PartialObjectMetadata{}
		live.SetGroupVersionKind(podKind)
		err := w.live.Get(ctx, types.NamespacedName{Namespace: w.o.Group.Namespace, Name: s.Owner.Name}, live)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("owner of worker StatefulSet %s: %w", w.o.Group.Name(), err)
		}
		if err == nil && live.UID == s.Owner.UID {
			return errStale
		}
	}
	w.log(ctx).Info("Deleting worker StatefulSet", "uid", s.UID, "because", s.Why)
	return w.delete(ctx, &appsv1.StatefulSet{}, w.o.Group.Name(), s.UID, metav1.DeletePropagationForeground)
}

func (s adoptWorkers) run(ctx context.Context, w *writer) error {
	target := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: w.o.Group.Namespace, Name: w.o.Group.Name()}}
	return w.patch(ctx, target, ownerPatch(w.o.workers, referenceTo(s.Owner)))
}

func (w *writer) leaderPod() *corev1.Pod {
	return w.o.pods[w.o.Leader.UID]
}

func (w *writer) patchPod(ctx context.Context, p *corev1.Pod, operations []operation) error {
	if len(operations) == 0 {
		return nil
	}
	return w.patch(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}}, operations)
}

// patch sends a JSON patch. One whose tests fail was made from an old state.
func (w *writer) patch(ctx context.Context, obj client.Object, operations []operation) error {
	patch, err := jsonPatch(operations)
	if err != nil {
		return err
	}
	err = w.client.Patch(ctx, obj, patch, client.FieldOwner(lwsv1.FieldManager))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || isFailedTest(err) {
		return errStale
	}
	return w.failure(verbUpdate, obj, err)
}

// isFailedTest: the API server answers so if a test of a JSON patch fails, or the
// path of an operation is not there.
func isFailedTest(err error) bool {
	return apierrors.IsInvalid(err)
}

// delete deletes one object, and none that has its name by now. That it is gone is
// no error.
func (w *writer) delete(ctx context.Context, obj client.Object, name string, uid types.UID, policy metav1.DeletionPropagation) error {
	obj.SetNamespace(w.o.Group.Namespace)
	obj.SetName(name)
	err := w.client.Delete(ctx, obj, client.Preconditions{UID: &uid}, client.PropagationPolicy(policy))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return w.failure(verbDelete, obj, err)
}

const (
	verbCreate = "creating"
	verbUpdate = "updating"
	verbDelete = "deleting"
)

// writeError is a write that the API server did not do.
type writeError struct {
	verb   string
	object string
	err    error
}

func (e *writeError) Error() string { return e.verb + " " + e.object + ": " + e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }

// failure wraps the error of a write once. Nothing is made in a namespace that
// goes, and that is no error.
func (w *writer) failure(verb string, obj client.Object, err error) error {
	if err == nil {
		return nil
	}
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return errEnding
	}
	kind := "object"
	if gvk, kindErr := w.client.GroupVersionKindFor(obj); kindErr == nil {
		kind = gvk.Kind
	}
	return &writeError{verb: verb, object: kind + " " + obj.GetName(), err: err}
}

// errEnding: the namespace terminates, so the plan ends here.
var errEnding = errors.New("the namespace is terminating")
