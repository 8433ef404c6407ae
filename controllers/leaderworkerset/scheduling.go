package leaderworkerset

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// Scheduling is what sets need of the provider that has their pods scheduled
// together.
type Scheduling interface {
	// Kinds are the kinds of scheduling objects.
	Kinds() []scheduling.Kind
	// Uses says whether a set has scheduling objects, Unavailable why they can be
	// neither read nor written, nil if they can.
	Uses(set *lwsv1.LeaderWorkerSet) bool
	Unavailable(set *lwsv1.LeaderWorkerSet) *scheduling.Problem
	// Required names the objects of the set that there are before those of groups.
	Required(set *lwsv1.LeaderWorkerSet) []scheduling.Ref
	// SetObjects are those that the set has once, in the order in which they are made;
	// live are those of them that exist.
	SetObjects(set *lwsv1.LeaderWorkerSet, groups []scheduling.Group, live []client.Object) ([]client.Object, error)
	// GroupRefs names the objects of the group of a pod.
	GroupRefs(member metav1.Object) []scheduling.Ref
}

// schedulingState is what there is of the scheduling objects of a set.
type schedulingState struct {
	Used        bool
	Unavailable *scheduling.Problem
	Live        map[scheduling.Ref]client.Object // those of the set
	Required    []scheduling.Ref
	Groups      []scheduling.Group
	Missing     []string // objects that are not there yet
	Parent      string   // what the owner of the set has to make first, empty if it has
}

// observeScheduling reads the scheduling objects of the set and of its groups.
func (r *Reconciler) observeScheduling(ctx context.Context, seen *observation, m members) error {
	s := &seen.Scheduling
	if !r.gangs.Uses(seen.Set) {
		return nil
	}
	s.Used = true
	if s.Unavailable = r.gangs.Unavailable(seen.Set); s.Unavailable != nil {
		return nil
	}
	s.Live, s.Required = map[scheduling.Ref]client.Object{}, r.gangs.Required(seen.Set)
	for _, ref := range s.Required {
		obj, err := scheduling.Get(ctx, r.client, r.gangs.Kinds(), seen.Set.Namespace, ref)
		if err != nil {
			return err
		}
		switch {
		case obj != nil:
			s.Live[ref] = obj
		case ref.Name == "":
			s.Parent = ref.String()
		default:
			s.Missing = append(s.Missing, ref.String())
		}
	}
	existing, err := r.groupSchedulingObjects(ctx, seen.Set)
	if err != nil {
		return err
	}
	for _, leader := range m.leaders {
		if !m.makes(leader) || leader.DeletionTimestamp != nil {
			continue
		}
		s.Groups = append(s.Groups, scheduling.Group{Size: scheduling.SizeOf(leader), Admitted: !isGated(leader)})
		s.Missing = append(s.Missing, r.missingOf(leader, existing)...)
	}
	return nil
}

func (r *Reconciler) missingOf(leader *corev1.Pod, existing map[scheduling.Ref]bool) []string {
	var missing []string
	for _, ref := range r.gangs.GroupRefs(leader) {
		if !existing[ref] {
			missing = append(missing, ref.String())
		}
	}
	return missing
}

func (r *Reconciler) groupSchedulingObjects(ctx context.Context, set *lwsv1.LeaderWorkerSet) (map[scheduling.Ref]bool, error) {
	existing := map[scheduling.Ref]bool{}
	key := client.ObjectKeyFromObject(set)
	for _, kind := range r.gangs.Kinds() {
		if !kind.PerGroup {
			continue
		}
		objects, err := scheduling.List(ctx, r.client, kind, key.Namespace, identity.SchedulingObjectsBySetIndex, key.String())
		if err != nil {
			return nil, err
		}
		for _, obj := range objects {
			existing[scheduling.Ref{Kind: kind.GroupVersionKind, Name: obj.GetName()}] = true
		}
	}
	return existing, nil
}

// isUnread: nobody knows yet what there is.
func (s *schedulingState) isUnread() bool {
	return s.Unavailable != nil && s.Unavailable.Unread
}

// awaited is a scheduling object of the set that is not there yet, empty if all are.
// Leaders are not made before those: a pod that names a PodGroup of somebody else's
// would keep that from going.
func (s *schedulingState) awaited() string {
	if s.isUnread() {
		return "what the API server serves"
	}
	for _, ref := range s.Required {
		if ref.Name != "" && s.Live[ref] == nil {
			return ref.String()
		}
	}
	return ""
}

// schedulingPlan are the scheduling objects that a set has once.
type schedulingPlan struct {
	Objects []wanted
	Problem *scheduling.Problem // nothing is written
}

