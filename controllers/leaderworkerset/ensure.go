package leaderworkerset

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// wanted is an object of the set as it is to be and as it is.
type wanted struct {
	Kind    schema.GroupVersionKind
	Name    string
	Desired runtime.ApplyConfiguration // with the UID of Live when that is the set's
	Applied func() *string             // version of the object after an apply, whose answer is read into Desired
	Live    client.Object
	Fresh   client.Object // of the kind, to read an answer into
	// AsPatch: there is no typed apply configuration of the kind. What is read into
	// Fresh is the answer to the apply then.
	AsPatch bool
	Claim   claim
	Differs bool
}

func (o wanted) String() string { return o.Kind.Kind + " " + o.Name }

// ensure brings an object to what is wanted and says whether it is there.
func (w *writer) ensure(ctx context.Context, o wanted) bool {
	if o.Claim != claimAbsent && o.Claim != claimForeign {
		delete(w.remembered.Conflicts, o.String())
	}
	switch o.Claim {
	case claimAbsent:
		return w.createObject(ctx, o)
	case claimOurs, claimLeftover:
		if !o.Differs {
			w.remembered.announce(o.String(), "")
			return true
		}
		return w.applyObject(ctx, o)
	case claimLeaving:
		w.out.obstruct(lwsv1.ReasonPredecessorTerminating, fmt.Sprintf(
			"%s of a deleted set of the same name, or deleted itself, is still there; it is made anew when it is gone", o))
		return false
	default:
		w.conflict(o, o.Live)
		return false
	}
}

// createObject is how an object is first written: the cache shows only what has our
// labels, so a name that looks free may be taken. One live read tells by whom.
func (w *writer) createObject(ctx context.Context, o wanted) bool {
	if w.isTaken(o) {
		return false
	}
	obj := o.Fresh
	if err := toObject(o.Desired, obj); err != nil {
		w.out.failed(o.String(), err)
		return false
	}
	err := w.client.Create(ctx, obj, client.FieldOwner(lwsv1.FieldManager))
	if apierrors.IsAlreadyExists(err) {
		return w.resolve(ctx, o)
	}
	if err != nil {
		w.failed(write{verbCreate, o.String()}, err)
		return false
	}
	w.freed(o)
	return true
}

// isTaken says whether a name was found taken so lately that it is not tried again.
func (w *writer) isTaken(o wanted) bool {
	known, ok := w.remembered.Conflicts[o.String()]
	if !ok || !w.seen.Now.Before(known.Until) {
		return false
	}
	w.out.obstruct(lwsv1.ReasonNameConflict, known.Text)
	w.out.lookAgain(known.Until.Sub(w.seen.Now))
	return true
}

// freed ends a conflict.
func (w *writer) freed(o wanted) {
	delete(w.remembered.Conflicts, o.String())
	w.remembered.announce(o.String(), "")
}

// resolve finds out whose an object is that was in the way of a creation. Ours
// and leftovers come into the cache and are dealt with then.
func (w *writer) resolve(ctx context.Context, o wanted) bool {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(o.Kind)
	key := types.NamespacedName{Namespace: w.seen.Set.Namespace, Name: o.Name}
	if err := w.live.Get(ctx, key, live); err != nil {
		if apierrors.IsNotFound(err) {
			w.out.lookAgain(retryConflict)
			return false
		}
		w.out.failed(o.String(), err)
		return false
	}
	if claimOf(w.seen.Set, live) != claimForeign {
		w.out.lookAgain(retryConflict)
		return false
	}
	w.conflict(o, live)
	return false
}

// conflict reports that a name is taken and remembers it, when to look again
// included if the cache will not tell.
func (w *writer) conflict(o wanted, taken metav1.Object) {
	text := fmt.Sprintf("%s exists with %s; delete or rename it, or the set", o, describeOwner(taken))
	w.out.obstruct(lwsv1.ReasonNameConflict, text)
	w.tell(o.String(), text, nameConflict(o.String(), text))
	if o.Claim == claimAbsent {
		w.remembered.conflicted(o.String(), text, w.seen.Now)
		w.out.lookAgain(w.remembered.Conflicts[o.String()].Pause)
	}
}

// applyObject changes an object that exists. It carries the UID, so it changes
// that object or none.
func (w *writer) applyObject(ctx context.Context, o wanted) bool {
	sum, err := fingerprint(o.Desired)
	if err != nil {
		w.out.failed(o.String(), err)
		return false
	}
	uid, version := o.Live.GetUID(), o.Live.GetResourceVersion()
	if w.remembered.Settled[uid] == (settled{version, sum}) {
		return true
	}
	if err := w.migrate(ctx, o); err != nil {
		w.failed(write{verbUpdate, "the field managers of " + o.String()}, err)
		return false
	}
	if err := w.sendApply(ctx, o); err != nil {
		w.failed(write{verbUpdate, o.String()}, err)
		return false
	}
	if now := o.Applied(); now != nil && *now == version {
		w.remembered.Settled[uid] = settled{version, sum}
	} else {
		delete(w.remembered.Settled, uid)
	}
	w.remembered.announce(o.String(), "")
	return true
}

// sendApply keeps to one representation of each kind, the typed one: the client
// remembers by it what was written.
func (w *writer) sendApply(ctx context.Context, o wanted) error {
	if !o.AsPatch {
		return w.client.Apply(ctx, o.Desired, client.FieldOwner(lwsv1.FieldManager), client.ForceOwnership)
	}
	encoded, err := json.Marshal(o.Desired)
	if err != nil {
		return err
	}
	return w.client.Patch(ctx, o.Fresh, client.RawPatch(types.ApplyPatchType, encoded),
		client.FieldOwner(lwsv1.FieldManager), client.ForceOwnership)
}

// migrate gives the fields that we wrote by Create, or an earlier release by
// Update, to apply: what only apply owns goes when it is no longer applied. It is
// needed once in the life of an object, before its first change.
func (w *writer) migrate(ctx context.Context, o wanted) error {
	live := o.Live
	managers := ourFieldManagers(live.GetManagedFields())
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, managers, lwsv1.FieldManager)
	if err != nil || patch == nil {
		return err
	}
	target := o.Fresh
	target.SetNamespace(live.GetNamespace())
	target.SetName(live.GetName())
	return w.client.Patch(ctx, target, client.RawPatch(types.JSONPatchType, patch))
}
