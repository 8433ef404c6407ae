package podspec

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

var variableNames = []string{
	"A", "B", "LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX",
	"TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID", "TPU_NAME", "TPU_PROCESS_ADDRESSES", "TPU_PROCESS_PORT",
	"DISAGGREGATEDSET_NAME", "DISAGGREGATEDSET_ROLE", "DISAGGREGATEDSET_SLICE", "DISAGGREGATEDSET_REVISION",
}

func drawContainer(t *rapid.T, name string) corev1.Container {
	container := corev1.Container{Name: name}
	for _, variable := range rapid.SliceOfN(rapid.SampledFrom(variableNames), 0, 6).Draw(t, "env of "+name) {
		value := rapid.SampledFrom([]string{"", "x", "9000", "$(A)"}).Draw(t, "value")
		container.Env = append(container.Env, corev1.EnvVar{Name: variable, Value: value})
	}
	if chips := rapid.Int64Range(0, 1).Draw(t, "chips of "+name); chips > 0 {
		container.Resources.Limits = corev1.ResourceList{lwsv1.TPUResourceName: *resource.NewQuantity(chips, resource.DecimalSI)}
	}
	return container
}

func drawTemplate(t *rapid.T, name string) corev1.PodTemplateSpec {
	var template corev1.PodTemplateSpec
	for range rapid.IntRange(1, 3).Draw(t, "containers of "+name) {
		template.Spec.Containers = append(template.Spec.Containers, drawContainer(t, name))
	}
	for range rapid.IntRange(0, 2).Draw(t, "init containers of "+name) {
		container := drawContainer(t, name+"-init")
		if rapid.Bool().Draw(t, "sidecar") {
			always := corev1.ContainerRestartPolicyAlways
			container.RestartPolicy = &always
		}
		template.Spec.InitContainers = append(template.Spec.InitContainers, container)
	}
	if rapid.Bool().Draw(t, "affinity of "+name) {
		template.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			}},
		}}
	}
	if rapid.Bool().Draw(t, "gate of "+name) {
		template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/x"}}
	}
	if rapid.Bool().Draw(t, "labels of "+name) {
		template.Labels = map[string]string{"disaggregatedset.x-k8s.io/name": "ds", prefix + "subgroup-index": "7"}
	}
	return template
}

func drawSet(t *rapid.T) *lwsv1.LeaderWorkerSet {
	size := rapid.Int32Range(1, 9).Draw(t, "size")
	builder := lwstest.New("s").Size(size).WorkerTemplate(drawTemplate(t, "worker")).
		SubdomainPolicy(rapid.SampledFrom([]lwsv1.SubdomainPolicy{lwsv1.SubdomainShared, lwsv1.SubdomainUniquePerReplica}).Draw(t, "subdomain"))
	if rapid.Bool().Draw(t, "leader template") {
		builder.LeaderTemplate(drawTemplate(t, "leader"))
	}
	if rapid.Bool().Draw(t, "exclusive") {
		builder.GroupTopology("zone")
	}
	if subGroupSize := rapid.Int32Range(0, size).Draw(t, "subGroupSize"); subGroupSize > 0 {
		kind := rapid.SampledFrom([]lwsv1.SubGroupPolicyType{
			lwsv1.SubGroupPolicyTypeLeaderWorker, lwsv1.SubGroupPolicyTypeLeaderExcluded,
		}).Draw(t, "type")
		builder.SubGroups(subGroupSize, kind)
		if rapid.Bool().Draw(t, "subgroup exclusive") {
			builder.SubGroupTopology("rack")
		}
	}
	return builder.Obj()
}

func TestAdmissionIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := drawSet(t)
		policy := rapid.SampledFrom([]lwsv1.PodTerminationPolicyType{"", lwsv1.SequentialPodTermination, lwsv1.ParallelPodTermination}).Draw(t, "policy")
		worker := rapid.Int32Range(0, *set.Spec.LeaderWorkerTemplate.Size-1).Draw(t, "worker")
		admit := func(pod *corev1.Pod) {
			if worker > 0 {
				if err := AdmitWorker(pod); err != nil {
					t.Fatal(err)
				}
				return
			}
			leader, err := OrdinalLeader(pod)
			if err != nil {
				t.Fatal(err)
			}
			if err := AdmitLeader(pod, leader, policy); err != nil {
				t.Fatal(err)
			}
		}
		pod := newLeaderPod(set, 3)
		if worker > 0 {
			pod = newWorkerPod(set, 3, worker)
		}
		admit(pod)
		once := pod.DeepCopy()
		admit(pod)
		if diff := cmp.Diff(once, pod); diff != "" {
			t.Fatalf("admitted twice (-once +twice):\n%s", diff)
		}
		checkVariables(t, pod)
	})
}

// checkVariables: ours come first, each once, and TPU variables only where TPUs are.
func checkVariables(t *rapid.T, pod *corev1.Pod) {
	for container := range containers(&pod.Spec) {
		for i, want := range Variables() {
			if container.Env[i].Name != want {
				t.Fatalf("variable %d of %s is %s, want %s", i, container.Name, container.Env[i].Name, want)
			}
		}
		counts := map[string]int{}
		for _, variable := range container.Env {
			counts[variable.Name]++
		}
		for _, name := range Variables() {
			if counts[name] != 1 {
				t.Fatalf("%s is there %d times", name, counts[name])
			}
		}
		for _, name := range []string{"TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID", "TPU_NAME", "TPU_PROCESS_PORT"} {
			if requestsTPUs(container) && counts[name] == 0 {
				t.Fatalf("a TPU container has no %s", name)
			}
		}
	}
}

// Whatever a pod looks like, it is admitted, with its place in its labels, or
// refused with an error.
func TestOddPodsNeverPanic(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "-", "0", "1", "-1", "s", "s-0", "s-0-1", "2147483647", "x y", "LeaderExcluded", "true"})
	keys := []string{
		"name", "group-index", "group-key", "worker-index", "subgroup-index", "size", "subgroup-size",
		"subgroup-policy-type", "subdomainPolicy", "exclusive-topology", "subgroup-exclusive-topology", "leader-requests-tpus",
	}
	drawMap := func(t *rapid.T, label string) map[string]string {
		values := map[string]string{}
		for _, key := range rapid.SliceOfDistinct(rapid.SampledFrom(keys), rapid.ID[string]).Draw(t, label) {
			values[prefix+key] = text.Draw(t, key)
		}
		return values
	}
	rapid.Check(t, func(t *rapid.T) {
		pod := &corev1.Pod{}
		pod.Name, pod.Labels, pod.Annotations = text.Draw(t, "name"), drawMap(t, "labels"), drawMap(t, "annotations")
		if rapid.Bool().Draw(t, "with containers") {
			pod.Spec = drawTemplate(t, "any").Spec
		}
		worker := pod.DeepCopy()
		if leader, err := OrdinalLeader(pod); err == nil {
			if err := AdmitLeader(pod, leader, lwsv1.ParallelPodTermination); err == nil && pod.Labels[prefix+"group-index"] != leader.Index {
				t.Fatalf("admitted with labels %v", pod.Labels)
			}
		}
		if err := AdmitWorker(worker); err == nil && worker.Labels[prefix+"worker-index"] == "" {
			t.Fatalf("admitted with labels %v", worker.Labels)
		}
	})
}
