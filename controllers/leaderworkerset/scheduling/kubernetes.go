package scheduling

import (
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// Kinds of workload-aware scheduling.
var (
	workloadKind = schedulingv1beta1.SchemeGroupVersion.WithKind("Workload")
	podGroupKind = schedulingv1beta1.SchemeGroupVersion.WithKind("PodGroup")

	// Groups of groups are served in this version only.
	compositeKind = schedulingv1alpha3.SchemeGroupVersion.WithKind("CompositePodGroup")
)

// Kubernetes is workload-aware scheduling, for sets with spec.scheduling.
type Kubernetes struct {
	availability

	composite bool
}

// Kinds are the scheduling objects of sets and groups.
func (k *Kubernetes) Kinds() []Kind {
	kinds := []Kind{
		{
			GroupVersionKind: workloadKind,
			New:              func() client.Object { return &schedulingv1beta1.Workload{} },
			NewList:          func() client.ObjectList { return &schedulingv1beta1.WorkloadList{} },
			Parents:          true,
		},
		{
			GroupVersionKind: podGroupKind,
			New:              func() client.Object { return &schedulingv1beta1.PodGroup{} },
			NewList:          func() client.ObjectList { return &schedulingv1beta1.PodGroupList{} },
			PerGroup:         true,
		},
	}
	if k.composite {
		kinds = append(kinds, Kind{
			GroupVersionKind: compositeKind,
			New:              func() client.Object { return &schedulingv1alpha3.CompositePodGroup{} },
			NewList:          func() client.ObjectList { return &schedulingv1alpha3.CompositePodGroupList{} },
			PerGroup:         true,
		})
	}
	return kinds
}

// AddToScheme registers the kinds of scheduling objects.
func (k *Kubernetes) AddToScheme(scheme *runtime.Scheme) error {
	if err := schedulingv1beta1.AddToScheme(scheme); err != nil || !k.composite {
		return err
	}
	return schedulingv1alpha3.AddToScheme(scheme)
}

// Uses says whether a set has scheduling objects.
func (*Kubernetes) Uses(set *lwsv1.LeaderWorkerSet) bool {
	return set.Spec.Scheduling != nil
}

// AdmitLeader makes a leader a member of its group's PodGroup. The token is used
// unless the pod has one already.
func (*Kubernetes) AdmitLeader(pod *corev1.Pod, set *lwsv1.LeaderWorkerSet, token string) {
	admitLeader(pod, levelsOf(set.Spec.Scheduling), token)
	joinPodGroup(pod)
}

// AdmitWorker makes a worker a member of the PodGroup that its leader's
// annotations, which its template repeats, name.
func (*Kubernetes) AdmitWorker(pod *corev1.Pod) {
	if levelsOfMember(pod) != nil {
		joinPodGroup(pod)
	}
}

func joinPodGroup(pod *corev1.Pod) {
	name := podGroupOf(pod)
	pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name}
}

// IsAdmitted says whether a leader is in the PodGroup that its set wants it to be in.
func (*Kubernetes) IsAdmitted(pod *corev1.Pod, set *lwsv1.LeaderWorkerSet) bool {
	group := pod.Spec.SchedulingGroup
	return pod.Annotations[lwsv1.SchedulingLevelAnnotationKey] == levelsOf(set.Spec.Scheduling).String() &&
		group != nil && group.PodGroupName != nil && *group.PodGroupName == podGroupOf(pod)
}

// SetObjects are the scheduling objects that a set has once, in the order in which
// they are made. Live are those that exist.
func (*Kubernetes) SetObjects(set *lwsv1.LeaderWorkerSet, groups []Group, live []client.Object) ([]client.Object, error) {
	if _, delegated := parentOf(set); delegated {
		return delegatedSetObjects(set, live)
	}
	counts := CountsOf(set)
	counts.Set = minimumOf(counts.Set, groups, live)
	counts.Replicas = liveGroups(counts.Replicas, live)
	workload, err := compile(set, counts)
	if err != nil {
		return nil, err
	}
	active := levelsOf(set.Spec.Scheduling)
	f := factory{set: set, workload: workload, parent: liveWorkload(live)}
	objects := []client.Object{decorate(workload, workloadKind, labelsOf(set.Name, active.ofPods()))}
	var root client.Object
	switch {
	case f.parent == nil:
		return objects, nil // what belongs to the Workload needs its UID
	case active.groups(LevelSet):
		root, err = f.composite(identity.WorkloadName(set.Name), LevelSet, "")
	case active.ofPods() == LevelSet:
		root, err = f.podGroup(identity.WorkloadName(set.Name), string(LevelSet), "")
	default:
		return objects, nil
	}
	if err != nil {
		return nil, err
	}
	return append(objects, decorate(root, root.GetObjectKind().GroupVersionKind(), labelsOf(set.Name, LevelSet))), nil
}

// Required names the objects of a set that are there before a pod may be scheduled.
func (*Kubernetes) Required(set *lwsv1.LeaderWorkerSet) []Ref {
	name := identity.WorkloadName(set.Name)
	required := []Ref{{Kind: workloadKind, Name: name}}
	if parent, delegated := parentOf(set); delegated {
		required[0] = Ref{Kind: workloadKind, Controller: parent}
	}
	switch active := levelsOf(set.Spec.Scheduling); {
	case active.groups(LevelSet):
		return append(required, Ref{Kind: compositeKind, Name: name})
	case active.ofPods() == LevelSet:
		return append(required, Ref{Kind: podGroupKind, Name: name})
	}
	return required
}

