package webhook

import (
	"encoding/json"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// patched is the difference between two states of a pod, not between the pod and
// what was sent: fields that are newer than our libraries are in neither and stay.
func patched(before, after *corev1.Pod) admission.Response {
	original, err := json.Marshal(changeable(before))
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	current, err := json.Marshal(changeable(after))
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(original, current)
}

// changeable is what admission may change of a pod. All else, the most of it, would be
// encoded, decoded and compared with every pod for nothing.
func changeable(pod *corev1.Pod) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels, Annotations: pod.Annotations},
		Spec: corev1.PodSpec{
			Hostname:        pod.Spec.Hostname,
			Subdomain:       pod.Spec.Subdomain,
			Affinity:        pod.Spec.Affinity,
			SchedulingGates: pod.Spec.SchedulingGates,
			ReadinessGates:  pod.Spec.ReadinessGates,
			SchedulingGroup: pod.Spec.SchedulingGroup,
			InitContainers:  variablesOf(pod.Spec.InitContainers),
			Containers:      variablesOf(pod.Spec.Containers),
		},
	}
}

// variablesOf are containers, in their places, with nothing but their variables.
func variablesOf(containers []corev1.Container) []corev1.Container {
	variables := make([]corev1.Container, len(containers))
	for i := range containers {
		variables[i].Env = containers[i].Env
	}
	return variables
}
