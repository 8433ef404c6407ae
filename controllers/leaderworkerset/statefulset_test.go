package leaderworkerset

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// What is applied, in full: a difference in the pod template restarts every pod of
// every set when the manager is upgraded.
func TestDesiredObjects(t *testing.T) {
	tests := map[string]struct {
		set  *lwstest.Builder
		spec rollout.Spec
	}{
		"plain": {set: testSet().Replicas(3).Size(4), spec: rollout.Spec{Replicas: 3}},
		"features": {
			set: testSet().Replicas(2).Size(5).Label("team", "a").Annotation("note", "b").
				Annotation(lwsv1.ExclusiveTopologyAnnotationKey, "rack").
				SubdomainPolicy(lwsv1.SubdomainUniquePerReplica).
				SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderExcluded).
				LeaderTemplate(lwstest.LabelledPodTemplate("leader", "app", "demo")).
				VolumeClaim("data").
				ClaimRetention(appsv1.DeletePersistentVolumeClaimRetentionPolicyType, ""),
			spec: rollout.Spec{Replicas: 2, Partition: 1},
		},
		"rolling": {
			set:  testSet().Replicas(2),
			spec: rollout.Spec{Replicas: 3, Surge: 1, OnDelete: true, Rolling: true, Baseline: 2},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			template, err := leaderTemplate(tc.set.Obj(), "rev")
			if err != nil {
				t.Fatal(err)
			}
			statefulSet, err := desiredStatefulSet(tc.set.Obj(), "rev", template, tc.spec)
			if err != nil {
				t.Fatal(err)
			}
			got := inYAML(t, statefulSet) + "---\n" + inYAML(t, desiredService(tc.set.Obj()))
			file := "testdata/desired-" + name + ".yaml"
			if os.Getenv("UPDATE_GOLDEN") != "" {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}

func inYAML(t *testing.T, obj any) string {
	t.Helper()
	text, err := yaml.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestObservedSpec(t *testing.T) {
	for name, spec := range map[string]rollout.Spec{
		"at rest":           {Replicas: 3},
		"with a partition":  {Replicas: 3, Partition: 2},
		"rolling":           {Replicas: 3, Surge: 1, Partition: 1, Rolling: true, Baseline: 2},
		"rolling, baseline": {Replicas: 2, OnDelete: true, Rolling: true},
		"scaled to zero":    {},
	} {
		t.Run(name, func(t *testing.T) {
			set := testSet().Replicas(int32(spec.Replicas - spec.Surge)).Obj()
			template, err := leaderTemplate(set, "rev")
			if err != nil {
				t.Fatal(err)
			}
			desired, err := desiredStatefulSet(set, "rev", template, spec)
			if err != nil {
				t.Fatal(err)
			}
			leaders := &appsv1.StatefulSet{}
			if err := toObject(desired, leaders); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(spec, observedSpec(leaders)); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}

	partition := int32(4)
	for name, tc := range map[string]struct {
		change func(*appsv1.StatefulSet)
		want   rollout.Spec
	}{
		"nothing is written": {func(s *appsv1.StatefulSet) { s.Spec.Replicas = nil }, rollout.Spec{Replicas: 1}},
		"of an earlier release, surging": {func(s *appsv1.StatefulSet) {
			s.Annotations = map[string]string{lwsv1.ReplicasAnnotationKey: "3"}
			s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: &partition}
		}, rollout.Spec{Replicas: 5, Surge: 2, Partition: 4}},
		"annotations that are no numbers": {func(s *appsv1.StatefulSet) {
			s.Annotations = map[string]string{lwsv1.ReplicasAnnotationKey: "many", lwsv1.RolloutBaselineAnnotationKey: "-1"}
		}, rollout.Spec{Replicas: 5}},
		"scaled down by hand": {func(s *appsv1.StatefulSet) {
			s.Annotations = map[string]string{lwsv1.ReplicasAnnotationKey: "9"}
		}, rollout.Spec{Replicas: 5}},
	} {
		t.Run(name, func(t *testing.T) {
			leaders := leaderStatefulSet(5)
			tc.change(leaders)
			if diff := cmp.Diff(tc.want, observedSpec(leaders)); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}
