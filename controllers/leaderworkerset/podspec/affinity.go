package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// requireExclusive gives the pods that share a key a domain for themselves: they
// must be together, and with nobody who has another key. The user's own terms
// stay, also those on the same topology; both hold.
func requireExclusive(spec *corev1.PodSpec, keyLabel, key, topology string) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.PodAffinity == nil {
		spec.Affinity.PodAffinity = &corev1.PodAffinity{}
	}
	if spec.Affinity.PodAntiAffinity == nil {
		spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
	}
	together := exclusiveTerm(topology,
		metav1.LabelSelectorRequirement{Key: keyLabel, Operator: metav1.LabelSelectorOpIn, Values: []string{key}})
	apart := exclusiveTerm(topology,
		metav1.LabelSelectorRequirement{Key: keyLabel, Operator: metav1.LabelSelectorOpExists},
		metav1.LabelSelectorRequirement{Key: keyLabel, Operator: metav1.LabelSelectorOpNotIn, Values: []string{key}})

	affinity := &spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	*affinity = withTerm(*affinity, together)
	antiAffinity := &spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	*antiAffinity = withTerm(*antiAffinity, apart)
}

func exclusiveTerm(topology string, requirements ...metav1.LabelSelectorRequirement) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{
		LabelSelector: &metav1.LabelSelector{MatchExpressions: requirements},
		TopologyKey:   topology,
	}
}

// withTerm has a term of ours once. It is known by its selector, which holds a key
// that no template has; a term of the user's may be on the same topology.
func withTerm(terms []corev1.PodAffinityTerm, term corev1.PodAffinityTerm) []corev1.PodAffinityTerm {
	index := slices.IndexFunc(terms, func(other corev1.PodAffinityTerm) bool {
		return equality.Semantic.DeepEqual(other.LabelSelector, term.LabelSelector)
	})
	if index < 0 {
		return append(terms, term)
	}
	terms[index] = term
	return terms
}
