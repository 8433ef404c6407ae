package leaderworkerset

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// driftSet uses the features whose fields the API server defaults.
func driftSet() *lwsv1.LeaderWorkerSet {
	template := lwstest.LabelledPodTemplate("leader", "app", "demo")
	container := &template.Spec.Containers[0]
	container.Args = []string{"--a", "--b"}
	container.Env = []corev1.EnvVar{{Name: "ONE", Value: "1"}, {Name: "EMPTY"}}
	container.Ports = []corev1.ContainerPort{{ContainerPort: 80}}
	container.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
		Exec: &corev1.ExecAction{Command: []string{"true"}},
	}}
	template.Spec.Volumes = []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	template.Spec.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}}
	return testSet().Label("team", "a").Annotation("note", "b").LeaderTemplate(template).VolumeClaim("data").Obj()
}

// stored is what the API server makes of what we want: typed, with some defaults.
func stored(t *testing.T, set *lwsv1.LeaderWorkerSet) *appsv1.StatefulSet {
	t.Helper()
	live := &appsv1.StatefulSet{}
	if err := toObject(wantedStatefulSet(t, set), live); err != nil {
		t.Fatal(err)
	}
	live.Status.Replicas, live.ResourceVersion = 3, "17"
	live.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: lwsv1.FieldManager, Operation: metav1.ManagedFieldsOperationUpdate,
		FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{".":{},"f:team":{}},"f:annotations":{"f:note":{}}}}`),
	}}
	history := int32(10)
	live.Spec.RevisionHistoryLimit = &history
	pod := &live.Spec.Template.Spec
	pod.RestartPolicy, pod.SchedulerName = corev1.RestartPolicyAlways, "default-scheduler"
	container := &pod.Containers[0]
	container.ImagePullPolicy = corev1.PullIfNotPresent
	container.Ports[0].Protocol = corev1.ProtocolTCP
	container.ReadinessProbe.PeriodSeconds, container.ReadinessProbe.FailureThreshold = 10, 3
	claim := &live.Spec.VolumeClaimTemplates[0]
	mode := corev1.PersistentVolumeFilesystem
	claim.Spec.VolumeMode, claim.Status.Phase = &mode, corev1.ClaimPending
	return live
}

func wantedStatefulSet(t *testing.T, set *lwsv1.LeaderWorkerSet) *appsapply.StatefulSetApplyConfiguration {
	t.Helper()
	template, err := leaderTemplate(set, "rev")
	if err != nil {
		t.Fatal(err)
	}
	desired, err := desiredStatefulSet(set, "rev", template, rollout.Spec{Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	return desired
}

func TestStatefulSetDiffers(t *testing.T) {
	container := func(s *appsv1.StatefulSet) *corev1.Container { return &s.Spec.Template.Spec.Containers[0] }
	tests := map[string]struct {
		set  func(*lwsv1.LeaderWorkerSet)
		live func(*appsv1.StatefulSet)
		want bool
	}{
		"as it was stored": {},
		"replicas": {want: true, live: func(s *appsv1.StatefulSet) {
			replicas := int32(2)
			s.Spec.Replicas = &replicas
		}},
		"strategy": {want: true, live: func(s *appsv1.StatefulSet) {
			s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
		}},
		"image":            {want: true, live: func(s *appsv1.StatefulSet) { container(s).Image = "other" }},
		"argument changed": {want: true, live: func(s *appsv1.StatefulSet) { container(s).Args[1] = "--c" }},
		"argument added":   {want: true, live: func(s *appsv1.StatefulSet) { container(s).Args = append(container(s).Args, "--c") }},
		"variable changed": {want: true, live: func(s *appsv1.StatefulSet) { container(s).Env[0].Value = "2" }},
		"variable removed": {want: true, live: func(s *appsv1.StatefulSet) { container(s).Env = container(s).Env[1:] }},
		"variable of somebody else": {live: func(s *appsv1.StatefulSet) {
			container(s).Env = append([]corev1.EnvVar{{Name: "THEIRS", Value: "3"}}, container(s).Env...)
		}},
		"toleration added": {want: true, live: func(s *appsv1.StatefulSet) {
			s.Spec.Template.Spec.Tolerations = append(s.Spec.Template.Spec.Tolerations, corev1.Toleration{Key: "b"})
		}},
		"container removed": {want: true, live: func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.Containers = nil }},
		"label removed":     {want: true, live: func(s *appsv1.StatefulSet) { delete(s.Labels, "team") }},
		"label of somebody else": {live: func(s *appsv1.StatefulSet) {
			s.Labels["theirs"] = "x"
			s.ManagedFields = append(s.ManagedFields, metav1.ManagedFieldsEntry{
				Manager: "kubectl", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:theirs":{}}}}`),
			})
		}},
		"owner lost": {want: true, live: func(s *appsv1.StatefulSet) { s.OwnerReferences = nil }},
		"another owner beside us": {live: func(s *appsv1.StatefulSet) {
			s.OwnerReferences = append(s.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "c", UID: "c"})
		}},
		"label of the set changed": {want: true, set: func(s *lwsv1.LeaderWorkerSet) { s.Labels["team"] = "b" }},
		"label of the set removed": {want: true, set: func(s *lwsv1.LeaderWorkerSet) { delete(s.Labels, "team") }},
		"annotation of the set removed": {want: true, set: func(s *lwsv1.LeaderWorkerSet) {
			delete(s.Annotations, "note")
		}},
		"a removed label that was not ours": {
			set:  func(s *lwsv1.LeaderWorkerSet) { delete(s.Labels, "team") },
			live: func(s *appsv1.StatefulSet) { s.ManagedFields[0].Manager = "kubectl" },
		},
		"a removed label that another program of an earlier release's name wrote": {
			set: func(s *lwsv1.LeaderWorkerSet) { delete(s.Labels, "team") },
			live: func(s *appsv1.StatefulSet) {
				theirs := s.ManagedFields[0]
				theirs.Manager = "manager"
				s.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1("{}")
				s.ManagedFields = append(s.ManagedFields, theirs)
			},
		},
		"a removed label that an earlier release wrote": {
			want: true,
			set:  func(s *lwsv1.LeaderWorkerSet) { delete(s.Labels, "team") },
			live: func(s *appsv1.StatefulSet) { s.ManagedFields[0].Manager = "manager" },
		},
		"managed fields that cannot be read": {
			set:  func(s *lwsv1.LeaderWorkerSet) { delete(s.Labels, "team") },
			live: func(s *appsv1.StatefulSet) { s.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1("{") },
		},
		"claim retention taken back": {want: true, live: func(s *appsv1.StatefulSet) {
			s.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set := driftSet()
			live := stored(t, set)
			if tc.set != nil {
				tc.set(set)
			}
			if tc.live != nil {
				tc.live(live)
			}
			got, err := statefulSetDiffers(wantedStatefulSet(t, set), live)
			if err != nil {
				t.Fatal(err)
			}
			if got != tc.want {
				t.Errorf("differs: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestServiceDiffers(t *testing.T) {
	tests := map[string]struct {
		live func(*corev1.Service)
		want bool
	}{
		"as it was stored": {live: func(s *corev1.Service) {
			s.Spec.Type, s.Spec.ClusterIPs = corev1.ServiceTypeClusterIP, []string{corev1.ClusterIPNone}
		}},
		"selector changed":      {want: true, live: func(s *corev1.Service) { s.Spec.Selector[lwsv1.SetNameLabelKey] = "y" }},
		"not ready unpublished": {want: true, live: func(s *corev1.Service) { s.Spec.PublishNotReadyAddresses = false }},
		"label lost":            {want: true, live: func(s *corev1.Service) { s.Labels = nil }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			desired, live := desiredService(driftSet()), &corev1.Service{}
			if err := toObject(desired, live); err != nil {
				t.Fatal(err)
			}
			tc.live(live)
			got, err := serviceDiffers(desired, live)
			if err != nil {
				t.Fatal(err)
			}
			if got != tc.want {
				t.Errorf("differs: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestComparingLeavesTheDesiredObjectAsItIs(t *testing.T) {
	desired := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"key": "new"},
	}}
	live := &corev1.ConfigMap{Data: map[string]string{"key": "old"}}
	different, err := differs(desired, live, live, nil, nil)
	if err != nil || !different {
		t.Fatalf("differs = %v, %v, want true", different, err)
	}
	if kind := desired.GroupVersionKind(); kind != corev1.SchemeGroupVersion.WithKind("ConfigMap") {
		t.Errorf("what is to be applied is now %q, want a ConfigMap", kind)
	}
}