// planScheduling decides what the set's scheduling objects are to be.
func planScheduling(seen *observation, gangs Scheduling) (schedulingPlan, error) {
	s := &seen.Scheduling
	if !s.Used || s.Unavailable != nil {
		return schedulingPlan{Problem: s.Unavailable}, nil
	}
	var live []client.Object
	for _, ref := range s.Required {
		if obj := s.Live[ref]; obj != nil {
			live = append(live, obj)
		}
	}
	desired, err := gangs.SetObjects(seen.Set, s.Groups, live)
	p := schedulingPlan{Problem: configurationProblem(err)}
	if p.Problem != nil {
		return p, nil
	}
	for _, obj := range desired {
		object, err := wantedObject(seen, obj, s.Live[scheduling.RefOf(obj)])
		if err != nil {
			return schedulingPlan{}, err
		}
		p.Objects = append(p.Objects, object)
	}
	return p, nil
}

// configurationProblem is why no objects can be made for a set, nil if they can.
func configurationProblem(err error) *scheduling.Problem {
	if err == nil {
		return nil
	}
	return &scheduling.Problem{Reason: lwsv1.ReasonInvalidSchedulingConfiguration, Message: err.Error()}
}

// wantedObject compares an object of any kind with the one that there is.
func wantedObject(seen *observation, desired, live client.Object) (wanted, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(desired)
	if err != nil {
		return wanted{}, fmt.Errorf("encode %s: %w", scheduling.RefOf(desired), err)
	}
	delete(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	applied := &unstructured.Unstructured{Object: content}
	fresh, ok := desired.DeepCopyObject().(client.Object)
	if !ok {
		return wanted{}, fmt.Errorf("copy %s: it is no object", scheduling.RefOf(desired))
	}
	o := wanted{
		Kind: desired.GetObjectKind().GroupVersionKind(), Name: desired.GetName(),
		Desired: client.ApplyConfigurationFromUnstructured(applied),
		Applied: func() *string { version := fresh.GetResourceVersion(); return &version },
		Live:    live,
		Fresh:   fresh,
		AsPatch: true,
	}
	if live == nil {
		return o, nil
	}
	o.Claim = claimOf(seen.Set, live)
	if o.Claim != claimOurs && o.Claim != claimLeftover {
		return o, nil
	}
	o.Differs = o.Claim == claimLeftover
	if !o.Differs {
		o.Differs, err = differs(applied, live, live, desired.GetLabels(), desired.GetAnnotations())
	}
	applied.SetUID(live.GetUID())
	return o, err
}

// writeScheduling brings the set's scheduling objects to what is wanted, up to the
// first that cannot be.
func (w *writer) writeScheduling(ctx context.Context, p schedulingPlan) {
	w.out.Scheduling = p.Problem
	for i, object := range p.Objects {
		obstacles, errs := len(w.out.Obstacles), len(w.out.Errs)
		if w.ensure(ctx, object) {
			continue
		}
		reason := lwsv1.ReasonPodGroupCreateFailed
		if i == 0 && object.Kind.Kind == "Workload" {
			reason = lwsv1.ReasonWorkloadCreateFailed
		}
		message := object.String() + " is not there yet"
		if len(w.out.Obstacles) > obstacles {
			message = w.out.Obstacles[obstacles].Message
		} else if len(w.out.Errs) > errs {
			message = w.out.Errs[errs].Error()
		}
		w.out.Scheduling = &scheduling.Problem{Reason: reason, Message: message}
		return
	}
}

// schedulingCondition says whether all scheduling objects are there, not whether
// pods are placed. It is nil for a set that does not ask for them
// in its spec. While nobody knows, what was told before is told.
func schedulingCondition(seen *observation, out *outcome) *metav1.Condition {
	if !seen.Scheduling.Used || seen.Set.Spec.Scheduling == nil {
		return nil
	}
	if told := meta.FindStatusCondition(seen.Set.Status.Conditions, lwsv1.ConditionWorkloadSchedulingCreated); told != nil && seen.Scheduling.isUnread() {
		return told.DeepCopy()
	}
	condition := conditionTrue(lwsv1.ConditionWorkloadSchedulingCreated, lwsv1.ReasonSchedulingObjectsCreated,
		"All scheduling objects exist")
	if problem := schedulingProblem(seen, out); problem != nil {
		condition = conditionFalse(lwsv1.ConditionWorkloadSchedulingCreated, problem.Reason, problem.Message)
	}
	return &condition
}

func schedulingProblem(seen *observation, out *outcome) *scheduling.Problem {
	if out.Scheduling != nil {
		return out.Scheduling
	}
	for _, reporter := range reporters(seen.Reports) {
		if problem := seen.Reports[reporter].Scheduling; problem != nil {
			return &scheduling.Problem{Reason: problem.Reason, Message: problem.Message}
		}
	}
	if parent := seen.Scheduling.Parent; parent != "" {
		return &scheduling.Problem{Reason: lwsv1.ReasonParentWorkloadNotReady, Message: parent + " is not there yet"}
	}
	if missing := seen.Scheduling.Missing; len(missing) > 0 {
		return &scheduling.Problem{
			Reason:  lwsv1.ReasonSchedulingObjectsPending,
			Message: fmt.Sprintf("%s is not there yet, and %d other scheduling objects", missing[0], len(missing)-1),
		}
	}
	return nil
}
