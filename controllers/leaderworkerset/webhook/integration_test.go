//go:build integration

package webhook

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
)

// TestWebhooks runs in order: its last part stops the manager.
func TestWebhooks(t *testing.T) {
	t.Run("sets", testSets)
	t.Run("updates of sets", testSetUpdates)
	t.Run("warnings", testWarnings)
	t.Run("pods", testPods)
	t.Run("reinvocation", testReinvocation)
	t.Run("foreign pods", testForeignPods)
	t.Run("the user's affinity", testUsersAffinity)
	t.Run("manager down", testManagerDown)
}

// written is a set as a user writes it; an empty spec is none.
func written(t *testing.T, name, spec string, annotations map[string]string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	if spec != "" {
		if err := yaml.Unmarshal([]byte("spec: "+spec), &obj.Object); err != nil {
			t.Fatal(err)
		}
	}
	obj.SetGroupVersionKind(lwsv1.GroupVersion.WithKind(lwsv1.Kind))
	obj.SetNamespace("default")
	obj.SetName(name)
	obj.SetAnnotations(annotations)
	return obj
}

// Sets as people write them, with fields left out or empty: accepted, or refused
// with the field's path, and the webhooks answer in any case.
func testSets(t *testing.T) {
	const template = "workerTemplate: {spec: {containers: [{name: main, image: x}]}}"
	const zone = "leaderworkerset.sigs.k8s.io/exclusive-topology"
	tests := map[string]struct {
		name, spec  string
		annotations map[string]string
		wantErrors  []string
	}{
		"least":             {"least", "{leaderWorkerTemplate: {" + template + "}}", nil, nil},
		"strategy partial":  {"partial", "{rolloutStrategy: {rollingUpdateConfiguration: {maxSurge: 1}}, leaderWorkerTemplate: {" + template + "}}", nil, nil},
		"everything null":   {"null", "{rolloutStrategy: null, networkConfig: null, replicas: null, leaderWorkerTemplate: {size: null, " + template + "}}", nil, nil},
		"subGroupPolicy {}": {"sub", "{leaderWorkerTemplate: {subGroupPolicy: {}, " + template + "}}", nil, []string{"spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize: Required value"}},
		"subGroupSize 0":    {"sub0", "{leaderWorkerTemplate: {size: 4, subGroupPolicy: {subGroupSize: 0}, " + template + "}}", nil, []string{"spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize: Invalid value: 0"}},
		"no template":       {"none", "{leaderWorkerTemplate: {}}", nil, []string{"spec.leaderWorkerTemplate.workerTemplate: Required value"}},
		"no spec":           {"nospec", "", nil, []string{"spec: Required value"}},
		"wrong type":        {"typo", "{replicas: many, leaderWorkerTemplate: {" + template + "}}", nil, []string{"spec.replicas: Invalid value"}},
		"both zero":         {"zero", "{rolloutStrategy: {rollingUpdateConfiguration: {maxUnavailable: 0}}, leaderWorkerTemplate: {" + template + "}}", nil, []string{"maxUnavailable"}},
		"name at the limit": {strings.Repeat("n", 50), "{replicas: 10, leaderWorkerTemplate: {size: 2, " + template + "}}", nil, nil},
		"name too long": {
			strings.Repeat("n", 51), "{replicas: 10, leaderWorkerTemplate: {size: 2, " + template + "}}", nil,
			[]string{"metadata.name: Invalid value", "it has 51 characters, 1 too many", "at most 50 characters"},
		},
		"annotation": {"annotated", "{leaderWorkerTemplate: {" + template + "}}", map[string]string{zone: "zone"}, nil},
		"annotation is no label": {
			"annotated", "{leaderWorkerTemplate: {" + template + "}}",
			map[string]string{zone: "a b"},
			[]string{"metadata.annotations[" + zone + "]: Invalid value", "must be a valid label key"},
		},
		"annotation and field disagree": {
			"disagree", "{leaderWorkerTemplate: {placementPolicy: {type: ExclusiveTopology, topology: rack}, " + template + "}}",
			map[string]string{zone: "zone"},
			[]string{"spec.leaderWorkerTemplate.placementPolicy: Invalid value", "disagrees with the annotation"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			obj := written(t, test.name, test.spec, test.annotations)
			if len(test.wantErrors) == 0 {
				create(t, obj)
				return
			}
			err := world.client.Create(context.Background(), obj)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range test.wantErrors {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %v", want, err)
				}
			}
		})
	}
}

func remove(t *testing.T, obj client.Object) {
	t.Helper()
	if err := client.IgnoreNotFound(world.client.Delete(context.Background(), obj, client.GracePeriodSeconds(0))); err != nil {
		t.Error(err)
	}
}

func create(t *testing.T, obj client.Object) {
	t.Helper()
	if err := world.client.Create(context.Background(), obj); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, obj) })
}

