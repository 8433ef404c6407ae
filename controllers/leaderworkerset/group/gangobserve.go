package group

import (
	"context"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// observeGang reads the scheduling objects of the group.
func (r *Reconciler) observeGang(ctx context.Context, o *observation) error {
	if o.Set == nil || !r.gangs.Uses(o.set) {
		return nil
	}
	o.Gang.Used = true
	if problem := r.gangs.Unavailable(o.set); problem != nil {
		o.Gang.Unavailable, o.Gang.Unread = problem.Message, problem.Unread
		return nil
	}
	existing, err := r.schedulingObjects(ctx, o.Group)
	if err != nil {
		return err
	}
	o.Gang.Left = r.leftObjects(o, existing)
	if o.Leader == nil {
		return nil
	}
	leaderPod := o.pods[o.Leader.UID]
	o.Gang.Admitted = r.gangs.IsAdmitted(leaderPod, o.set) && r.agrees(leaderPod, o.workers)
	for _, ref := range r.gangs.GroupRefs(leaderPod) {
		o.observeReferred(ref, existing[ref])
	}
	return r.observeRequired(ctx, o)
}

// observeReferred looks at an object that the leader refers to, nil if there is none.
func (o *observation) observeReferred(ref scheduling.Ref, obj client.Object) {
	switch {
	case obj == nil:
		o.Gang.Missing = append(o.Gang.Missing, ref)
	case controllerOf(obj) == owner{} && obj.GetDeletionTimestamp() == nil:
		o.Gang.orphans = append(o.Gang.orphans, obj)
	case obj.GetDeletionTimestamp() != nil || !isSchedulingObjectOf(o, obj):
		o.Gang.Leaving = append(o.Gang.Leaving, ref.String())
	}
}

// agrees says whether workers that are there already, as after the loss of a leader
// with restart policy None, refer to the leader's objects.
func (r *Reconciler) agrees(leaderPod *corev1.Pod, workers *appsv1.StatefulSet) bool {
	if workers == nil || workers.Labels[lwsv1.RevisionLabelKey] != leaderPod.Labels[lwsv1.RevisionLabelKey] {
		return true // they go
	}
	return slices.Equal(r.gangs.GroupRefs(&workers.Spec.Template), r.gangs.GroupRefs(leaderPod))
}

func (r *Reconciler) observeRequired(ctx context.Context, o *observation) error {
	for _, ref := range r.gangs.Required(o.set) {
		obj, err := scheduling.Get(ctx, r.client, r.gangs.Kinds(), o.Group.Namespace, ref)
		if err != nil {
			return err
		}
		if obj == nil || obj.GetDeletionTimestamp() != nil {
			o.Gang.Awaited = append(o.Gang.Awaited, ref.String())
			continue
		}
		o.Gang.required = append(o.Gang.required, obj)
	}
	return nil
}

// schedulingObjects are those with the labels of the group.
func (r *Reconciler) schedulingObjects(ctx context.Context, group identity.Group) (map[scheduling.Ref]client.Object, error) {
	found := map[scheduling.Ref]client.Object{}
	for _, kind := range r.gangs.Kinds() {
		if !kind.PerGroup {
			continue
		}
		objects, err := scheduling.List(ctx, r.client, kind, group.Namespace, identity.SchedulingObjectsByGroupIndex, group.String())
		if err != nil {
			return nil, err
		}
		for _, obj := range objects {
			found[scheduling.Ref{Kind: kind.GroupVersionKind, Name: obj.GetName()}] = obj
		}
	}
	return found, nil
}

// leftObjects are the set's objects that nothing of the group refers to: no pod,
// and no workers that more pods may come of.
func (r *Reconciler) leftObjects(o *observation, existing map[scheduling.Ref]client.Object) []leftObject {
	used := map[scheduling.Ref]bool{}
	refer := func(member metav1.Object) {
		for _, ref := range r.gangs.GroupRefs(member) {
			used[ref] = true
		}
	}
	for _, p := range o.pods {
		refer(p)
	}
	if o.workers != nil {
		refer(&o.workers.Spec.Template)
	}
	var left []leftObject
	for ref, obj := range existing {
		if controller := controllerOf(obj); used[ref] || controller != (owner{}) && controller.UID != o.Set.UID {
			continue
		}
		left = append(left, leftObject{Ref: ref, UID: obj.GetUID(), Deleted: timeOf(obj.GetDeletionTimestamp()), HeldBy: obj.GetFinalizers()})
	}
	slices.SortFunc(left, func(a, b leftObject) int { return strings.Compare(a.Ref.Name, b.Ref.Name) })
	return left
}

func isSchedulingObjectOf(o *observation, obj client.Object) bool {
	controller := controllerOf(obj)
	return controller.UID == o.Set.UID || controller.UID == o.Leader.UID
}