// GroupObjects are the scheduling objects of the group of a leader, the outer ones
// first. They are made of the objects that Required names.
func (*Kubernetes) GroupObjects(set *lwsv1.LeaderWorkerSet, leader *corev1.Pod, required []client.Object) ([]client.Object, error) {
	active := levelsOfMember(leader)
	f, err := groupFactory(set, leader, required)
	if err != nil {
		return nil, err
	}
	var objects []client.Object
	above := ""
	if active.groups(LevelSet) {
		above = identity.WorkloadName(set.Name)
	}
	if active.groups(LevelReplica) {
		composite, err := f.composite(podGroupName(leader, string(LevelReplica)), LevelReplica, above)
		if err != nil {
			return nil, err
		}
		objects = append(objects, decorate(composite, compositeKind, groupLabels(leader, LevelReplica, "")))
		above = composite.GetName()
	}
	for _, template := range templatesOf(active.ofPods()) {
		podGroup, err := f.podGroup(podGroupName(leader, template), template, above)
		if err != nil {
			return nil, err
		}
		objects = append(objects, decorate(podGroup, podGroupKind, groupLabels(leader, active.ofPods(), template)))
	}
	return objects, nil
}

// groupFactory makes the objects of the group of a leader.
func groupFactory(set *lwsv1.LeaderWorkerSet, leader *corev1.Pod, required []client.Object) (*factory, error) {
	if _, delegated := parentOf(set); delegated {
		return delegatedFactory(set, required)
	}
	counts := CountsOf(set)
	counts.Size = SizeOf(leader)
	workload, err := compile(set, counts)
	if err != nil {
		return nil, err
	}
	return &factory{set: set, workload: workload, parent: required[0]}, nil
}

// delegatedSetObjects are those of a set that leaves the Workload to its owner.
func delegatedSetObjects(set *lwsv1.LeaderWorkerSet, live []client.Object) ([]client.Object, error) {
	f, err := delegatedFactory(set, live)
	if f == nil || err != nil || levelsOf(set.Spec.Scheduling).ofPods() != LevelSet {
		return nil, err
	}
	podGroup, err := f.podGroup(identity.WorkloadName(set.Name), "", "")
	if err != nil {
		return nil, err
	}
	return []client.Object{decorate(podGroup, podGroupKind, labelsOf(set.Name, LevelSet))}, nil
}

// GroupRefs names the scheduling objects of the group of a pod, as the pod's
// annotations, or those of the template of workers, have it.
func (*Kubernetes) GroupRefs(member metav1.Object) []Ref {
	active := levelsOfMember(member)
	var refs []Ref
	if active.groups(LevelReplica) {
		refs = append(refs, Ref{Kind: compositeKind, Name: podGroupName(member, string(LevelReplica))})
	}
	for _, template := range templatesOf(active.ofPods()) {
		refs = append(refs, Ref{Kind: podGroupKind, Name: podGroupName(member, template)})
	}
	return refs
}

// templatesOf are the templates of the PodGroups of a group.
func templatesOf(level Level) []string {
	switch level {
	case LevelReplica:
		return []string{string(LevelReplica)}
	case LevelRole:
		return []string{roleLeader, roleWorker}
	case LevelSet:
	}
	return nil
}

// podGroupOf is the name of the PodGroup of a pod.
func podGroupOf(pod metav1.Object) string {
	set, _ := identity.SetOf(pod)
	switch level := levelsOfMember(pod).ofPods(); {
	case level == LevelSet:
		return identity.WorkloadName(set.Name)
	case level == LevelRole && identity.IsLeader(pod):
		return podGroupName(pod, roleLeader)
	case level == LevelRole:
		return podGroupName(pod, roleWorker)
	}
	return podGroupName(pod, string(LevelReplica))
}

// podGroupName is the name of one of the PodGroups of a pod's group, or of the
// CompositePodGroup above them.
func podGroupName(member metav1.Object, template string) string {
	group, _ := identity.GroupOfPod(member)
	role := template
	if template == string(LevelReplica) {
		role = ""
	}
	return identity.PodGroupName(group, member.GetAnnotations()[lwsv1.SchedulingTokenAnnotationKey], role,
		member.GetLabels()[lwsv1.RevisionLabelKey])
}

func labelsOf(set string, level Level) map[string]string {
	labels := identity.SetLabels(set)
	labels[lwsv1.SchedulingLevelLabelKey] = string(level)
	return labels
}

func groupLabels(leader metav1.Object, level Level, template string) map[string]string {
	set, _ := identity.SetOf(leader)
	labels := labelsOf(set.Name, level)
	labels[lwsv1.GroupIndexLabelKey] = leader.GetLabels()[lwsv1.GroupIndexLabelKey]
	labels[lwsv1.RevisionLabelKey] = leader.GetLabels()[lwsv1.RevisionLabelKey]
	if level == LevelRole {
		labels[lwsv1.SchedulingRoleLabelKey] = template
	}
	return labels
}

// decorate gives an object its kind and labels.
func decorate(obj client.Object, kind schema.GroupVersionKind, labels map[string]string) client.Object {
	obj.GetObjectKind().SetGroupVersionKind(kind)
	merged := maps.Clone(obj.GetLabels())
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, labels)
	obj.SetLabels(merged)
	return obj
}

// SizeOf is the size of the group of a leader, as its revision has it.
func SizeOf(leader metav1.Object) int32 {
	size, err := strconv.ParseInt(leader.GetAnnotations()[lwsv1.SizeAnnotationKey], 10, 32)
	if err != nil {
		return 1
	}
	return max(int32(size), 1)
}
