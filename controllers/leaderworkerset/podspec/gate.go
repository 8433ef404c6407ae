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
