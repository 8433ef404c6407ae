package scheduling

import (
	"context"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	volcanov1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

const volcanoScheduler = "volcano"

var volcanoKind = volcanov1beta1.SchemeGroupVersion.WithKind("PodGroup")

// Volcano is Volcano, for sets whose pods its scheduler places: each group has a
// PodGroup that belongs to its leader, and goes with it.
type Volcano struct {
	availability
}

// NewVolcano is Volcano. Spec.scheduling is for it only if it is enabled.
func NewVolcano(enabled bool) *Volcano {
	v := &Volcano{}
	v.off = !enabled
	v.problem = unread()
	return v
}

// Kinds is the PodGroup.
func (*Volcano) Kinds() []Kind {
	return []Kind{{
		GroupVersionKind: volcanoKind,
		New:              func() client.Object { return &volcanov1beta1.PodGroup{} },
		NewList:          func() client.ObjectList { return &volcanov1beta1.PodGroupList{} },
		PerGroup:         true,
	}}
}

// AddToScheme registers the PodGroup.
func (*Volcano) AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(volcanov1beta1.SchemeGroupVersion, &volcanov1beta1.PodGroup{}, &volcanov1beta1.PodGroupList{})
	metav1.AddToGroupVersion(scheme, volcanov1beta1.SchemeGroupVersion)
	return nil
}

// Uses says whether the pods of a set are placed by Volcano.
func (*Volcano) Uses(set *lwsv1.LeaderWorkerSet) bool {
	return set.Spec.Scheduling != nil || usesVolcano(set)
}

func usesVolcano(set *lwsv1.LeaderWorkerSet) bool {
	template := &set.Spec.LeaderWorkerTemplate
	return set.Annotations[lwsv1.GangSchedulingAnnotationKey] == "true" ||
		lwsv1.LeaderTemplate(template).Spec.SchedulerName == volcanoScheduler ||
		template.WorkerTemplate.Spec.SchedulerName == volcanoScheduler
}

// Validate refuses what Volcano cannot do: it knows gangs of groups and no more.
func (v *Volcano) Validate(_ context.Context, old, set *lwsv1.LeaderWorkerSet) field.ErrorList {
	if set.Spec.Scheduling == nil || old != nil {
		return nil
	}
	if problem := v.Unavailable(set); problem != nil {
		return field.ErrorList{field.Forbidden(schedulingPath, problem.Message)}
	}
	errs := unsupportedByVolcano(set.Spec.Scheduling)
	if !usesVolcano(set) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "leaderWorkerTemplate", "workerTemplate", "spec", "schedulerName"),
			set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.SchedulerName, "must be volcano, which is the scheduler provider"))
	}
	return errs
}

// unsupportedByVolcano is the table of what Volcano is not capable of.
func unsupportedByVolcano(s *lwsv1.LeaderWorkerSetScheduling) field.ErrorList {
	replica, path := s.Replica, schedulingPath.Child("replica")
	if replica == nil {
		replica = &lwsv1.LeaderWorkerSetReplicaScheduling{}
	}
	var errs field.ErrorList
	for _, used := range []struct {
		is   bool
		path *field.Path
	}{
		{s.SchedulingPolicy != nil, schedulingPath.Child(policyField)},
		{s.SchedulingConstraints != nil, schedulingPath.Child(constraintsField)},
		{s.DisruptionMode != nil, schedulingPath.Child(disruptionField)},
		{replica.SchedulingPolicy != nil && replica.SchedulingPolicy.Gang == nil, path.Child(policyField)},
		{replica.SchedulingConstraints != nil, path.Child(constraintsField)},
		{replica.DisruptionMode != nil, path.Child(disruptionField)},
		{replica.Leader != nil, path.Child(roleLeader)},
		{replica.Worker != nil, path.Child(roleWorker)},
	} {
		if used.is {
			errs = append(errs, field.Forbidden(used.path, "the scheduler provider volcano supports a gang of each replica only"))
		}
	}
	return errs
}

// AdmitLeader makes a leader a member of its group's PodGroup. The token is used
// unless the pod has one already.
func (*Volcano) AdmitLeader(pod *corev1.Pod, _ *lwsv1.LeaderWorkerSet, token string) {
	admitLeader(pod, levels{LevelReplica}, token)
	joinVolcanoGroup(pod)
}

// AdmitWorker makes a worker a member of its leader's PodGroup.
func (*Volcano) AdmitWorker(pod *corev1.Pod) {
	if pod.Annotations[lwsv1.SchedulingLevelAnnotationKey] != "" {
		joinVolcanoGroup(pod)
	}
}

func joinVolcanoGroup(pod *corev1.Pod) {
	pod.Annotations[volcanov1beta1.KubeGroupNameAnnotationKey] = podGroupName(pod, string(LevelReplica))
}

// IsAdmitted says whether a leader is a member of a PodGroup.
func (*Volcano) IsAdmitted(pod *corev1.Pod, _ *lwsv1.LeaderWorkerSet) bool {
	return pod.Annotations[lwsv1.SchedulingLevelAnnotationKey] == string(LevelReplica)
}

// SetObjects are none: there is nothing that a set has once.
func (*Volcano) SetObjects(*lwsv1.LeaderWorkerSet, []Group, []client.Object) ([]client.Object, error) {
	return nil, nil
}

// Required are none.
func (*Volcano) Required(*lwsv1.LeaderWorkerSet) []Ref { return nil }

// GroupRefs names the PodGroup of the group of a pod.
func (*Volcano) GroupRefs(member metav1.Object) []Ref {
	if member.GetAnnotations()[lwsv1.SchedulingLevelAnnotationKey] == "" {
		return nil
	}
	return []Ref{{Kind: volcanoKind, Name: podGroupName(member, string(LevelReplica))}}
}

// GroupObjects is the PodGroup of a leader's group.
func (*Volcano) GroupObjects(set *lwsv1.LeaderWorkerSet, leader *corev1.Pod, _ []client.Object) ([]client.Object, error) {
	size := SizeOf(leader)
	minimum := size
	if lwsv1.StartupPolicy(set) == lwsv1.LeaderReadyStartupPolicy {
		minimum = 1
	}
	template := &set.Spec.LeaderWorkerTemplate
	resources := requestsOf(&lwsv1.LeaderTemplate(template).Spec)
	for name, quantity := range requestsOf(&template.WorkerTemplate.Spec) {
		quantity.Mul(int64(size) - 1)
		sum := resources[name]
		sum.Add(quantity)
		resources[name] = sum
	}
	podGroup := &volcanov1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       set.Namespace,
			Name:            podGroupName(leader, string(LevelReplica)),
			Annotations:     volcanoAnnotations(set),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(leader, corev1.SchemeGroupVersion.WithKind("Pod"))},
		},
		Spec: volcanov1beta1.PodGroupSpec{
			MinMember:         minimum,
			MinResources:      &resources,
			Queue:             set.Annotations[volcanov1beta1.QueueNameAnnotationKey],
			PriorityClassName: lwsv1.LeaderTemplate(template).Spec.PriorityClassName,
		},
	}
	decorate(podGroup, volcanoKind, groupLabels(leader, LevelReplica, string(LevelReplica)))
	return []client.Object{podGroup}, nil
}

// volcanoAnnotations are those of a set that Volcano reads on PodGroups.
func volcanoAnnotations(set *lwsv1.LeaderWorkerSet) map[string]string {
	annotations := maps.Clone(set.Annotations)
	maps.DeleteFunc(annotations, func(key, _ string) bool { return !strings.HasPrefix(key, volcanov1beta1.AnnotationPrefix) })
	return annotations
}
