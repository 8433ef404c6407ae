package group

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// Scheduling is what groups need of the provider that has their pods scheduled
// together.
type Scheduling interface {
	// Kinds are the kinds of scheduling objects.
	Kinds() []scheduling.Kind
	// Uses says whether a set has scheduling objects, Unavailable why they can be
	// neither read nor written, nil if they can.
	Uses(set *lwsv1.LeaderWorkerSet) bool
	Unavailable(set *lwsv1.LeaderWorkerSet) *scheduling.Problem
	// IsAdmitted says whether a leader was admitted as its set wants it.
	IsAdmitted(leader *corev1.Pod, set *lwsv1.LeaderWorkerSet) bool
	// Required names the objects of the set that there are before those of groups.
	Required(set *lwsv1.LeaderWorkerSet) []scheduling.Ref
	// GroupObjects are those of the group of a leader, made of the required ones.
	GroupObjects(set *lwsv1.LeaderWorkerSet, leader *corev1.Pod, required []client.Object) ([]client.Object, error)
	// GroupRefs names those of the group of a pod, or of a template of pods.
	GroupRefs(member metav1.Object) []scheduling.Ref
}

// gang is what decisions have to know of the scheduling objects of a group.
type gang struct {
	// Used: the set has scheduling objects. Without it nothing else is looked at.
	Used bool
	// Unavailable is why there can be none now, empty if there can.
	Unavailable string
	// Admitted: the leader refers to the objects that its set, and workers that are
	// there already, want it to.
	Admitted bool
	// Awaited are objects of the set that are not there yet.
	Awaited []string
	// Missing are objects of the group, Leaving those that go under their names.
	Missing []scheduling.Ref
	Leaving []string
	// Left are objects that no pod refers to, and none will.
	Left []leftObject

	required []client.Object
	// orphans are objects of the group whose owner was deleted without them.
	orphans []client.Object
}

// leftObject is a scheduling object of an earlier incarnation of the group.
type leftObject struct {
	Ref     scheduling.Ref
	UID     types.UID
	Deleted time.Time // zero if it is not being deleted
	HeldBy  []string
}

// observeGang reads the scheduling objects of the group.
func (r *Reconciler) observeGang(ctx context.Context, o *observation) error {
	if o.Set == nil || !r.gangs.Uses(o.set) {
		return nil
	}
	o.Gang.Used = true
	if problem := r.gangs.Unavailable(o.set); problem != nil {
		o.Gang.Unavailable = problem.Message
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
		switch obj := existing[ref]; {
		case obj == nil:
			o.Gang.Missing = append(o.Gang.Missing, ref)
		case controllerOf(obj) == owner{} && obj.GetDeletionTimestamp() == nil:
			o.Gang.orphans = append(o.Gang.orphans, obj)
		case obj.GetDeletionTimestamp() != nil || !isSchedulingObjectOf(o, obj):
			o.Gang.Leaving = append(o.Gang.Leaving, ref.String())
		}
	}
	return r.observeRequired(ctx, o)
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

// gangVerdict is what the scheduling objects of a group mean for a gated leader.
type gangVerdict string

const (
	gangReady   gangVerdict = "Ready" // or none are wanted
	gangMissing gangVerdict = "Missing"
	gangAwaited gangVerdict = "Awaited" // something else has to happen first
	gangReplace gangVerdict = "Replace" // the leader was admitted to something else
)

// decideGang decides about the scheduling objects of a gated leader's group.
func decideGang(g *gang) (verdict gangVerdict, message string) {
	switch {
	case !g.Used:
		return gangReady, ""
	case g.Unavailable != "":
		return gangAwaited, g.Unavailable
	case !g.Admitted:
		return gangReplace, "it was admitted without its PodGroup"
	case len(g.Awaited) > 0:
		return gangAwaited, strings.Join(g.Awaited, ", ") + " is not there yet"
	case len(g.Leaving) > 0:
		return gangAwaited, strings.Join(g.Leaving, ", ") + " is being deleted"
	case len(g.Missing) > 0:
		return gangMissing, ""
	}
	return gangReady, ""
}

const (
	// gangPatience is how long a leader that was admitted to no PodGroup is left, so
	// that a webhook that does not know better is not asked all the time.
	gangPatience = 5 * time.Second

	// cleanupPatience is how long an object that nothing refers to may take to go.
	cleanupPatience = 30 * time.Second
)

// replaceUnadmitted ends a gated leader, so that its successor is admitted anew.
func (p *plan) replaceUnadmitted(o *observation) {
	if wait := o.Leader.Created.Add(gangPatience).Sub(o.Now); wait > 0 {
		p.again(wait)
		return
	}
	p.do(deleteLeader{Leader: o.Leader.pod})
}

// keepGang makes what somebody deleted while the group lives, and takes over what has
// no owner.
func (p *plan) keepGang(o *observation) {
	for _, orphan := range o.Gang.orphans {
		p.do(adoptGang{Object: orphan})
	}
	if verdict, _ := decideGang(&o.Gang); verdict == gangMissing {
		p.do(createGang{Missing: o.Gang.Missing})
	}
}

// tidyGang ends the objects that nothing refers to, and reports those that do not go.
func (p *plan) tidyGang(o *observation) {
	for _, left := range o.Gang.Left {
		if left.Deleted.IsZero() {
			p.do(deleteGang{Ref: left.Ref, UID: left.UID})
			continue
		}
		if wait := left.Deleted.Add(cleanupPatience).Sub(o.Now); wait > 0 {
			p.again(wait)
			continue
		}
		p.Report.Scheduling = &Problem{Reason: lwsv1.ReasonPodGroupCleanupBlocked, Message: fmt.Sprintf(
			"Group %s: %s, which no pod refers to, is held by the finalizer %s", o.Group.Index, left.Ref, strings.Join(left.HeldBy, " and "))}
	}
}
