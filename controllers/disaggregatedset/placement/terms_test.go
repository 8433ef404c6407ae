package placement

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
)

const rack = "example.com/rack"

// pod is another pod that stands in the domain already.
type pod struct {
	namespace string
	labels    labels.Set
}

func of(namespace, set, slice, role string) pod {
	return pod{namespace, labels.Set{dsv1.SetNameLabelKey: set, dsv1.SliceLabelKey: slice, dsv1.RoleLabelKey: role}}
}

// matches decides as schedulers do: a term without namespace selector is about the
// pod's own namespace. Those before 1.37 look at no labels of a namespace besides.
func matches(t *testing.T, term corev1.PodAffinityTerm, own string, p pod) bool {
	t.Helper()
	selector := func(s *metav1.LabelSelector) labels.Selector {
		parsed, err := metav1.LabelSelectorAsSelector(s)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	inNamespace := own == p.namespace
	if term.NamespaceSelector != nil {
		namespaces := selector(term.NamespaceSelector)
		inNamespace = namespaces.Matches(labels.Set{corev1.LabelMetadataName: p.namespace}) || namespaces.Matches(labels.Set{})
	}
	return inNamespace && selector(term.LabelSelector).Matches(p.labels)
}

func TestWhoSharesADomain(t *testing.T) {
	tests := map[string]struct {
		other           pod
		wanted          bool // the slice must be where it is
		slice, topology bool // kept away with ExclusiveSlice, ExclusiveTopology
	}{
		"the same slice, another role": {of("ns", "llm", "1", "decode"), true, false, false},
		"another slice of the set":     {of("ns", "llm", "0", "prefill"), false, true, true},
		"another set":                  {of("ns", "chat", "1", "prefill"), false, false, true},
		"the same name in another namespace": {
			of("other", "llm", "1", "prefill"), false, false, true,
		},
		"somebody else's pod":        {pod{"ns", labels.Set{"app": "x"}}, false, false, false},
		"one from before the slices": {pod{"ns", labels.Set{dsv1.SetNameLabelKey: "llm"}}, false, false, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for policy, kept := range map[dsv1.PlacementPolicyType]bool{
				dsv1.ExclusiveSlicePlacement:    tc.slice,
				dsv1.ExclusiveTopologyPlacement: tc.topology,
			} {
				spec := &corev1.PodSpec{}
				Add(spec, Slice{Namespace: "ns", Set: "llm", Index: 1, Type: policy, Topology: rack})
				together := spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
				if len(together) != 1 || together[0].TopologyKey != rack || matches(t, together[0], "ns", tc.other) != tc.wanted {
					t.Errorf("%s: affinity %v, want it to match: %v", policy, together, tc.wanted)
				}
				away := false
				for _, term := range spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
					away = away || term.TopologyKey == rack && matches(t, term, "ns", tc.other)
				}
				if away != kept {
					t.Errorf("%s keeps it away: %v, want %v", policy, away, kept)
				}
			}
		})
	}
}

func TestNoneAddsNothing(t *testing.T) {
	spec := &corev1.PodSpec{}
	Add(spec, Slice{Set: "llm", Type: dsv1.NonePlacement, Topology: rack})
	if spec.Affinity != nil {
		t.Errorf("got %v", spec.Affinity)
	}
}

// What a set has that was made before the selector asked whether there is a label: its
// pods must not be restarted for it.
func TestRemoveKnowsTheTermsOfBefore(t *testing.T) {
	spec := &corev1.PodSpec{}
	Add(spec, Slice{Namespace: "ns", Set: "llm", Type: dsv1.ExclusiveTopologyPlacement, Topology: rack})
	terms := spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	asked := terms[len(terms)-1].NamespaceSelector
	if len(asked.MatchExpressions) != 2 {
		t.Fatalf("the last term selects namespaces by %v", asked)
	}
	asked.MatchExpressions = asked.MatchExpressions[1:]
	if Remove(spec); spec.Affinity != nil {
		t.Errorf("left after removing: %v", spec.Affinity)
	}
}

func TestRemoveLeavesTheUsersTerms(t *testing.T) {
	users := corev1.PodAffinityTerm{
		TopologyKey:   rack,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "cache"}},
	}
	neighbour := corev1.PodAffinityTerm{TopologyKey: rack, LabelSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{requirement(dsv1.SetNameLabelKey, metav1.LabelSelectorOpIn, "chat")},
	}}
	everybody := corev1.PodAffinityTerm{TopologyKey: rack, LabelSelector: &metav1.LabelSelector{}}
	tests := map[string]*corev1.Affinity{
		"none": nil,
		"terms on the same label": {
			PodAffinity:     &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{users, neighbour}},
			PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{everybody}},
		},
		"preferences": {
			PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 1, PodAffinityTerm: users},
			}},
		},
		"node affinity": {NodeAffinity: &corev1.NodeAffinity{}},
	}
	for name, own := range tests {
		t.Run(name, func(t *testing.T) {
			spec := &corev1.PodSpec{Affinity: own.DeepCopy()}
			Add(spec, Slice{Namespace: "ns", Set: "llm", Type: dsv1.ExclusiveTopologyPlacement, Topology: rack})
			if cmp.Equal(own, spec.Affinity) {
				t.Fatal("nothing was added")
			}
			Remove(spec)
			if diff := cmp.Diff(own, spec.Affinity); diff != "" {
				t.Errorf("after adding and removing (-want +got):\n%s", diff)
			}
		})
	}
}
