package group

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
)

// IsGated says whether a leader is held by the admission gate.
func IsGated(leader *corev1.Pod) bool {
	_, gated := podspec.GateIndex(leader)
	return gated
}

// IsExhausted says whether a leader is that of a group whose restart budget is spent.
func IsExhausted(leader *corev1.Pod) bool {
	return leader.Annotations[lwsv1.GroupRestartBudgetExhaustedAnnotationKey] == trueValue
}

// IsRetained says whether a pod stays when it has ended, because its group is
// exhausted.
func IsRetained(p *corev1.Pod) bool {
	return slices.Contains(p.Finalizers, lwsv1.GroupRestartBudgetCleanupFinalizer)
}
