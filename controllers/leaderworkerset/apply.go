package leaderworkerset

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// apply writes what is planned, in order. What depends on a write that failed is
// left for the next reconcile; what does not goes on.
func (r *Reconciler) apply(ctx context.Context, seen *observation, p *plan) *outcome {
	w := &writer{
		Reconciler: r,
		remembered: r.memory.of(client.ObjectKeyFromObject(seen.Set), seen.Set.UID),
		seen:       seen,
		out:        &outcome{Obstacles: p.Obstacles},
	}
	if w.remembered.Ending {
		return w.out
	}
	w.tellObserved()
	w.writeCounts(ctx, p.Counts)
	hasRevision := w.writeRevisions(ctx, p.Revision)
	w.writeService(ctx, p.Service)
	w.writeScheduling(ctx, p.Scheduling)
	if hasRevision && !p.Awaited && w.ensure(ctx, p.Leaders) {
		w.deleteLeaders(ctx, p.Delete)
	}
	w.replaceUnadmitted(ctx, p.Unadmitted)
	w.deleteRevisions(ctx, p.Superfluous)
	return w.out
}

// writeCounts stores the restart counts, all groups' in one patch. The patch
// carries the version that the counts were read from, so none is raised twice.
func (w *writer) writeCounts(ctx context.Context, p countsPlan) {
	if p.Unreadable != nil {
		text := fmt.Sprintf("Counts as never recreated: %v", p.Unreadable)
		w.tell("the restart counts", text, failedUpdate("", text))
	}
	if !p.Changed {
		return
	}
	set := w.seen.Set.DeepCopy()
	setOrDelete(set, lwsv1.GroupRestartCountsAnnotationKey, p.Restarts)
	setOrDelete(set, lwsv1.GroupRestartLeadersAnnotationKey, p.Leaders)
	patch := client.MergeFromWithOptions(w.seen.Set, client.MergeFromWithOptimisticLock{})
	if err := w.client.Patch(ctx, set, patch, client.FieldOwner(lwsv1.FieldManager)); err != nil {
		w.failed(write{verbUpdate, "the restart counts"}, err)
		return
	}
	w.seen.Set = set
}

func setOrDelete(obj metav1.Object, annotation, value string) {
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[annotation] = value
	if value == "" {
		delete(annotations, annotation)
	}
	obj.SetAnnotations(annotations)
}

func (w *writer) writeService(ctx context.Context, p servicePlan) {
	if p.Desired == nil {
		if p.Claim == claimOurs {
			w.remove(ctx, "Service", w.seen.Service)
		}
		return
	}
	w.ensure(ctx, wanted{
		Kind:    corev1.SchemeGroupVersion.WithKind("Service"),
		Name:    *p.Desired.Name,
		Desired: p.Desired,
		Applied: func() *string { return p.Desired.ResourceVersion },
		Live:    w.seen.Service,
		Fresh:   &corev1.Service{},
		Claim:   p.Claim,
		Differs: p.Differs,
	})
}

// deleteLeaders ends the groups that the rollout replaces, each once: the cache may
// not show yet that a leader goes. How the workers follow is up to the termination
// policy; in the background the leader goes first.
func (w *writer) deleteLeaders(ctx context.Context, leaders []objectRef) {
	w.remembered.keepEnded(w.seen.Groups)
	for _, leader := range leaders {
		if !w.remembered.end(leader.UID) {
			continue
		}
		if !w.removeLeader(ctx, leader) {
			delete(w.remembered.Ended, leader.UID)
		}
	}
}

func (w *writer) removeLeader(ctx context.Context, leader objectRef) bool {
	return w.remove(ctx, "Pod", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.seen.Set.Namespace, Name: leader.Name, UID: leader.UID,
	}})
}

// remove deletes one object, and none that has its name by now; what it owns follows. It
// says whether the API server did as asked.
func (w *writer) remove(ctx context.Context, kind string, obj client.Object) bool {
	err := deleteByUID(ctx, w.client, obj, metav1.DeletePropagationBackground)
	if err != nil {
		w.failed(write{verbDelete, kind + " " + obj.GetName()}, err)
	}
	return err == nil
}

// deleteByUID deletes an object. That it is gone, or that another one has its
// name, is no error.
func deleteByUID(ctx context.Context, c client.Writer, obj client.Object, policy metav1.DeletionPropagation) error {
	uid := obj.GetUID()
	err := c.Delete(ctx, obj, client.Preconditions{UID: &uid}, client.PropagationPolicy(policy))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// toObject makes the object that an apply configuration describes.
func toObject(config runtime.ApplyConfiguration, into client.Object) error {
	encoded, err := json.Marshal(config)
	if err != nil {
		return err
	}
	return json.Unmarshal(encoded, into)
}

// fingerprint tells one apply configuration from another.
func fingerprint(config runtime.ApplyConfiguration) (uint64, error) {
	encoded, err := json.Marshal(config)
	if err != nil {
		return 0, err
	}
	sum := fnv.New64a()
	_, _ = sum.Write(encoded) // never fails, says hash.Hash
	return sum.Sum64(), nil
}
