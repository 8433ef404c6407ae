package scheduling

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

// requestsOf is what a pod of a template asks for. The template of a set, unlike a
// pod, has not been given defaults: what only has a limit asks for that.
func requestsOf(spec *corev1.PodSpec) corev1.ResourceList {
	pod := &corev1.Pod{Spec: *spec.DeepCopy()}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			requests := maps.Clone(containers[i].Resources.Limits)
			if requests == nil {
				requests = corev1.ResourceList{}
			}
			maps.Copy(requests, containers[i].Resources.Requests)
			containers[i].Resources.Requests = requests
		}
	}
	return resource.PodRequests(pod, resource.PodResourcesOptions{})
}
