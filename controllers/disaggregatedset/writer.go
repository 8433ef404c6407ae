package disaggregatedset

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/children"
)

// Kinds as messages name them.
const (
	leaderWorkerSetKind = "LeaderWorkerSet"
	serviceKind         = "Service"
	scalerKind          = dsv1.RoleScalerKind
)

// writer does the writes of one reconcile and collects what came of them.
type writer struct {
	*Reconciler
	*outcome
	seen       *observation
	remembered *recollection
}

// child is an object as it is to be.
type child struct {
	Kind    schema.GroupVersionKind
	Name    string
	Desired runtime.ApplyConfiguration
	// Fresh is an empty object of the kind.
	Fresh client.Object
}

func (c child) String() string { return c.Kind.Kind + " " + c.Name }

// create makes an object and says whether it is there now. The cache shows only
// what carries our labels, so a name that looks free may be taken: one live read
// tells by whom.
func (w *writer) create(ctx context.Context, c child) bool {
	if w.isTaken(c) {
		return false
	}
	if err := convert(c.Desired, c.Fresh); err != nil {
		w.failed(c.String(), err)
		return false
	}
	err := w.client.Create(ctx, c.Fresh, client.FieldOwner(dsv1.FieldManager))
	switch {
	case apierrors.IsAlreadyExists(err):
		w.resolve(ctx, c)
		return false
	case err != nil:
		w.failed("creating "+c.String(), err)
		return false
	}
	w.remembered.free(c.String())
	return true
}

// isTaken says whether a name is known to be somebody else's, or not free yet.
func (w *writer) isTaken(c child) bool {
	if text, ok := w.seen.Leaving[c.String()]; ok {
		w.Obstacles = append(w.Obstacles, text)
		return true
	}
	if owner, ok := w.seen.Foreign[c.String()]; ok {
		w.conflict(c, owner)
		return true
	}
	known := w.remembered.conflict(c.String())
	if known == nil || !w.seen.Now.Before(known.Until) {
		return false
	}
	w.Conflicts = append(w.Conflicts, known.Text)
	w.lookAgain(known.Until.Sub(w.seen.Now))
	return true
}

// resolve finds out whose an object is that was in the way of a creation. Ours
// comes into the cache and is dealt with then.
func (w *writer) resolve(ctx context.Context, c child) {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(c.Kind)
	key := types.NamespacedName{Namespace: w.seen.Set.Namespace, Name: c.Name}
	if err := w.live.Get(ctx, key, live); err != nil {
		if !apierrors.IsNotFound(err) {
			w.failed("reading "+c.String(), err)
		}
		w.lookAgain(firstPause)
		return
	}
	if claimOf(w.seen.Set, c.Kind.Kind, live) != claimForeign {
		w.lookAgain(firstPause)
		return
	}
	w.conflict(c, describeOwner(live))
}

// conflict tells once that a name is taken, and looks again later.
func (w *writer) conflict(c child, owner string) {
	text := fmt.Sprintf("%s exists, %s", c, owner)
	known, isNew := w.remembered.conflicted(c.String(), text, w.seen.Now)
	w.Conflicts = append(w.Conflicts, text)
	w.lookAgain(known.Pause)
	if isNew {
		w.Told = append(w.Told, nameConflict(c.Kind.Kind, c.Name, text))
	}
}

// apply changes an object that exists. The configuration carries its UID and, where
// a decision depends on it, its version: it changes that object or none.
func (w *writer) apply(ctx context.Context, c child, live client.Object, version func() *string) bool {
	encoded, err := json.Marshal(c.Desired)
	if err != nil {
		w.failed(c.String(), err)
		return false
	}
	this := settled{live.GetResourceVersion(), string(encoded)}
	if w.remembered.isSettled(live.GetUID(), this) {
		return true
	}
	if err := w.client.Apply(ctx, c.Desired, client.FieldOwner(dsv1.FieldManager), client.ForceOwnership); err != nil {
		w.failed("updating "+c.String(), err)
		return false
	}
	now := version()
	w.remembered.applied(live.GetUID(), this, now != nil && *now == this.ResourceVersion)
	return true
}

// migrate gives the fields that were written by an update to apply: what only
// apply owns goes when it is no longer applied. It is needed once in the life of
// an object, before its first change, and leaves its new version in live.
func (w *writer) migrate(ctx context.Context, live client.Object) error {
	managers := sets.New(children.Managers(live)...)
	if managers.Len() == 0 {
		return nil
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, managers, dsv1.FieldManager)
	if err != nil || patch == nil {
		return err
	}
	return w.client.Patch(ctx, live, client.RawPatch(types.JSONPatchType, patch))
}

// remove deletes one object, and none that has its name by now. It says whether the
// object was deleted by this.
func (w *writer) remove(ctx context.Context, kind string, obj client.Object) bool {
	uid := obj.GetUID()
	err := w.client.Delete(ctx, obj, client.Preconditions{UID: &uid},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		w.failed(fmt.Sprintf("deleting %s %s", kind, obj.GetName()), err)
	}
	return err == nil
}

// convert makes an object of an apply configuration.
func convert(config runtime.ApplyConfiguration, into client.Object) error {
	encoded, err := json.Marshal(config)
	if err != nil {
		return err
	}
	return json.Unmarshal(encoded, into)
}
