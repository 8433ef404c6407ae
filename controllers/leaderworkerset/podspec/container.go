package podspec

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
)

// containers yields every container and init container of a pod.
func containers(spec *corev1.PodSpec) iter.Seq[*corev1.Container] {
	return func(yield func(*corev1.Container) bool) {
		for i := range spec.Containers {
			if !yield(&spec.Containers[i]) {
				return
			}
		}
		for i := range spec.InitContainers {
			if !yield(&spec.InitContainers[i]) {
				return
			}
		}
	}
}

// isSidecar says whether an init container keeps running beside the containers.
func isSidecar(initContainer *corev1.Container) bool {
	return initContainer.RestartPolicy != nil &&
		*initContainer.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func variable(container *corev1.Container, name string) (*corev1.EnvVar, bool) {
	for i := range container.Env {
		if container.Env[i].Name == name {
			return &container.Env[i], true
		}
	}
	return nil, false
}
