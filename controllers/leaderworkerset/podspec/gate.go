package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// addGate holds a leader back until lws-manager admits it. A pod that names its
// node itself cannot be held: the API refuses a gate on it.
func addGate(spec *corev1.PodSpec) {
	if spec.NodeName != "" {
		return
	}
	if _, gated := gateIndex(spec); !gated {
		spec.SchedulingGates = append(spec.SchedulingGates, corev1.PodSchedulingGate{Name: lwsv1.GroupReplacementSchedulingGate})
	}
}

// gatedDeletionCost makes a ReplicaSet remove a leader that waits at its gate before
// one that was admitted, when neither has a node.
const gatedDeletionCost = "-100"

// HasGatedDeletionCost says whether a pod has the deletion cost of gated leaders.
func HasGatedDeletionCost(pod *corev1.Pod) bool {
	return pod.Annotations[corev1.PodDeletionCost] == gatedDeletionCost
}

// standForGroup makes a leader count as its group with the ReplicaSet that makes it: it
// is ready when all its workers are, and costs little while it is held. A deletion cost
// of the user's stays.
func standForGroup(pod *corev1.Pod, m *member) {
	isGate := func(gate corev1.PodReadinessGate) bool { return gate.ConditionType == lwsv1.GroupReadyReadinessGate }
	if m.size > 1 && !slices.ContainsFunc(pod.Spec.ReadinessGates, isGate) {
		pod.Spec.ReadinessGates = append(pod.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: lwsv1.GroupReadyReadinessGate})
	}
	if _, chosen := pod.Annotations[corev1.PodDeletionCost]; !chosen && pod.Spec.NodeName == "" {
		pod.Annotations = merge(pod.Annotations, map[string]string{corev1.PodDeletionCost: gatedDeletionCost})
	}
}

// GateIndex is the place of the gate among a pod's scheduling gates, false if the
// pod is not, or no longer, held by it.
func GateIndex(pod *corev1.Pod) (int, bool) {
	return gateIndex(&pod.Spec)
}

func gateIndex(spec *corev1.PodSpec) (int, bool) {
	index := slices.IndexFunc(spec.SchedulingGates, func(gate corev1.PodSchedulingGate) bool {
		return gate.Name == lwsv1.GroupReplacementSchedulingGate
	})
	return index, index >= 0
}
