package podspec

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

func hashRevisionOf(set *lwsv1.LeaderWorkerSet) Revision {
	revision := revisionOf(set)
	revision.Hash = true
	return revision
}

// newHashLeader is a pod as a ReplicaSet makes it: without a name yet.
func newHashLeader(set *lwsv1.LeaderWorkerSet) *corev1.Pod {
	template := LeaderPodTemplate(hashRevisionOf(set))
	pod := newPod(template, set.Namespace, "", "")
	pod.GenerateName = set.Name + "-rs-"
	pod.Spec.Hostname, pod.Spec.Subdomain = template.Spec.Hostname, template.Spec.Subdomain
	return pod
}

func admitHashLeader(t testing.TB, pod *corev1.Pod, random string) *corev1.Pod {
	t.Helper()
	if err := AdmitLeader(pod, HashLeader(pod, random), lwsv1.SequentialPodTermination); err != nil {
		t.Fatal(err)
	}
	return pod
}

// hashWorkerOf is a worker of the group of an admitted leader, admitted.
func hashWorkerOf(t testing.TB, set *lwsv1.LeaderWorkerSet, leader *corev1.Pod, worker int32) *corev1.Pod {
	t.Helper()
	group := identity.KeyGroup(types.NamespacedName{Namespace: set.Namespace, Name: set.Name}, leader.Labels[lwsv1.GroupKeyLabelKey])
	template := WorkerPodTemplate(hashRevisionOf(set), Leader{
		Group: group, GroupKey: group.Index, PodName: "s-rs-abc", Domain: "domain-a",
	})
	pod := newPod(template, set.Namespace, identity.WorkerName(group.Name(), worker),
		group.ServiceName(lwsv1.SubdomainPolicyOf(set.Spec.NetworkConfig)))
	if err := AdmitWorker(pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func TestMarkRestartPolicy(t *testing.T) {
	tests := map[string]struct {
		group, size string
		policy      lwsv1.RestartPolicyType
		want        string
	}{
		"a group with a key":         {identity.DrawnKey("default", "a"), "2", lwsv1.NoneRestartPolicy, "None"},
		"a numbered group of one":    {"0", "1", lwsv1.NoneRestartPolicy, "None"},
		"a numbered group":           {"0", "2", lwsv1.NoneRestartPolicy, ""},
		"another policy":             {identity.DrawnKey("default", "a"), "2", lwsv1.RecreateGroupOnPodRestart, ""},
		"a numbered group, no other": {"0", "1", lwsv1.RecreateGroupAfterStart, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{}
			pod.Labels = map[string]string{lwsv1.SetNameLabelKey: "s", lwsv1.GroupIndexLabelKey: tc.group}
			pod.Annotations = map[string]string{lwsv1.SizeAnnotationKey: tc.size, lwsv1.RestartPolicyAnnotationKey: "None"}
			MarkRestartPolicy(pod, tc.policy)
			if got := pod.Annotations[lwsv1.RestartPolicyAnnotationKey]; got != tc.want {
				t.Errorf("marked %q, want %q", got, tc.want)
			}
		})
	}
}

func TestHashLeader(t *testing.T) {
	key := identity.DrawnKey("default", "0123456789abcdef")
	tests := map[string]struct {
		set       *lwstest.Builder
		subdomain string
		gates     []corev1.PodReadinessGate
		cost      string
	}{
		"with workers": {
			set: lwstest.New("s").Size(3), subdomain: "s", cost: "-100",
			gates: []corev1.PodReadinessGate{{ConditionType: lwsv1.GroupReadyReadinessGate}},
		},
		"one pod": {set: lwstest.New("s"), subdomain: "s", cost: "-100"},
		"a Service of its own": {
			set: lwstest.New("s").SubdomainPolicy(lwsv1.SubdomainUniquePerReplica), subdomain: "s-" + key[:8], cost: "-100",
		},
		"what the template must not say": {
			set: lwstest.New("s").WorkerTemplate(func() corev1.PodTemplateSpec {
				template := lwstest.PodTemplate("worker")
				template.Labels = map[string]string{lwsv1.GroupKeyLabelKey: "mine", lwsv1.GroupIndexLabelKey: "mine"}
				template.Annotations = map[string]string{
					lwsv1.ReplacesAnnotationKey: "mine", lwsv1.LeaderAddressAnnotationKey: "mine", corev1.PodDeletionCost: "7",
				}
				template.Spec.Hostname, template.Spec.Subdomain = "mine", "mine"
				return template
			}()), subdomain: "s", cost: "7",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set := tc.set.Namespace("default").Hash().Obj()
			pod := admitHashLeader(t, newHashLeader(set), "0123456789abcdef")
			for _, label := range []string{lwsv1.GroupKeyLabelKey, lwsv1.GroupIndexLabelKey} {
				if pod.Labels[label] != key {
					t.Errorf("%s is %q, want %q", label, pod.Labels[label], key)
				}
			}
			if pod.Spec.Hostname != "s-"+key[:8] || pod.Spec.Subdomain != tc.subdomain {
				t.Errorf("host %s.%s", pod.Spec.Hostname, pod.Spec.Subdomain)
			}
			if diff := cmp.Diff(tc.gates, pod.Spec.ReadinessGates); diff != "" {
				t.Errorf("readiness gates (-want +got):\n%s", diff)
			}
			if _, gated := GateIndex(pod); !gated {
				t.Error("it is not gated")
			}
			if pod.Annotations[corev1.PodDeletionCost] != tc.cost || pod.Annotations[lwsv1.GroupIdentityAnnotationKey] != "Hash" {
				t.Errorf("annotations %v", pod.Annotations)
			}
			if replaces := pod.Annotations[lwsv1.ReplacesAnnotationKey]; replaces != "" {
				t.Errorf("it replaces %q", replaces)
			}
			address := "s-" + key[:8] + "." + tc.subdomain + ".default"
			if got := env(&pod.Spec.Containers[0])[lwsv1.LeaderAddressEnvVar]; got != address {
				t.Errorf("address %q, want %q", got, address)
			}
			again := admitHashLeader(t, pod.DeepCopy(), "another")
			if diff := cmp.Diff(pod, again); diff != "" {
				t.Errorf("admitted again (-once +twice):\n%s", diff)
			}
		})
	}
}

