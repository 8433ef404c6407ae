package group

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// takenWorkers and takenService are what names are remembered by that others have.
const (
	takenWorkers = "StatefulSet"
	takenService = "Service"
)

// run creates the worker StatefulSet. The cache shows only what has our labels, so a
// name that looks free may be taken: one live read tells by whom.
func (createWorkers) run(ctx context.Context, w *writer) error {
	desired, err := w.workersFor(ctx)
	if err != nil {
		return err
	}
	err = w.client.Create(ctx, desired, client.FieldOwner(lwsv1.FieldManager))
	if apierrors.IsAlreadyExists(err) {
		return w.resolveWorkers(ctx, desired)
	}
	if err != nil {
		return w.failure(verbCreate, desired, err)
	}
	delete(w.note.taken, takenWorkers)
	w.note.workers = made{uid: desired.UID, at: w.o.Now}
	w.note.settled = settled{uid: desired.UID, generation: desired.Generation, desired: dependsOn(desired.Spec.PersistentVolumeClaimRetentionPolicy)}
	return nil
}

// resolveWorkers finds out whose a StatefulSet is that was in the way. Ours may only
// have lost the labels that the cache goes by.
func (w *writer) resolveWorkers(ctx context.Context, desired *appsv1.StatefulSet) error {
	live := &appsv1.StatefulSet{}
	if err := w.live.Get(ctx, client.ObjectKeyFromObject(desired), live); err != nil {
		if apierrors.IsNotFound(err) {
			return errStale
		}
		return fmt.Errorf("StatefulSet %s: %w", desired.Name, err)
	}
	in := w.o.workersInput()
	in.Workers = workerSetOf(live)
	switch whose := in.belonging(); {
	case whose == in.rightful() && in.living() != nil && !in.Workers.Deleting:
		w.note.workers = made{uid: live.UID, at: w.o.Now}
		if hasLabels(live, w.o) {
			return nil
		}
		return w.applyWorkers(ctx, desired, live)
	case whose == ofSomebody, whose == ofNobody && live.Labels[lwsv1.SetNameLabelKey] != w.o.Group.Set, isOfOthers(live, w.o.Group):
		return &takenError{name: takenWorkers, message: describeTaken("StatefulSet "+desired.Name, controllerOf(live))}
	}
	return errStale
}

// run compares the worker StatefulSet with what it has to be, once for each change of
// it: its generation counts them. The first generation is as it was made, by us or by
// an earlier release.
func (checkWorkers) run(ctx context.Context, w *writer) error {
	live := w.o.workers
	depends := dependsOn(w.o.set.Spec.LeaderWorkerTemplate.PersistentVolumeClaimRetentionPolicy)
	if w.note.settled == (settled{live.UID, live.Generation, depends}) && hasLabels(live, w.o) {
		return nil
	}
	if live.Generation <= 1 && hasLabels(live, w.o) && dependsOn(live.Spec.PersistentVolumeClaimRetentionPolicy) == depends {
		w.note.settled = settled{live.UID, live.Generation, depends}
		return nil
	}
	// The domain is the one that the workers got: their leader does not move.
	w.o.Domain = live.Spec.Template.Spec.NodeSelector[w.o.Topology]
	desired, err := w.workersFor(ctx)
	if err != nil {
		return err
	}
	if workersDiffer(desired, live) || !hasLabels(live, w.o) {
		return w.applyWorkers(ctx, desired, live)
	}
	w.note.settled = settled{live.UID, live.Generation, depends}
	return nil
}

// applyWorkers writes what the worker StatefulSet has to be over what it is. If that
// changes nothing, because somebody insists on something else, it is not tried again.
func (w *writer) applyWorkers(ctx context.Context, desired, live *appsv1.StatefulSet) error {
	config, err := applyConfigurationOf(desired)
	if err != nil {
		return err
	}
	config.WithUID(live.UID)
	if err := w.client.Apply(ctx, config, client.FieldOwner(lwsv1.FieldManager), client.ForceOwnership); err != nil {
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			return errStale
		}
		return w.failure(verbUpdate, desired, err)
	}
	if config.Generation != nil {
		w.note.settled = settled{live.UID, *config.Generation, dependsOn(desired.Spec.PersistentVolumeClaimRetentionPolicy)}
	}
	return nil
}

// run creates the Service of the group, in the way of createWorkers.
func (createService) run(ctx context.Context, w *writer) error {
	config := desiredService(w.o.Group, w.o.set, w.leaderPod())
	desired := &corev1.Service{}
	if err := convert(config, desired); err != nil {
		return err
	}
	err := w.client.Create(ctx, desired, client.FieldOwner(lwsv1.FieldManager))
	if apierrors.IsAlreadyExists(err) {
		return w.resolveService(ctx, desired)
	}
	if err != nil {
		return w.failure(verbCreate, desired, err)
	}
	delete(w.note.taken, takenService)
	w.note.service = made{uid: desired.UID, at: w.o.Now}
	return nil
}

// resolveService finds out whose a Service is that was in the way.
func (w *writer) resolveService(ctx context.Context, desired *corev1.Service) error {
	live := &corev1.Service{}
	if err := w.live.Get(ctx, client.ObjectKeyFromObject(desired), live); err != nil {
		if apierrors.IsNotFound(err) {
			return errStale
		}
		return fmt.Errorf("the Service %s: %w", desired.Name, err)
	}
	controller := controllerOf(live)
	ours := live.Labels[lwsv1.SetNameLabelKey] == w.o.Group.Set
	switch {
	case controller.UID == w.o.Leader.UID && live.DeletionTimestamp == nil && !ours:
		w.o.Service = &ownService{UID: live.UID}
		return applyService{}.run(ctx, w)
	case controller.Kind == kindPod && controller.Name == w.o.Leader.Name, controller == owner{} && ours:
		return errStale
	}
	return &takenError{name: takenService, message: describeTaken("Service "+desired.Name, controller)}
}

func (applyService) run(ctx context.Context, w *writer) error {
	config := desiredService(w.o.Group, w.o.set, w.leaderPod()).WithUID(w.o.Service.UID)
	if err := w.client.Apply(ctx, config, client.FieldOwner(lwsv1.FieldManager), client.ForceOwnership); err != nil {
		if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
			return errStale
		}
		return w.failure(verbUpdate, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: w.o.Group.Name()}}, err)
	}
	return nil
}

func (s deleteService) run(ctx context.Context, w *writer) error {
	return w.delete(ctx, &corev1.Service{}, w.o.Group.Name(), s.UID, metav1.DeletePropagationBackground)
}

// convert makes the object that an apply configuration describes.
func convert(config runtime.ApplyConfiguration, into client.Object) error {
	encoded, err := json.Marshal(config)
	if err != nil {
		return fmt.Errorf("encode %T: %w", config, err)
	}
	if err := json.Unmarshal(encoded, into); err != nil {
		return fmt.Errorf("decode %T: %w", into, err)
	}
	return nil
}

// takenError: somebody else's object has a name that the group needs.
type takenError struct {
	name    string
	message string
}

func (e *takenError) Error() string { return e.message }

func describeTaken(object string, by owner) string {
	if by == (owner{}) {
		return object + " exists and is not the set's; delete or rename it, or the set"
	}
	return fmt.Sprintf("%s exists and belongs to %s %s; delete or rename it, or the set", object, by.Kind, by.Name)
}

func isTaken(err error) (*takenError, bool) {
	return errors.AsType[*takenError](err)
}
