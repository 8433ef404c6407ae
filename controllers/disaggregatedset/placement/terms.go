package placement

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
)

// Slice is one slice of a set, with the rule for where it runs.
type Slice struct {
	Namespace string
	Set       string
	Index     int
	Type      dsv1.PlacementPolicyType
	Topology  string
}

// Add adds the terms of a slice to a pod's own affinity.
func Add(pod *corev1.PodSpec, slice Slice) {
	if slice.Type != dsv1.ExclusiveSlicePlacement && slice.Type != dsv1.ExclusiveTopologyPlacement {
		return
	}
	if pod.Affinity == nil {
		pod.Affinity = &corev1.Affinity{}
	}
	if pod.Affinity.PodAffinity == nil {
		pod.Affinity.PodAffinity = &corev1.PodAffinity{}
	}
	if pod.Affinity.PodAntiAffinity == nil {
		pod.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
	}
	with, without := &pod.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
		&pod.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	*with = append(*with, slice.together())
	*without = append(*without, slice.apart()...)
}

// Remove takes the terms of any slice out of a pod's affinity, and what is empty
// then.
func Remove(pod *corev1.PodSpec) {
	affinity := pod.Affinity
	if affinity == nil {
		return
	}
	if with := affinity.PodAffinity; with != nil {
		with.RequiredDuringSchedulingIgnoredDuringExecution = foreign(with.RequiredDuringSchedulingIgnoredDuringExecution)
		if len(with.RequiredDuringSchedulingIgnoredDuringExecution)+len(with.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			affinity.PodAffinity = nil
		}
	}
	if without := affinity.PodAntiAffinity; without != nil {
		without.RequiredDuringSchedulingIgnoredDuringExecution = foreign(without.RequiredDuringSchedulingIgnoredDuringExecution)
		if len(without.RequiredDuringSchedulingIgnoredDuringExecution)+len(without.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			affinity.PodAntiAffinity = nil
		}
	}
	if affinity.NodeAffinity == nil && affinity.PodAffinity == nil && affinity.PodAntiAffinity == nil {
		pod.Affinity = nil
	}
}

func (s Slice) together() corev1.PodAffinityTerm {
	return s.term(
		requirement(dsv1.SetNameLabelKey, metav1.LabelSelectorOpIn, s.Set),
		requirement(dsv1.SliceLabelKey, metav1.LabelSelectorOpIn, strconv.Itoa(s.Index)),
	)
}

// apart keeps away the other slices of the set and, with ExclusiveTopology, other
// sets: those of this namespace, and all of the other namespaces, where a set may
// have the same name.
func (s Slice) apart() []corev1.PodAffinityTerm {
	siblings := s.term(
		requirement(dsv1.SetNameLabelKey, metav1.LabelSelectorOpIn, s.Set),
		requirement(dsv1.SliceLabelKey, metav1.LabelSelectorOpExists),
		requirement(dsv1.SliceLabelKey, metav1.LabelSelectorOpNotIn, strconv.Itoa(s.Index)),
	)
	if s.Type != dsv1.ExclusiveTopologyPlacement {
		return []corev1.PodAffinityTerm{siblings}
	}
	others := s.term(
		requirement(dsv1.SetNameLabelKey, metav1.LabelSelectorOpExists),
		requirement(dsv1.SetNameLabelKey, metav1.LabelSelectorOpNotIn, s.Set),
	)
	elsewhere := s.term(requirement(dsv1.SetNameLabelKey, metav1.LabelSelectorOpExists))
	// Schedulers before 1.37 also ask the selector about a namespace without labels, and
	// take an answer of yes for every namespace, this one included.
	elsewhere.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		requirement(corev1.LabelMetadataName, metav1.LabelSelectorOpExists),
		requirement(corev1.LabelMetadataName, metav1.LabelSelectorOpNotIn, s.Namespace),
	}}
	return []corev1.PodAffinityTerm{siblings, others, elsewhere}
}

func (s Slice) term(requirements ...metav1.LabelSelectorRequirement) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{
		TopologyKey:   s.Topology,
		LabelSelector: &metav1.LabelSelector{MatchExpressions: requirements},
	}
}

func requirement(key string, op metav1.LabelSelectorOperator, values ...string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: values}
}

// foreign are the terms that somebody else wrote.
func foreign(terms []corev1.PodAffinityTerm) []corev1.PodAffinityTerm {
	var kept []corev1.PodAffinityTerm
	for _, term := range terms {
		if !isOurs(term) {
			kept = append(kept, term)
		}
	}
	return kept
}

// isOurs compares a term with those that some slice would have: the same
// questions about the same labels, whatever the values.
func isOurs(term corev1.PodAffinityTerm) bool {
	if term.LabelSelector == nil || len(term.LabelSelector.MatchLabels) > 0 {
		return false
	}
	model := Slice{Type: dsv1.ExclusiveTopologyPlacement}
	return slices.ContainsFunc(append(model.apart(), model.together()), func(ours corev1.PodAffinityTerm) bool {
		return (ours.NamespaceSelector == nil) == (term.NamespaceSelector == nil) && slices.EqualFunc(
			ours.LabelSelector.MatchExpressions, term.LabelSelector.MatchExpressions,
			func(a, b metav1.LabelSelectorRequirement) bool { return a.Key == b.Key && a.Operator == b.Operator })
	})
}
