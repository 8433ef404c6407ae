package podspec

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

func togetherTerm(label, key, topology string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: topology, LabelSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: prefix + label, Operator: "In", Values: []string{key}}},
	}}
}

func apartTerm(label, key, topology string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: topology, LabelSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: prefix + label, Operator: "Exists"},
			{Key: prefix + label, Operator: "NotIn", Values: []string{key}},
		},
	}}
}

func affinity(together, apart []corev1.PodAffinityTerm) *corev1.Affinity {
	return &corev1.Affinity{
		PodAffinity:     &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: together},
		PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: apart},
	}
}

func TestExclusivePlacement(t *testing.T) {
	type terms = []corev1.PodAffinityTerm
	groupKey := "cf911a868b7b4378b0bec5368a57d10a5f91b867"
	sub0, sub1 := subGroupKeyOf("a-0", '0'), subGroupKeyOf("a-0", '1')
	group := affinity(terms{togetherTerm("group-key", groupKey, "zone")}, terms{apartTerm("group-key", groupKey, "zone")})
	subGroup := func(key string) *corev1.Affinity {
		return affinity(terms{togetherTerm("subgroup-key", key, "rack")}, terms{apartTerm("subgroup-key", key, "rack")})
	}
	both := affinity(
		terms{togetherTerm("group-key", groupKey, "zone"), togetherTerm("subgroup-key", sub0, "rack")},
		terms{apartTerm("group-key", groupKey, "zone"), apartTerm("subgroup-key", sub0, "rack")})

	newSet := func() *lwstest.Builder { return lwstest.New("a").Size(5) }
	subGroups := func(kind lwsv1.SubGroupPolicyType) *lwstest.Builder { return newSet().SubGroups(2, kind) }
	tests := map[string]struct {
		set  *lwstest.Builder
		want map[int32]*corev1.Affinity // by worker index
	}{
		"none":             {newSet(), map[int32]*corev1.Affinity{0: nil, 1: nil}},
		"group":            {newSet().GroupTopology("zone"), map[int32]*corev1.Affinity{0: group, 1: nil, 4: nil}},
		"group, annotated": {newSet().Annotation(prefix+"exclusive-topology", "zone"), map[int32]*corev1.Affinity{0: group, 1: nil}},
		"subgroup": {
			subGroups(lwsv1.SubGroupPolicyTypeLeaderWorker).SubGroupTopology("rack"),
			map[int32]*corev1.Affinity{0: subGroup(sub0), 1: subGroup(sub0), 2: subGroup(sub0), 3: subGroup(sub1), 4: subGroup(sub1)},
		},
		"subgroup, leader excluded": {
			subGroups(lwsv1.SubGroupPolicyTypeLeaderExcluded).SubGroupTopology("rack"),
			map[int32]*corev1.Affinity{0: nil, 1: subGroup(sub0), 2: subGroup(sub0), 3: subGroup(sub1), 4: subGroup(sub1)},
		},
		"both": {
			subGroups(lwsv1.SubGroupPolicyTypeLeaderWorker).SubGroupTopology("rack").GroupTopology("zone"),
			map[int32]*corev1.Affinity{0: both, 1: subGroup(sub0), 4: subGroup(sub1)},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for worker, want := range test.want {
				pod := admittedMember(t, test.set.Obj(), 0, worker)
				if diff := cmp.Diff(want, pod.Spec.Affinity); diff != "" {
					t.Errorf("worker %d (-want +got):\n%s", worker, diff)
				}
			}
		})
	}
}

func subGroupKeyOf(group string, subGroup rune) string {
	return map[string]string{ // of sha1sum
		"a-0/0": "7c2ca13c93b0940da84414465db524f117709d12",
		"a-0/1": "27825fd59f8329bec4fc97338448940918e56c9a",
	}[group+"/"+string(subGroup)]
}

func TestTheUsersAffinityStays(t *testing.T) {
	key := leaderOf(lwstest.New("a").Obj(), 0).GroupKey
	users := corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "cache"}}}
	lookalike := apartTerm("group-key", "another", "zone")
	nodes := &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1}}}
	preferred := []corev1.WeightedPodAffinityTerm{{Weight: 5, PodAffinityTerm: users}}

	template := lwstest.PodTemplate("main")
	template.Spec.Affinity = affinity([]corev1.PodAffinityTerm{users}, []corev1.PodAffinityTerm{users, lookalike})
	template.Spec.Affinity.NodeAffinity = nodes
	template.Spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = preferred

	want := affinity(
		[]corev1.PodAffinityTerm{users, togetherTerm("group-key", key, "zone")},
		[]corev1.PodAffinityTerm{users, lookalike, apartTerm("group-key", key, "zone")})
	want.NodeAffinity = nodes
	want.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = preferred

	set := lwstest.New("a").Size(2).GroupTopology("zone").WorkerTemplate(template).Obj()
	pod := admittedMember(t, set, 0, 0)
	if diff := cmp.Diff(want, pod.Spec.Affinity); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	admitLeader(t, pod, "")
	if diff := cmp.Diff(want, pod.Spec.Affinity); diff != "" {
		t.Errorf("admitted again (-want +got):\n%s", diff)
	}
}