func testSetUpdates(t *testing.T) {
	const zone = "leaderworkerset.sigs.k8s.io/exclusive-topology"
	leaderWorker := lwsv1.SubGroupPolicyTypeLeaderWorker
	tests := map[string]struct {
		set        *lwstest.Builder
		change     func(*lwsv1.LeaderWorkerSet)
		wantErrors []string
	}{
		"size that subgroups do not divide": {
			lwstest.New("sub").Size(8).SubGroups(4, leaderWorker),
			func(s *lwsv1.LeaderWorkerSet) { s.Spec.LeaderWorkerTemplate.Size = ptr.To[int32](6) },
			[]string{"spec.leaderWorkerTemplate.size: "},
		},
		"subgroup size 0": {
			lwstest.New("zero").Size(8).SubGroups(4, leaderWorker),
			func(s *lwsv1.LeaderWorkerSet) {
				s.Spec.LeaderWorkerTemplate.SubGroupPolicy.SubGroupSize = ptr.To[int32](0)
			},
			[]string{"spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize"},
		},
		"annotation added": {
			lwstest.New("added"), func(s *lwsv1.LeaderWorkerSet) { s.Annotations = map[string]string{zone: "zone"} },
			[]string{"metadata.annotations[" + zone + "]: Forbidden", `from "" to "zone"`},
		},
		"annotation removed": {
			lwstest.New("removed").Annotation(zone, "zone"), func(s *lwsv1.LeaderWorkerSet) { s.Annotations = nil },
			[]string{"metadata.annotations[" + zone + "]: Forbidden"},
		},
		"more groups than the name allows": {
			lwstest.New(strings.Repeat("n", 50)).Size(2).Replicas(10), func(s *lwsv1.LeaderWorkerSet) { s.Spec.Replicas = ptr.To[int32](11) },
			[]string{"metadata.name", "1 too many", "at most 49 characters"},
		},
		"network gone, strategy gone": {
			lwstest.New("gone"), func(s *lwsv1.LeaderWorkerSet) {
				s.Spec.NetworkConfig, s.Spec.RolloutStrategy, s.Spec.Replicas = nil, lwsv1.RolloutStrategy{}, nil
				s.Spec.LeaderWorkerTemplate.Size = nil
			}, nil,
		},
		"finalizer": {lwstest.New("final"), func(s *lwsv1.LeaderWorkerSet) { s.Labels = map[string]string{"a": "b"} }, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := test.set.Obj()
			create(t, set)
			test.change(set)
			err := world.client.Update(context.Background(), set)
			if (err == nil) != (len(test.wantErrors) == 0) {
				t.Fatalf("got %v, want %q", err, test.wantErrors)
			}
			for _, want := range test.wantErrors {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %v", want, err)
				}
			}
		})
	}
}

func testWarnings(t *testing.T) {
	world.warnings.take()
	create(t, lwstest.New("warned").Replicas(5).MaxUnavailable("10%").RestartPolicy(lwsv1.DeprecatedDefaultRestartPolicy).Obj())
	want := []string{
		"spec.leaderWorkerTemplate.restartPolicy: Default is deprecated and means None",
		"spec.rolloutStrategy.rollingUpdateConfiguration: maxUnavailable and maxSurge both come out as 0 of 5 replicas; maxUnavailable counts as 1",
	}
	if diff := cmp.Diff(want, world.warnings.take()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// makeGroup creates a set of the name sample with the objects above the pods of
// its group 1, and the leader as its StatefulSet's controller would.
func makeGroup(t *testing.T, builder *lwstest.Builder) (leader *corev1.Pod, set *lwsv1.LeaderWorkerSet) {
	t.Helper()
	set = builder.Obj()
	create(t, set)
	create(t, statefulSetOf("sample", metav1.NewControllerRef(set, lwsv1.GroupVersion.WithKind(lwsv1.Kind)), podspec.LeaderPodTemplate(sampleRevision(set))))
	leader = sampleLeader(set)
	create(t, leader)
	create(t, statefulSetOf("sample-1", metav1.NewControllerRef(leader, corev1.SchemeGroupVersion.WithKind("Pod")), &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: sampleWorker(set).Labels, Annotations: sampleWorker(set).Annotations},
		Spec:       set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec,
	}))
	return leader, set
}

func statefulSetOf(name string, owner *metav1.OwnerReference, template *corev1.PodTemplateSpec) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, OwnerReferences: []metav1.OwnerReference{*owner},
			Labels: map[string]string{lwsv1.SetNameLabelKey: "sample"},
		},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: "sample", Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: *template,
		},
	}
}

