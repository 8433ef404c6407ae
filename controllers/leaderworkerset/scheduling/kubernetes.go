package scheduling

import (
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-helpers/scheduling/schedulingv1/workloadbuilder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// Kinds of workload-aware scheduling.
var (
	workloadKind = schedulingv1beta1.SchemeGroupVersion.WithKind("Workload")
	podGroupKind = schedulingv1beta1.SchemeGroupVersion.WithKind("PodGroup")
)

// Kubernetes is workload-aware scheduling, for sets with spec.scheduling.
type Kubernetes struct {
	availability

	composite bool
}

// Kinds are the scheduling objects of sets and groups.
func (*Kubernetes) Kinds() []Kind {
	return []Kind{
		{
			GroupVersionKind: workloadKind,
			New:              func() client.Object { return &schedulingv1beta1.Workload{} },
			NewList:          func() client.ObjectList { return &schedulingv1beta1.WorkloadList{} },
		},
		{
			GroupVersionKind: podGroupKind,
			New:              func() client.Object { return &schedulingv1beta1.PodGroup{} },
			NewList:          func() client.ObjectList { return &schedulingv1beta1.PodGroupList{} },
			PerGroup:         true,
		},
	}
}

// AddToScheme registers the kinds of scheduling objects.
func (*Kubernetes) AddToScheme(scheme *runtime.Scheme) error {
	return schedulingv1beta1.AddToScheme(scheme)
}

// Uses says whether a set has scheduling objects.
func (*Kubernetes) Uses(set *lwsv1.LeaderWorkerSet) bool {
	return set.Spec.Scheduling != nil
}

// AdmitLeader makes a leader a member of its group's PodGroup. The token is used
// unless the pod has one already.
func (*Kubernetes) AdmitLeader(pod *corev1.Pod, set *lwsv1.LeaderWorkerSet, token string) {
	admitLeader(pod, podLevel(set), token)
	joinPodGroup(pod)
}

// AdmitWorker makes a worker a member of the PodGroup that its leader's
// annotations, which its template repeats, name.
func (*Kubernetes) AdmitWorker(pod *corev1.Pod) {
	if pod.Annotations[lwsv1.SchedulingLevelAnnotationKey] != "" {
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
	return Level(pod.Annotations[lwsv1.SchedulingLevelAnnotationKey]) == podLevel(set) &&
		group != nil && group.PodGroupName != nil && *group.PodGroupName == podGroupOf(pod)
}

// SetObjects are the scheduling objects that a set has once, in the order in which
// they are made. Live are those that exist.
func (*Kubernetes) SetObjects(set *lwsv1.LeaderWorkerSet, groups []Group, live []client.Object) ([]client.Object, error) {
	counts := CountsOf(set)
	counts.Set = minimumOf(counts.Set, groups, live)
	workload, err := compile(set, counts)
	if err != nil {
		return nil, err
	}
	level := podLevel(set)
	decorate(workload, workloadKind, labelsOf(set.Name, level))
	objects := []client.Object{workload}
	if level != LevelSet {
		return objects, nil
	}
	podGroup, err := newPodGroup(set, workload, identity.WorkloadName(set.Name), string(LevelSet))
	if err != nil {
		return nil, err
	}
	decorate(podGroup, podGroupKind, labelsOf(set.Name, level))
	return append(objects, podGroup), nil
}

// Required names the objects of a set that are there before a pod may be scheduled.
func (*Kubernetes) Required(set *lwsv1.LeaderWorkerSet) []Ref {
	required := []Ref{{Kind: workloadKind, Name: identity.WorkloadName(set.Name)}}
	if podLevel(set) == LevelSet {
		required = append(required, Ref{Kind: podGroupKind, Name: identity.WorkloadName(set.Name)})
	}
	return required
}

// GroupObjects are the scheduling objects of the group of a leader. They are made of
// the objects that Required names.
func (*Kubernetes) GroupObjects(set *lwsv1.LeaderWorkerSet, leader *corev1.Pod, required []client.Object) ([]client.Object, error) {
	level := Level(leader.Annotations[lwsv1.SchedulingLevelAnnotationKey])
	if level == LevelSet {
		return nil, nil
	}
	counts := CountsOf(set)
	counts.Size = SizeOf(leader)
	workload, err := compile(set, counts)
	if err != nil {
		return nil, err
	}
	var objects []client.Object
	for _, template := range templatesOf(level) {
		podGroup, err := newPodGroup(set, workload, podGroupName(leader, template), template)
		if err != nil {
			return nil, err
		}
		owner := required[0]
		podGroup.OwnerReferences = append(podGroup.OwnerReferences, metav1.OwnerReference{
			APIVersion: workloadKind.GroupVersion().String(), Kind: workloadKind.Kind, Name: owner.GetName(), UID: owner.GetUID(),
		})
		decorate(podGroup, podGroupKind, groupLabels(leader, level, template))
		objects = append(objects, podGroup)
	}
	return objects, nil
}

// GroupRefs names the scheduling objects of the group of a pod, as the pod's
// annotations, or those of the template of workers, have it.
func (*Kubernetes) GroupRefs(member metav1.Object) []Ref {
	level := Level(member.GetAnnotations()[lwsv1.SchedulingLevelAnnotationKey])
	var refs []Ref
	for _, template := range templatesOf(level) {
		refs = append(refs, Ref{Kind: podGroupKind, Name: podGroupName(member, template)})
	}
	return refs
}

func newPodGroup(set *lwsv1.LeaderWorkerSet, workload *schedulingv1beta1.Workload, name, template string) (*schedulingv1beta1.PodGroup, error) {
	podGroup, err := workloadbuilder.NewBuilderFromExistingWorkload(workload, buildOptions(set)).NewPodGroup(name, template)
	if err != nil {
		return nil, fmt.Errorf("make a PodGroup of template %s: %w", template, err)
	}
	return podGroup, nil
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
	switch level := Level(pod.GetAnnotations()[lwsv1.SchedulingLevelAnnotationKey]); {
	case level == LevelSet:
		return identity.WorkloadName(set.Name)
	case level == LevelRole && identity.IsLeader(pod):
		return podGroupName(pod, roleLeader)
	case level == LevelRole:
		return podGroupName(pod, roleWorker)
	}
	return podGroupName(pod, string(LevelReplica))
}

// podGroupName is the name of one of the PodGroups of a pod's group.
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

func decorate(obj client.Object, kind schema.GroupVersionKind, labels map[string]string) {
	obj.GetObjectKind().SetGroupVersionKind(kind)
	merged := maps.Clone(obj.GetLabels())
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, labels)
	obj.SetLabels(merged)
}

// SizeOf is the size of the group of a leader, as its revision has it.
func SizeOf(leader metav1.Object) int32 {
	size, err := strconv.ParseInt(leader.GetAnnotations()[lwsv1.SizeAnnotationKey], 10, 32)
	if err != nil {
		return 1
	}
	return max(int32(size), 1)
}
