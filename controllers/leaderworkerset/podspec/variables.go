package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// Variables are the names of the variables that every container gets. A user's
// variable of such a name is replaced.
func Variables() []string {
	return []string{lwsv1.LeaderAddressEnvVar, lwsv1.GroupSizeEnvVar, lwsv1.WorkerIndexEnvVar}
}

// addVariables puts the variables of the group before all others, so that those
// may refer to them.
func addVariables(pod *corev1.Pod, m *member) {
	ours := []corev1.EnvVar{
		{Name: lwsv1.LeaderAddressEnvVar, Value: leaderAddress(pod, m)},
		{Name: lwsv1.GroupSizeEnvVar, Value: formatNumber(m.size)},
		{Name: lwsv1.WorkerIndexEnvVar, Value: formatNumber(m.workerIndex)},
	}
	_, inDisaggregatedSet := pod.Labels[dsv1.SetNameLabelKey]
	for container := range containers(&pod.Spec) {
		theirs := slices.DeleteFunc(slices.Clone(container.Env), func(variable corev1.EnvVar) bool {
			return slices.Contains(Variables(), variable.Name)
		})
		if inDisaggregatedSet {
			slices.SortStableFunc(theirs, disaggregatedSetFirst)
		}
		container.Env = slices.Concat(ours, theirs)
	}
}

// leaderAddress: with Hash identity the template has it, since a worker cannot
// tell it from its own name.
func leaderAddress(pod *corev1.Pod, m *member) string {
	if address := pod.Annotations[lwsv1.LeaderAddressAnnotationKey]; address != "" && m.workerIndex > 0 {
		return address
	}
	return identity.LeaderAddress(m.groupName, pod.Spec.Subdomain, pod.Namespace)
}

// disaggregatedSetFirst orders the variables that disaggregatedset-manager fixed
// in the template, whose values are literal, before the user's.
func disaggregatedSetFirst(a, b corev1.EnvVar) int {
	return rank(a) - rank(b)
}

func rank(variable corev1.EnvVar) int {
	switch variable.Name {
	case dsv1.SetNameEnvVar, dsv1.RoleEnvVar, dsv1.SliceEnvVar, dsv1.RevisionEnvVar:
		return 0
	}
	return 1
}
