package lwstest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Image is what containers run unless a test says otherwise.
const Image = "registry.k8s.io/pause:3.10"

// PodTemplate is a template with one container of a name.
func PodTemplate(container string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: container, Image: Image}}},
	}
}

// LabelledPodTemplate is a PodTemplate whose pods have a label.
func LabelledPodTemplate(container, key, value string) corev1.PodTemplateSpec {
	template := PodTemplate(container)
	metav1.SetMetaDataLabel(&template.ObjectMeta, key, value)
	return template
}

// TPUPodTemplate is a PodTemplate with a TPU container for each of the names, which
// ask for a number of chips.
func TPUPodTemplate(chips int64, containers ...string) corev1.PodTemplateSpec {
	var template corev1.PodTemplateSpec
	for _, name := range containers {
		template.Spec.Containers = append(template.Spec.Containers, corev1.Container{
			Name:  name,
			Image: Image,
			Resources: corev1.ResourceRequirements{
				Limits: corev1.ResourceList{lwsv1.TPUResourceName: *resource.NewQuantity(chips, resource.DecimalSI)},
			},
		})
	}
	return template
}
