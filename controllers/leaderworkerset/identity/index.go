package identity

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Names of the informer indexes. The value of PodsByGroupIndex is Group.String,
// that of all others is the set's namespace/name.
const (
	PodsByGroupIndex             = "podsByGroup"
	LeadersBySetIndex            = "leadersBySet"
	UnschedulableBySetIndex      = "unschedulableBySet"
	WorkerStatefulSetsBySetIndex = "workerStatefulSetsBySet"
	RevisionsBySetIndex          = "revisionsBySet"
	ServicesBySetIndex           = "servicesBySet"
	ReplicaSetsBySetIndex        = "replicaSetsBySet"
	EndingWorkersBySetIndex      = "endingWorkersBySet"
	// The value of ReplacementsByGroupIndex is Group.String of the group that is
	// replaced.
	ReplacementsByGroupIndex = "replacementsByGroup"
	// The value of KeyedLeadersByNameIndex is namespace/name of a group.
	KeyedLeadersByNameIndex = "keyedLeadersByName"
)

// PodsByGroup indexes pods by their group.
func PodsByGroup(pod metav1.Object) []string {
	group, ok := GroupOfPod(pod)
	if !ok {
		return nil
	}
	return []string{group.String()}
}

// LeadersBySet indexes leader pods by their set.
func LeadersBySet(pod metav1.Object) []string {
	if !IsLeader(pod) {
		return nil
	}
	return bySet(pod)
}

// UnschedulableBySet indexes pods that the scheduler tried and failed to place.
func UnschedulableBySet(pod *corev1.Pod) []string {
	if !isUnschedulable(pod) {
		return nil
	}
	return bySet(pod)
}

// isUnschedulable leaves out pods that a gate holds: the scheduler has not tried
// to place them.
func isUnschedulable(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if condition.Type == corev1.PodScheduled {
			return condition.Status == corev1.ConditionFalse &&
				condition.Reason != corev1.PodReasonSchedulingGated
		}
	}
	return false
}

// WorkerStatefulSetsBySet indexes worker StatefulSets by their set.
func WorkerStatefulSetsBySet(statefulSet metav1.Object) []string {
	if _, ok := GroupOfWorkerStatefulSet(statefulSet); !ok {
		return nil
	}
	return bySet(statefulSet)
}

// RevisionsBySet indexes the ControllerRevisions of sets. Those that the
// StatefulSet controller makes of our StatefulSets carry all labels of the pod
// template, ours included; what tells them apart is that every pod template has
// one of the labels worker-index and group-index, and a set's revision neither.
func RevisionsBySet(revision metav1.Object) []string {
	has := func(key string) bool {
		_, ok := revision.GetLabels()[key]
		return ok
	}
	if !has(lwsv1.RevisionLabelKey) || has(lwsv1.WorkerIndexLabelKey) || has(lwsv1.GroupIndexLabelKey) {
		return nil
	}
	return bySet(revision)
}

// ReplicaSetsBySet indexes the ReplicaSets of leader Deployments by their set.
func ReplicaSetsBySet(replicaSet metav1.Object) []string {
	return bySet(replicaSet)
}

// EndingWorkersBySet indexes workers that are being deleted, of groups with a key, by
// their set: they are what is left of a group whose leader is gone.
func EndingWorkersBySet(pod metav1.Object) []string {
	group, ok := GroupOfPod(pod)
	if !ok || !group.HasKey() || IsLeader(pod) || pod.GetDeletionTimestamp() == nil {
		return nil
	}
	return bySet(pod)
}

// ReplacementsByGroup indexes leaders by the group that they replace.
func ReplacementsByGroup(pod metav1.Object) []string {
	replaced, ok := ReplacedBy(pod)
	if !ok {
		return nil
	}
	return []string{replaced.String()}
}

// ReplacedBy is the group that a leader replaces, false if it replaces none.
func ReplacedBy(leader metav1.Object) (Group, bool) {
	group, ok := GroupOfPod(leader)
	key := leader.GetAnnotations()[lwsv1.ReplacesAnnotationKey]
	if !ok || !group.HasKey() || key == "" || !IsLeader(leader) {
		return Group{}, false
	}
	group.Index = key
	return group, true
}

// KeyedLeadersByName indexes leaders of groups with a key by what their groups are
// called, which several keys may have in common.
func KeyedLeadersByName(pod metav1.Object) []string {
	group, ok := GroupOfPod(pod)
	if !ok || !group.HasKey() || !IsLeader(pod) {
		return nil
	}
	return []string{group.Namespace + "/" + group.Name()}
}

// ServicesBySet indexes Services by their set.
func ServicesBySet(service metav1.Object) []string {
	return bySet(service)
}

func bySet(obj metav1.Object) []string {
	set, ok := SetOf(obj)
	if !ok {
		return nil
	}
	return []string{set.String()}
}
