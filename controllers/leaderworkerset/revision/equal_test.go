package revision

import (
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// What any release stored for the sample means the same as the sample.
func TestStoredBytesOfOtherReleasesAreEqual(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			revision := stored("r", "k", 1, string(readFile(t, filepath.Base(file))))
			equal, err := Equal(sampleSet(t), revision)
			if err != nil || !equal {
				t.Errorf("Equal = %v, %v, want true", equal, err)
			}
			restored, err := Restore(revision)
			if err != nil {
				t.Fatal(err)
			}
			if restored.NetworkConfig.SubdomainPolicy == nil || *restored.NetworkConfig.SubdomainPolicy != lwsv1.SubdomainShared {
				t.Errorf("restored network %v, want Shared", restored.NetworkConfig)
			}
			template := restored.LeaderWorkerTemplate
			if template.RestartPolicy != "" || template.MaxGroupRestarts != nil || template.RestartBackoff != nil ||
				template.PersistentVolumeClaimRetentionPolicy != nil {
				t.Errorf("restored has live fields: %+v", template)
			}
			if *template.Size != 4 || *template.SubGroupPolicy.SubGroupSize != 2 ||
				*template.SubGroupPolicy.Type != lwsv1.SubGroupPolicyTypeLeaderWorker {
				t.Errorf("restored size %d, subgroups %+v", *template.Size, template.SubGroupPolicy)
			}
		})
	}
}

func TestEqual(t *testing.T) {
	tests := map[string]struct {
		annotations map[string]string
		change      func(*lwsv1.LeaderWorkerSet)
		want        bool
	}{
		"unchanged": {nil, func(*lwsv1.LeaderWorkerSet) {}, true},
		"live fields": {nil, func(set *lwsv1.LeaderWorkerSet) {
			template := &set.Spec.LeaderWorkerTemplate
			template.RestartPolicy = lwsv1.NoneRestartPolicy
			template.MaxGroupRestarts = ptr.To[int32](1)
			template.RestartBackoff = &lwsv1.RestartBackoff{}
			template.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenScaled: appsv1.DeletePersistentVolumeClaimRetentionPolicyType}
		}, true},
		"not in a revision": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.Replicas = ptr.To[int32](9)
			set.Spec.StartupPolicy = lwsv1.LeaderReadyStartupPolicy
			set.Spec.PodTerminationPolicy = lwsv1.ParallelPodTermination
			set.Spec.RolloutStrategy.RollingUpdateConfiguration = &lwsv1.RollingUpdateConfiguration{Partition: ptr.To[int32](1)}
			set.Labels = map[string]string{"a": "b"}
		}, true},
		"network absent": {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.NetworkConfig = nil }, true},
		"network empty":  {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.NetworkConfig = &lwsv1.NetworkConfig{} }, true},
		"network changed": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.NetworkConfig.SubdomainPolicy = ptr.To(lwsv1.SubdomainUniquePerReplica)
		}, false},
		"size":         {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.Size = ptr.To[int32](5) }, false},
		"no size":      {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.Size = nil }, false},
		"no subgroups": {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.SubGroupPolicy = nil }, false},
		"subgroup size": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.SubGroupPolicy.SubGroupSize = ptr.To[int32](4)
		}, false},
		"subgroup type nil": {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.SubGroupPolicy.Type = nil }, true},
		"subgroup type": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.SubGroupPolicy.Type = ptr.To(lwsv1.SubGroupPolicyTypeLeaderExcluded)
		}, false},
		"leader by worker": {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.LeaderTemplate = nil }, false},
		"leader label":     {nil, func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.LeaderTemplate.Labels["role"] = "x" }, false},
		"worker image": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = "x"
		}, false},
		"claims": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{}}
		}, false},
		"no claims, written": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{}
		}, true},
		"other units": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.LeaderTemplate.Spec.Containers[0].Resources.Limits["cpu"] = resource.MustParse("1000m")
		}, true},
		"placement None": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.PlacementPolicy = &lwsv1.PlacementPolicy{Type: lwsv1.NonePlacement}
		}, true},
		"placement": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.PlacementPolicy = &lwsv1.PlacementPolicy{Type: lwsv1.ExclusiveTopologyPlacement, Topology: "zone"}
		}, false},
		"placement of subgroups": {nil, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.SubGroupPolicy.PlacementPolicy = &lwsv1.PlacementPolicy{Type: lwsv1.ExclusiveTopologyPlacement, Topology: "zone"}
		}, false},
		"placement as the annotation has it": {
			map[string]string{lwsv1.ExclusiveTopologyAnnotationKey: "zone", lwsv1.SubGroupExclusiveTopologyAnnotationKey: "rack"},
			func(set *lwsv1.LeaderWorkerSet) {
				set.Spec.LeaderWorkerTemplate.PlacementPolicy = &lwsv1.PlacementPolicy{Type: lwsv1.ExclusiveTopologyPlacement, Topology: "zone"}
				set.Spec.LeaderWorkerTemplate.SubGroupPolicy.PlacementPolicy = &lwsv1.PlacementPolicy{Type: lwsv1.ExclusiveTopologyPlacement, Topology: "rack"}
			}, true,
		},
		"placement unlike the annotation": {
			map[string]string{lwsv1.ExclusiveTopologyAnnotationKey: "zone"},
			func(set *lwsv1.LeaderWorkerSet) {
				set.Spec.LeaderWorkerTemplate.PlacementPolicy = &lwsv1.PlacementPolicy{Type: lwsv1.ExclusiveTopologyPlacement, Topology: "rack"}
			}, false,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := sampleSet(t)
			set.Annotations = test.annotations
			revision, err := New(set, nil)
			if err != nil {
				t.Fatal(err)
			}
			changed := set.DeepCopy()
			test.change(changed)
			got, err := Equal(changed, revision)
			if err != nil || got != test.want {
				t.Errorf("Equal = %v, %v, want %v", got, err, test.want)
			}
			reverse, err := New(changed, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err = Equal(set, reverse)
			if err != nil || got != test.want {
				t.Errorf("the other way: Equal = %v, %v, want %v", got, err, test.want)
			}
		})
	}
}

func TestLeaderTemplateWrittenOutIsTheWorkerTemplate(t *testing.T) {
	set := sampleSet(t)
	set.Spec.LeaderWorkerTemplate.LeaderTemplate = nil
	revision, err := New(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	set.Spec.LeaderWorkerTemplate.LeaderTemplate = set.Spec.LeaderWorkerTemplate.WorkerTemplate.DeepCopy()
	if equal, err := Equal(set, revision); err != nil || !equal {
		t.Errorf("Equal = %v, %v, want true", equal, err)
	}
}