// Whatever the set, members agree on their leader's address, and every host in their TPU
// variables is that of a member.
func TestHashAddressesExist(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		set := drawSet(rt)
		set.Spec.GroupIdentity = lwsv1.HashGroupIdentity
		leader := admitHashLeader(t, newHashLeader(set), rapid.StringN(16, 16, -1).Draw(rt, "random"))
		if diff := cmp.Diff(leader, admitHashLeader(t, leader.DeepCopy(), "another")); diff != "" {
			rt.Fatalf("admitted again (-once +twice):\n%s", diff)
		}
		members := []*corev1.Pod{leader}
		for worker := int32(1); worker < lwsv1.Size(&set.Spec.LeaderWorkerTemplate); worker++ {
			members = append(members, hashWorkerOf(t, set, leader, worker))
		}
		hosts := map[string]bool{}
		for _, member := range members {
			hosts[member.Spec.Hostname+"."+member.Spec.Subdomain] = true
		}
		want := leader.Spec.Hostname + "." + leader.Spec.Subdomain + "." + leader.Namespace
		for _, member := range members {
			for container := range containers(&member.Spec) {
				values := env(container)
				if values[lwsv1.LeaderAddressEnvVar] != want {
					rt.Fatalf("%s has the leader %q, want %q", member.Name, values[lwsv1.LeaderAddressEnvVar], want)
				}
				checkHosts(rt, values, hosts)
			}
		}
	})
}

// checkHosts looks at variables that the user did not write.
func checkHosts(t *rapid.T, values map[string]string, hosts map[string]bool) {
	names := values[lwsv1.TPUWorkerHostnamesEnvVar]
	if slices.Contains([]string{"", "x", "9000", "$(A)"}, names) {
		return
	}
	for host := range strings.SplitSeq(names, ",") {
		if !hosts[host] {
			t.Fatalf("there is no host %q among %v", host, slices.Sorted(maps.Keys(hosts)))
		}
	}
}
