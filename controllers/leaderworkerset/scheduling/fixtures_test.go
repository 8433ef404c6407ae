package scheduling

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

type (
	s           = lwsv1.LeaderWorkerSetScheduling
	replica     = lwsv1.LeaderWorkerSetReplicaScheduling
	composite   = schedulingv1alpha3.WorkloadCompositePodGroupSchedulingPolicy
	constraints = schedulingv1alpha3.WorkloadCompositePodGroupSchedulingConstraints
	ofPods      = schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy
	claim       = schedulingv1alpha3.WorkloadPodGroupResourceClaim
)

var (
	gang  = &composite{Gang: &schedulingv1alpha3.WorkloadCompositePodGroupGangSchedulingPolicy{}}
	loose = &composite{Basic: &schedulingv1alpha3.WorkloadCompositePodGroupBasicSchedulingPolicy{}}
	rack  = &constraints{Topology: []schedulingv1alpha3.TopologyConstraint{{Key: "rack"}}}
	whole = &schedulingv1alpha3.WorkloadCompositePodGroupDisruptionMode{All: &schedulingv1alpha3.WorkloadCompositePodGroupAllDisruptionMode{}}

	podGang = &ofPods{Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{}}
	workers = &lwsv1.LeaderWorkerSetWorkerScheduling{SchedulingPolicy: podGang}
)

// leaderPod is the leader of group 1 of the set "a", of a size and a level.
func leaderPod(level Level, size string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "a-1",
		Labels: map[string]string{
			lwsv1.SetNameLabelKey: "a", lwsv1.GroupIndexLabelKey: "1", lwsv1.WorkerIndexLabelKey: "0", lwsv1.RevisionLabelKey: "rev",
		},
		Annotations: map[string]string{
			lwsv1.SizeAnnotationKey: size, lwsv1.SchedulingLevelAnnotationKey: string(level), lwsv1.SchedulingTokenAnnotationKey: "abcde",
		},
	}}
}
