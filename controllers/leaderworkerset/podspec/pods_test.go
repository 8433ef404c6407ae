package podspec

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

const (
	prefix      = "leaderworkerset.sigs.k8s.io/"
	revisionKey = "5c5fcdfb44"
)

// revisionOf is the revision of a set as it is.
func revisionOf(set *lwsv1.LeaderWorkerSet) Revision {
	template := &set.Spec.LeaderWorkerTemplate
	return Revision{
		Set: set.Name, Key: revisionKey, Template: template, Network: set.Spec.NetworkConfig,
		Placement: PlacementOf(set.Annotations, template),
	}
}

func groupOf(set *lwsv1.LeaderWorkerSet, ordinal int32) identity.Group {
	return identity.OrdinalGroup(types.NamespacedName{Namespace: set.Namespace, Name: set.Name}, ordinal)
}

// leaderOf is what workers take from the leader of an ordinal.
func leaderOf(set *lwsv1.LeaderWorkerSet, ordinal int32) Leader {
	group := groupOf(set, ordinal)
	return Leader{
		Group: group, PodName: group.Name(), Domain: "domain-a",
		GroupKey: identity.GroupKey(set.Namespace, group.Name()),
	}
}

// newPod is a pod as the StatefulSet controller makes it.
func newPod(template *corev1.PodTemplateSpec, namespace, name, service string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Labels: maps.Clone(template.Labels), Annotations: maps.Clone(template.Annotations),
		},
		Spec: *template.Spec.DeepCopy(),
	}
	pod.Spec.Hostname, pod.Spec.Subdomain = name, service
	return pod
}

func newLeaderPod(set *lwsv1.LeaderWorkerSet, ordinal int32) *corev1.Pod {
	return newPod(LeaderPodTemplate(revisionOf(set)), set.Namespace, identity.LeaderName(set.Name, ordinal), set.Name)
}

func newWorkerPod(set *lwsv1.LeaderWorkerSet, ordinal, worker int32) *corev1.Pod {
	leader := leaderOf(set, ordinal)
	service := leader.Group.ServiceName(lwsv1.SubdomainPolicyOf(set.Spec.NetworkConfig))
	template := WorkerPodTemplate(revisionOf(set), leader)
	return newPod(template, set.Namespace, identity.WorkerName(leader.Group.Name(), worker), service)
}

func admitLeader(t *testing.T, pod *corev1.Pod, policy lwsv1.PodTerminationPolicyType) *corev1.Pod {
	t.Helper()
	leader, err := OrdinalLeader(pod)
	if err != nil {
		t.Fatal(err)
	}
	if err := AdmitLeader(pod, leader, policy); err != nil {
		t.Fatal(err)
	}
	return pod
}

// admittedMember is the pod of a worker index, 0 for the leader, as admission
// leaves it.
func admittedMember(t *testing.T, set *lwsv1.LeaderWorkerSet, ordinal, worker int32) *corev1.Pod {
	t.Helper()
	if worker == 0 {
		return admitLeader(t, newLeaderPod(set, ordinal), lwsv1.SequentialPodTermination)
	}
	pod := newWorkerPod(set, ordinal, worker)
	if err := AdmitWorker(pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func env(container *corev1.Container) map[string]string {
	values := map[string]string{}
	for _, variable := range container.Env {
		values[variable.Name] = variable.Value
	}
	return values
}
