package children

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
	"sigs.k8s.io/lws/controllers/disaggregatedset/placement"
)

// inject adds to the pod templates of a new LeaderWorkerSet what tells its pods
// where they belong.
func inject(template *lwsv1.LeaderWorkerTemplate, set *dsv1.DisaggregatedSet, key identity.Key) {
	policy, topology := dsv1.SliceTopology(set)
	where := placement.Slice{
		Namespace: set.Namespace, Set: set.Name, Index: key.Slice, Type: policy, Topology: topology,
	}
	for _, pods := range podTemplates(template) {
		if pods.Labels == nil {
			pods.Labels = map[string]string{}
		}
		for label, value := range identity.LeaderWorkerSetLabels(set.Name, key) {
			pods.Labels[label] = value
		}
		variables := identity.Variables(set.Name, key)
		for _, containers := range [][]corev1.Container{pods.Spec.InitContainers, pods.Spec.Containers} {
			for i := range containers {
				containers[i].Env = withVariables(containers[i].Env, variables)
			}
		}
		placement.Add(&pods.Spec, where)
	}
}

// withVariables puts ours first, so that the user's may refer to them, and in
// place of the user's of the same name.
func withVariables(users []corev1.EnvVar, ours [][2]string) []corev1.EnvVar {
	env := make([]corev1.EnvVar, 0, len(ours)+len(users))
	for _, v := range ours {
		env = append(env, corev1.EnvVar{Name: v[0], Value: v[1]})
	}
	for _, v := range users {
		if !identity.IsVariable(v.Name) {
			env = append(env, v)
		}
	}
	return env
}

func podTemplates(template *lwsv1.LeaderWorkerTemplate) []*corev1.PodTemplateSpec {
	templates := []*corev1.PodTemplateSpec{&template.WorkerTemplate}
	if template.LeaderTemplate != nil {
		templates = append(templates, template.LeaderTemplate)
	}
	return templates
}

// isInjected says whether the pods of a template are found by their labels.
func isInjected(template *lwsv1.LeaderWorkerTemplate, set string, key identity.Key) bool {
	labels := identity.Labels(set, key)
	return !slices.ContainsFunc(podTemplates(template), func(pods *corev1.PodTemplateSpec) bool {
		return !identity.Has(pods.Labels, labels)
	})
}