func testPods(t *testing.T) {
	leader, set := makeGroup(t, lwstest.New("sample").Size(4).PodTerminationPolicy(lwsv1.ParallelPodTermination))
	if got := leader.Labels[prefix+"group-index"]; got != "1" {
		t.Errorf("leader: group-index %q", got)
	}
	if got := leader.Annotations[prefix+"pod-termination-policy"]; got != "Parallel" {
		t.Errorf("leader: pod-termination-policy %q", got)
	}
	if _, gated := podspec.GateIndex(leader); !gated {
		t.Errorf("leader: gates %v", leader.Spec.SchedulingGates)
	}
	worker := sampleWorker(set)
	create(t, worker)
	if got := worker.Labels[prefix+"worker-index"]; got != "2" {
		t.Errorf("worker: worker-index %q", got)
	}
	for pod, index := range map[*corev1.Pod]string{leader: "0", worker: "2"} {
		want := []corev1.EnvVar{
			{Name: "LWS_LEADER_ADDRESS", Value: "sample-1.sample.default"}, {Name: "LWS_GROUP_SIZE", Value: "4"}, {Name: "LWS_WORKER_INDEX", Value: index},
		}
		if diff := cmp.Diff(want, pod.Spec.Containers[0].Env); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pod.Name, diff)
		}
	}
}

// Another webhook changes the pod after ours, so ours is asked again: what it said
// already stays as it is, and the new container gets its variables.
func testReinvocation(t *testing.T) {
	template := lwstest.LabelledPodTemplate("main", sidecarLabel, "wanted")
	leader, _ := makeGroup(t, lwstest.New("sample").Size(4).GroupTopology("zone").SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker).
		SubGroupTopology("rack").WorkerTemplate(template))
	if len(leader.Spec.Containers) != 2 || leader.Spec.Containers[0].Name != "sidecar" {
		t.Fatalf("containers %v", leader.Spec.Containers)
	}
	for i := range leader.Spec.Containers {
		if got := len(leader.Spec.Containers[i].Env); got != 3 {
			t.Errorf("%s has %d variables, want 3", leader.Spec.Containers[i].Name, got)
		}
	}
	if got := len(leader.Spec.SchedulingGates); got != 1 {
		t.Errorf("%d gates, want 1", got)
	}
	affinity := leader.Spec.Affinity
	if got := len(affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution); got != 2 {
		t.Errorf("%d affinity terms, want 2", got)
	}
	if got := len(affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution); got != 2 {
		t.Errorf("%d anti-affinity terms, want 2", got)
	}
}

func testForeignPods(t *testing.T) {
	tests := map[string]func(*corev1.Pod){
		"our name label and nothing else": func(p *corev1.Pod) { p.Labels = map[string]string{prefix + "name": "sample"} },
		"all our labels":                  func(p *corev1.Pod) { p.Labels = sampleLeader(lwstest.New("sample").Obj()).Labels },
		"an owner that does not exist": func(p *corev1.Pod) {
			p.Labels = sampleLeader(lwstest.New("sample").Obj()).Labels
			p.OwnerReferences = byStatefulSet("nobody")
		},
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			pod := barePod("foreign", nil)
			pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "x"}}
			edit(pod)
			labels := pod.Labels
			create(t, pod)
			if diff := cmp.Diff(labels, pod.Labels); diff != "" || len(pod.Spec.Containers[0].Env) != 0 || len(pod.Spec.SchedulingGates) != 0 {
				t.Errorf("changed: env %v, gates %v, labels (-want +got):\n%s", pod.Spec.Containers[0].Env, pod.Spec.SchedulingGates, diff)
			}
		})
	}
}

func testUsersAffinity(t *testing.T) {
	users := corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "cache"}}}
	template := lwstest.PodTemplate("main")
	template.Spec.Affinity = &corev1.Affinity{
		PodAffinity:     &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{users}},
		PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{users}},
	}
	leader, _ := makeGroup(t, lwstest.New("sample").Size(4).GroupTopology("zone").WorkerTemplate(template))
	for what, terms := range map[string][]corev1.PodAffinityTerm{
		"affinity":      leader.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
		"anti-affinity": leader.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
	} {
		if len(terms) != 2 || terms[1].TopologyKey != "zone" {
			t.Fatalf("%s: %v", what, terms)
		}
		if diff := cmp.Diff(users, terms[0]); diff != "" {
			t.Errorf("%s: the user's term (-want +got):\n%s", what, diff)
		}
	}
}

// Without a manager pods of others start as always, ours do not.
func testManagerDown(t *testing.T) {
	if err := world.stop(); err != nil {
		t.Fatal(err)
	}
	pod := barePod("theirs", nil)
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "x"}}
	pod.Labels = map[string]string{"app": "theirs"}
	create(t, pod)

	ours := sampleLeader(lwstest.New("sample").Obj())
	err := world.client.Create(context.Background(), ours)
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "pods.leaderworkerset.x-k8s.io") {
		t.Errorf("a pod of ours without a manager: %v", err)
	}
}
