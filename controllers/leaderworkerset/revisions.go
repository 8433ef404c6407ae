package leaderworkerset

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/revision"
)

// revisionPlan is what becomes of the revisions of a set.
type revisionPlan struct {
	Update *appsv1.ControllerRevision // of the spec; stored unless it is to be created
	Key    string                     // of Update
	Create bool
	Lost   bool  // Update existed before and is made again
	Number int64 // that Update is to have; its own unless the set went back to it
	// Unreadable says which revisions could not be read, nil when all could.
	Unreadable error
}

// planRevision finds the revision that means the same as the spec, or makes the
// next one, whose name and key are free also of what is leaving. running is the
// key that the leader StatefulSet carries.
func planRevision(
	set *lwsv1.LeaderWorkerSet, revisions, leaving []*appsv1.ControllerRevision, running string,
) (revisionPlan, error) {
	found, unreadable := revision.Find(set, revisions, running)
	if found != nil {
		return revisionPlan{
			Update:     found,
			Key:        revision.Key(found),
			Number:     revision.NumberInUse(found, revisions),
			Unreadable: unreadable,
		}, nil
	}
	p := revisionPlan{Create: true, Unreadable: unreadable}
	var err error
	taken := slices.Concat(revisions, leaving)
	if p.Lost = isLost(set, revisions, running); p.Lost {
		p.Update, err = revision.Replacement(set, taken, running)
	} else {
		p.Update, err = revision.New(set, taken)
	}
	if err != nil {
		return revisionPlan{}, err
	}
	p.Key, p.Number = revision.Key(p.Update), p.Update.Revision
	return p, nil
}

// isLost says whether the running revision was deleted and is that of the spec:
// its key was stored in the status for this very generation.
func isLost(set *lwsv1.LeaderWorkerSet, revisions []*appsv1.ControllerRevision, running string) bool {
	_, exists := revision.ByKey(revisions, running)
	return !exists && running != "" &&
		set.Status.UpdateRevision == running && set.Status.ObservedGeneration == set.Generation
}

// isSetRevision tells a revision of a set from one of a StatefulSet.
func isSetRevision(r *appsv1.ControllerRevision) bool {
	_, err := revision.Restore(r)
	return err == nil
}

// superfluous are the revisions that go after a rollout: more than the ten newest
// are kept only while something runs them.
func superfluous(seen *observation, update, current string) []*appsv1.ControllerRevision {
	used := map[string]bool{update: true, current: true}
	for _, g := range seen.Groups {
		used[g.Revision] = true
	}
	for _, worker := range seen.Workers {
		used[worker.Labels[lwsv1.RevisionLabelKey]] = true
	}
	return revision.Prune(seen.Revisions, used)
}

// writeRevisions takes over what a predecessor left and stores the revision of
// the spec. Nothing may be made of a revision that is not stored.
func (w *writer) writeRevisions(ctx context.Context, p revisionPlan) bool {
	if p.Unreadable != nil {
		text := fmt.Sprintf("Revisions that cannot be read are passed over: %v", p.Unreadable)
		w.tell("revisions", text, failedUpdate("", text))
	}
	for _, orphan := range w.seen.Orphans {
		adopted := orphan.DeepCopy()
		adopted.OwnerReferences = append(adopted.OwnerReferences, *metav1.NewControllerRef(w.seen.Set, setKind))
		w.patchRevision(ctx, orphan, adopted)
	}
	if p.Create {
		return w.createRevision(ctx, p)
	}
	if p.Number != p.Update.Revision {
		renumbered := p.Update.DeepCopy()
		renumbered.Revision = p.Number
		w.patchRevision(ctx, p.Update, renumbered)
	}
	return true
}

func (w *writer) createRevision(ctx context.Context, p revisionPlan) bool {
	o := wanted{Kind: appsv1.SchemeGroupVersion.WithKind("ControllerRevision"), Name: p.Update.Name}
	if w.isTaken(o) {
		return false
	}
	err := w.client.Create(ctx, p.Update.DeepCopy(), client.FieldOwner(lwsv1.FieldManager))
	switch {
	case apierrors.IsAlreadyExists(err):
		// The cache is behind, a predecessor's revision of the name is going, or it is
		// somebody else's.
		return w.resolve(ctx, o)
	case err != nil:
		w.failed(write{verbCreate, o.String()}, err)
		return false
	}
	w.freed(o)
	if !p.Lost {
		w.out.Told = append(w.out.Told, creatingRevision("ControllerRevision "+p.Update.Name, p.Key))
	}
	return true
}

func (w *writer) patchRevision(ctx context.Context, from, to *appsv1.ControllerRevision) {
	patch := client.MergeFromWithOptions(from, client.MergeFromWithOptimisticLock{})
	if err := w.client.Patch(ctx, to, patch, client.FieldOwner(lwsv1.FieldManager)); err != nil {
		w.failed(write{verbUpdate, "ControllerRevision " + from.Name}, err)
	}
}

func (w *writer) deleteRevisions(ctx context.Context, superfluous []*appsv1.ControllerRevision) {
	for _, r := range superfluous {
		w.remove(ctx, "ControllerRevision", r)
	}
}
