package podspec

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// tpuVariables are those of one container; an empty one is not there.
type tpuVariables struct {
	Hosts, ID, Name, Addresses, Port string
}

func tpuOf(container *corev1.Container) tpuVariables {
	values := env(container)
	return tpuVariables{
		values["TPU_WORKER_HOSTNAMES"], values["TPU_WORKER_ID"], values["TPU_NAME"],
		values["TPU_PROCESS_ADDRESSES"], values["TPU_PROCESS_PORT"],
	}
}

// The example of the reference: leader without TPUs, subgroups of 4, and a
// Service called default.
func TestTPUExampleOfTheReference(t *testing.T) {
	set := lwstest.New("test-sample").Size(9).SubGroups(4, lwsv1.SubGroupPolicyTypeLeaderWorker).
		LeaderTemplate(lwstest.PodTemplate("leader")).WorkerTemplate(lwstest.TPUPodTemplate(4, "worker")).Obj()
	pod := newWorkerPod(set, 1, 5)
	pod.Spec.Subdomain = "default"
	if err := AdmitWorker(pod); err != nil {
		t.Fatal(err)
	}
	want := tpuVariables{
		"test-sample-1-5.default,test-sample-1-6.default,test-sample-1-7.default,test-sample-1-8.default", "0", "test-sample-1",
		"test-sample-1-5.default:8476,test-sample-1-6.default:8476,test-sample-1-7.default:8476,test-sample-1-8.default:8476", "8476",
	}
	if diff := cmp.Diff(want, tpuOf(&pod.Spec.Containers[0])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTPUVariables(t *testing.T) {
	// hosts and addresses are written as worker indexes, and ports where not 8476.
	none := tpuVariables{}
	one := func(hosts, id string) tpuVariables { return tpuVariables{hosts, id, "s-0", hosts, "8476"} }
	cpu, tpu := lwstest.PodTemplate("main"), lwstest.TPUPodTemplate(4, "main")
	two := lwstest.TPUPodTemplate(4, "main", "second")
	leaderExcluded, leaderWorker := lwsv1.SubGroupPolicyTypeLeaderExcluded, lwsv1.SubGroupPolicyTypeLeaderWorker

	tests := map[string]struct {
		set  *lwstest.Builder
		want map[int32][]tpuVariables // by worker index, one for each container
	}{
		"no TPUs": {lwstest.New("s").Size(2), map[int32][]tpuVariables{0: {none}, 1: {none}}},
		"one template": {
			lwstest.New("s").Size(3).WorkerTemplate(tpu),
			map[int32][]tpuVariables{0: {one("0,1,2", "0")}, 1: {one("0,1,2", "1")}, 2: {one("0,1,2", "2")}},
		},
		"size 1": {lwstest.New("s").Size(1).WorkerTemplate(tpu), map[int32][]tpuVariables{0: {one("0", "0")}}},
		"leader without": {
			lwstest.New("s").Size(3).LeaderTemplate(cpu).WorkerTemplate(tpu),
			map[int32][]tpuVariables{0: {none}, 1: {one("1,2", "0")}, 2: {one("1,2", "1")}},
		},
		"two containers": {
			lwstest.New("s").Size(2).WorkerTemplate(two),
			map[int32][]tpuVariables{
				0: {{"0,0,1,1", "0", "s-0", "0,0:8477,1,1:8477", "8476"}, {"0,0,1,1", "1", "s-0", "0,0:8477,1,1:8477", "8477"}},
				1: {{"0,0,1,1", "2", "s-0", "0,0:8477,1,1:8477", "8476"}, {"0,0,1,1", "3", "s-0", "0,0:8477,1,1:8477", "8477"}},
			},
		},
		"two containers, leader without": {
			lwstest.New("s").Size(2).LeaderTemplate(cpu).WorkerTemplate(two),
			map[int32][]tpuVariables{
				0: {none},
				1: {{"1,1", "0", "s-0", "1,1:8477", "8476"}, {"1,1", "1", "s-0", "1,1:8477", "8477"}},
			},
		},
		"subgroups": {
			lwstest.New("s").Size(4).SubGroups(2, leaderWorker).WorkerTemplate(tpu),
			map[int32][]tpuVariables{0: {one("0,1", "0")}, 1: {one("0,1", "1")}, 2: {one("2,3", "0")}, 3: {one("2,3", "1")}},
		},
		"subgroups, leader is extra": {
			lwstest.New("s").Size(5).SubGroups(2, leaderWorker).WorkerTemplate(tpu),
			map[int32][]tpuVariables{0: {one("0,1,2", "0")}, 2: {one("0,1,2", "2")}, 3: {one("3,4", "0")}, 4: {one("3,4", "1")}},
		},
		"subgroups, leader without": {
			lwstest.New("s").Size(4).SubGroups(2, leaderWorker).LeaderTemplate(cpu).WorkerTemplate(tpu),
			map[int32][]tpuVariables{0: {none}, 1: {one("1", "0")}, 2: {one("2,3", "0")}, 3: {one("2,3", "1")}},
		},
		"subgroups, leader is extra and without": {
			lwstest.New("s").Size(5).SubGroups(2, leaderWorker).LeaderTemplate(cpu).WorkerTemplate(tpu),
			map[int32][]tpuVariables{0: {none}, 1: {one("1,2", "0")}, 2: {one("1,2", "1")}, 3: {one("3,4", "0")}},
		},
		"subgroups of 1": {
			lwstest.New("s").Size(2).SubGroups(1, leaderWorker).WorkerTemplate(tpu),
			map[int32][]tpuVariables{0: {one("0", "0")}, 1: {one("1", "0")}},
		},
		"leader excluded": {
			lwstest.New("s").Size(5).SubGroups(2, leaderExcluded).LeaderTemplate(cpu).WorkerTemplate(tpu),
			map[int32][]tpuVariables{0: {none}, 1: {one("1,2", "0")}, 2: {one("1,2", "1")}, 3: {one("3,4", "0")}, 4: {one("3,4", "1")}},
		},
		"leader excluded, with its own": {
			lwstest.New("s").Size(5).SubGroups(2, leaderExcluded).WorkerTemplate(tpu),
			map[int32][]tpuVariables{0: {one("0", "0")}, 1: {one("1,2", "0")}, 4: {one("3,4", "1")}},
		},
		"two containers, subgroups": {
			lwstest.New("s").Size(4).SubGroups(2, leaderWorker).WorkerTemplate(two),
			map[int32][]tpuVariables{
				3: {{"2,2,3,3", "2", "s-0", "2,2:8477,3,3:8477", "8476"}, {"2,2,3,3", "3", "s-0", "2,2:8477,3,3:8477", "8477"}},
			},
		},
		"a container beside": {
			lwstest.New("s").Size(2).WorkerTemplate(edit(tpu, func(spec *corev1.PodSpec) {
				spec.Containers = append([]corev1.Container{{Name: "proxy"}}, spec.Containers...)
			})),
			map[int32][]tpuVariables{1: {none, one("0,1", "1")}},
		},
		"by request": {
			lwstest.New("s").Size(2).WorkerTemplate(edit(tpu, func(spec *corev1.PodSpec) {
				resources := &spec.Containers[0].Resources
				resources.Limits, resources.Requests = nil, resources.Limits
			})),
			map[int32][]tpuVariables{1: {one("0,1", "1")}},
		},
		"zero is none": {
			lwstest.New("s").Size(2).WorkerTemplate(lwstest.TPUPodTemplate(0, "main")), map[int32][]tpuVariables{1: {none}},
		},
		"init container": {
			lwstest.New("s").Size(2).WorkerTemplate(edit(tpu, func(spec *corev1.PodSpec) {
				spec.InitContainers = []corev1.Container{*spec.Containers[0].DeepCopy(), {Name: "other"}}
			})),
			map[int32][]tpuVariables{1: {one("0,1", "1"), {"0,1", "1", "s-0", "0:8477,1:8477", "8477"}, none}},
		},
		"only an init container": {
			lwstest.New("s").Size(2).WorkerTemplate(edit(tpu, func(spec *corev1.PodSpec) {
				spec.InitContainers, spec.Containers = spec.Containers, []corev1.Container{{Name: "x"}}
			})),
			map[int32][]tpuVariables{1: {none, one("0,1", "1")}},
		},
		"sidecar": {
			lwstest.New("s").Size(2).WorkerTemplate(edit(tpu, func(spec *corev1.PodSpec) {
				sidecar := spec.Containers[0].DeepCopy()
				sidecar.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
				spec.InitContainers = []corev1.Container{*sidecar}
			})),
			map[int32][]tpuVariables{1: {
				{"0,0,1,1", "2", "s-0", "0,0:8477,1,1:8477", "8476"}, {"0,0,1,1", "3", "s-0", "0,0:8477,1,1:8477", "8477"},
			}},
		},
		"the user's port": {
			lwstest.New("s").Size(2).WorkerTemplate(edit(two, func(spec *corev1.PodSpec) {
				spec.Containers[0].Env = []corev1.EnvVar{{Name: "TPU_PROCESS_PORT", Value: "9000"}}
			})),
			map[int32][]tpuVariables{1: {
				{"0,0,1,1", "2", "s-0", "0:9000,0:8477,1:9000,1:8477", "9000"},
				{"0,0,1,1", "3", "s-0", "0:9000,0:8477,1:9000,1:8477", "8477"},
			}},
		},
		"the user's port, from elsewhere": {
			lwstest.New("s").Size(2).WorkerTemplate(edit(tpu, func(spec *corev1.PodSpec) {
				spec.Containers[0].Env = []corev1.EnvVar{{Name: "TPU_PROCESS_PORT", ValueFrom: &corev1.EnvVarSource{}}}
			})),
			map[int32][]tpuVariables{1: {{"0,1", "1", "s-0", "", ""}}},
		},
		"the user's name": {
			lwstest.New("s").Size(2).WorkerTemplate(edit(tpu, func(spec *corev1.PodSpec) {
				spec.Containers[0].Env = []corev1.EnvVar{{Name: "TPU_NAME", Value: "mine"}}
			})),
			map[int32][]tpuVariables{1: {{"0,1", "1", "mine", "0,1", "8476"}}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for worker, want := range test.want {
				pod := admittedMember(t, test.set.Obj(), 0, worker)
				var got []tpuVariables
				for container := range containers(&pod.Spec) {
					variables := tpuOf(container)
					variables.Hosts, variables.Addresses = short(variables.Hosts), short(variables.Addresses)
					got = append(got, variables)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("worker %d (-want +got):\n%s", worker, diff)
				}
			}
		})
	}
}

func edit(template corev1.PodTemplateSpec, change func(*corev1.PodSpec)) corev1.PodTemplateSpec {
	edited := template.DeepCopy()
	change(&edited.Spec)
	return *edited
}

// short writes the hosts of group s-0 as worker indexes: s-0.s:8476,s-0-1.s:8477
// becomes 0,1:8477.
func short(list string) string {
	var items []string
	for item := range strings.SplitSeq(list, ",") {
		host, port, _ := strings.Cut(item, ":")
		host = strings.TrimSuffix(host, ".s")
		if host == "s-0" {
			host += "-0"
		}
		item = strings.TrimPrefix(host, "s-0-")
		if port != "" && port != "8476" {
			item += ":" + port
		}
		items = append(items, item)
	}
	return strings.Join(items, ",")
}

// The whole group agrees: every process finds itself, host and port, at its ID.
func TestTPUProcessesFindThemselves(t *testing.T) {
	for size := int32(1); size <= 9; size++ {
		for count := 1; count <= 3; count++ {
			set := lwstest.New("s").Size(size).WorkerTemplate(lwstest.TPUPodTemplate(1, []string{"a", "b", "c"}[:count]...)).Obj()
			var lists []string
			ids := map[int]bool{}
			for worker := range size {
				pod := admittedMember(t, set, 0, worker)
				for container := range containers(&pod.Spec) {
					variables := tpuOf(container)
					id, err := strconv.Atoi(variables.ID)
					if err != nil || ids[id] {
						t.Fatalf("size %d, %d containers: ID %q is none or given twice", size, count, variables.ID)
					}
					ids[id] = true
					if got := strings.Split(variables.Addresses, ",")[id]; got != pod.Name+".s:"+variables.Port {
						t.Errorf("at its ID %d, %s finds %s", id, pod.Name, got)
					}
					if got := strings.Split(variables.Hosts, ",")[id]; got != pod.Name+".s" {
						t.Errorf("at its ID %d, %s finds %s", id, pod.Name, got)
					}
					lists = append(lists, variables.Hosts+" "+variables.Addresses)
				}
			}
			if len(ids) != int(size)*count {
				t.Errorf("size %d, %d containers: %d IDs", size, count, len(ids))
			}
			for _, list := range lists {
				if list != lists[0] {
					t.Errorf("size %d, %d containers: lists differ: %s and %s", size, count, lists[0], list)
				}
			}
		}
	}
}

func TestTPUContainers(t *testing.T) {
	template := lwstest.TPUPodTemplate(4, "a", "b")
	template.Spec.InitContainers = []corev1.Container{{Name: "init", Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{lwsv1.TPUResourceName: resource.MustParse("4")},
	}}}
	if got := TPUContainers(&template.Spec); got != 2 {
		t.Errorf("got %d, want 2: init containers do not run beside", got)
	}
	plain := lwstest.PodTemplate("a")
	if TPUContainers(&plain.Spec) != 0 || RequestsTPUs(&plain.Spec) || !RequestsTPUs(&template.Spec) {
		t.Error("RequestsTPUs is wrong")
	}
}

// A size that only the API allows does not make the webhook write a book.
func TestTPUSliceTooLarge(t *testing.T) {
	for size, wantErr := range map[int32]bool{5000: false, 5001: true, 1<<31 - 1: true} {
		set := lwstest.New("s").Size(size).WorkerTemplate(lwstest.TPUPodTemplate(1, "a", "b")).Obj()
		err := AdmitWorker(newWorkerPod(set, 0, 1))
		if (err != nil) != wantErr {
			t.Errorf("size %d: %v", size, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "the addresses of the TPU containers of "+strconv.Itoa(int(size))+" pods do not fit") {
			t.Errorf("size %d: %v", size, err)
		}
	}
}
