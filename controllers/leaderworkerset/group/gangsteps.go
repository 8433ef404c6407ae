package group

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// createGang makes missing scheduling objects of the group, adoptGang makes the set
// the controller of one, deleteGang removes one that nothing refers to.
type (
	createGang struct{ Missing []scheduling.Ref }
	adoptGang  struct{ Object client.Object }
	deleteGang struct {
		Ref scheduling.Ref
		UID types.UID
	}
)

// gangError is a scheduling object that could not be made.
type gangError struct {
	reason string
	err    error
}

func (e *gangError) Error() string { return e.err.Error() }
func (e *gangError) Unwrap() error { return e.err }

func (s createGang) run(ctx context.Context, w *writer) error {
	spec, err := w.revisionOf(ctx, w.o.Group.SetKey(), w.o.Leader.Revision)
	if err != nil {
		return err
	}
	asOfRevision := w.o.set.DeepCopy()
	asOfRevision.Spec.LeaderWorkerTemplate = spec.LeaderWorkerTemplate
	objects, err := w.gangs.GroupObjects(asOfRevision, w.leaderPod(), w.o.Gang.required)
	if err != nil {
		return &gangError{reason: lwsv1.ReasonInvalidSchedulingConfiguration, err: err}
	}
	for _, obj := range objects {
		ref := scheduling.RefOf(obj)
		if !slices.Contains(s.Missing, ref) {
			continue
		}
		err := w.client.Create(ctx, obj, client.FieldOwner(lwsv1.FieldManager))
		if apierrors.IsAlreadyExists(err) {
			err = w.resolveGang(ctx, ref)
		} else {
			err = w.failure(verbCreate, obj, err)
		}
		if errors.Is(err, errStale) || errors.Is(err, errEnding) {
			return err
		}
		if err != nil {
			return &gangError{reason: lwsv1.ReasonPodGroupCreateFailed, err: err}
		}
		delete(w.note.taken, ref.Kind.Kind)
	}
	w.note.gang = w.o.Now
	return nil
}

func (s adoptGang) run(ctx context.Context, w *writer) error {
	target := &metav1.PartialObjectMetadata{}
	for _, kind := range w.gangs.Kinds() {
		if reflect.TypeOf(kind.New()) == reflect.TypeOf(s.Object) {
			target.SetGroupVersionKind(kind.GroupVersionKind)
		}
	}
	target.SetNamespace(s.Object.GetNamespace())
	target.SetName(s.Object.GetName())
	return w.patch(ctx, target, ownerPatch(s.Object, referenceTo(owner{Kind: setKind.Kind, Name: w.o.Group.Set, UID: w.o.Set.UID})))
}

// resolveGang finds out whose an object is that was in the way. The group's own has
// not come into the cache yet.
func (w *writer) resolveGang(ctx context.Context, ref scheduling.Ref) error {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(ref.Kind)
	if err := w.live.Get(ctx, types.NamespacedName{Namespace: w.o.Group.Namespace, Name: ref.Name}, live); err != nil {
		if apierrors.IsNotFound(err) {
			return errStale
		}
		return fmt.Errorf("%s: %w", ref, err)
	}
	if !isSchedulingObjectOf(w.o, live) {
		return &takenError{name: ref.Kind.Kind, message: describeTaken(ref.String(), controllerOf(live))}
	}
	if live.DeletionTimestamp != nil {
		return errStale
	}
	return nil
}

// run makes sure that nobody refers to the object: the caches of pods and of
// scheduling objects are not of the same instant.
func (s deleteGang) run(ctx context.Context, w *writer) error {
	var pods corev1.PodList
	err := w.live.List(ctx, &pods, client.InNamespace(w.o.Group.Namespace), client.MatchingLabels{
		lwsv1.SetNameLabelKey: w.o.Group.Set, lwsv1.GroupIndexLabelKey: w.o.Group.Index,
	})
	if err != nil {
		return fmt.Errorf("pods of group %s: %w", w.o.Group, err)
	}
	for i := range pods.Items {
		if slices.Contains(w.gangs.GroupRefs(&pods.Items[i]), s.Ref) {
			return errStale
		}
	}
	for _, kind := range w.gangs.Kinds() {
		if kind.GroupVersionKind == s.Ref.Kind {
			w.log(ctx).Info("Deleting scheduling object that no pod refers to", "object", s.Ref.String())
			return w.delete(ctx, kind.New(), s.Ref.Name, s.UID, metav1.DeletePropagationBackground)
		}
	}
	return nil
}

// isGang is the error of a scheduling object.
func isGang(err error) (*gangError, bool) {
	return errors.AsType[*gangError](err)
}
