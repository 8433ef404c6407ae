package webhook

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
)

func byReplicaSet(name string) []metav1.OwnerReference {
	return controlledBy("apps/v1", "ReplicaSet", name)
}

// chainOfHash is everything above the pods of the set sample with Hash identity.
func chainOfHash(key string) []client.Object {
	meta := func(name string, owners []metav1.OwnerReference) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: owners}
	}
	return []client.Object{
		&appsv1.Deployment{ObjectMeta: meta("sample", bySet("sample"))},
		&appsv1.ReplicaSet{ObjectMeta: meta("sample-rs", controlledBy("apps/v1", "Deployment", "sample"))},
		barePod("sample-rs-xyz", byReplicaSet("sample-rs")),
		statefulSet("sample-"+key[:8], byPod("sample-rs-xyz")),
	}
}

func TestPodsOfAHashSetAreAdmitted(t *testing.T) {
	set := lwstest.New("sample").Namespace("default").Hash().Size(4).PodTerminationPolicy(lwsv1.ParallelPodTermination).Obj()
	revision := sampleRevision(set)
	revision.Hash = true
	var cached, live reads
	key := identity.DrawnKey("default", "x")
	handler := podHandler(t, cached.reader(t, append(chainOfHash(key), set)...), live.reader(t))

	keys := map[string]bool{}
	for range 3 {
		pod := fromTemplate(podspec.LeaderPodTemplate(revision), "", byReplicaSet("sample-rs"))
		pod.GenerateName, pod.Spec.Hostname, pod.Spec.Subdomain = "sample-rs-", "", ""
		request := createRequest(t, pod)
		response := handler.Handle(context.Background(), request)
		if !response.Allowed {
			t.Fatalf("refused: %v", response.Result)
		}
		got := apply(t, request, response)
		drawn := got.Labels[lwsv1.GroupKeyLabelKey]
		if len(drawn) != 40 || keys[drawn] || got.Labels[lwsv1.GroupIndexLabelKey] != drawn {
			t.Errorf("labels %v after the keys %v", got.Labels, keys)
		}
		keys[drawn] = true
		if got.Spec.Hostname != "sample-"+drawn[:8] || got.Annotations[lwsv1.PodTerminationPolicyAnnotationKey] != "Parallel" {
			t.Errorf("host %q, annotations %v", got.Spec.Hostname, got.Annotations)
		}
		again := createRequest(t, got)
		if response := handler.Handle(context.Background(), again); !response.Allowed || len(response.Patches) != 0 {
			t.Errorf("admitted again: %v, %v", response.Result, response.Patches)
		}
	}

	group := identity.KeyGroup(types.NamespacedName{Namespace: "default", Name: "sample"}, key)
	worker := fromTemplate(podspec.WorkerPodTemplate(revision, podspec.Leader{
		Group: group, GroupKey: key, PodName: "sample-rs-xyz",
	}), group.Name()+"-2", byStatefulSet(group.Name()))
	request := createRequest(t, worker)
	response := handler.Handle(context.Background(), request)
	if !response.Allowed {
		t.Fatalf("refused: %v", response.Result)
	}
	if got := apply(t, request, response); got.Labels[lwsv1.WorkerIndexLabelKey] != "2" {
		t.Errorf("labels %v", got.Labels)
	}
	if live.count != 0 {
		t.Errorf("%d live reads", live.count)
	}
}

func TestPodsOfOtherReplicaSetsPassUntouched(t *testing.T) {
	var cached, live reads
	foreign := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", OwnerReferences: controlledBy("apps/v1", "Deployment", "web")}}
	handler := podHandler(t, cached.reader(t, foreign), live.reader(t, foreign, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}))
	pod := barePod("web-1", byReplicaSet("web"))
	pod.Labels = map[string]string{lwsv1.SetNameLabelKey: "sample"}
	pod.Spec.Containers = []corev1.Container{{Name: "c"}}
	request := createRequest(t, pod)
	response := handler.Handle(context.Background(), request)
	if !response.Allowed {
		t.Fatalf("refused: %v", response.Result)
	}
	if diff := cmp.Diff(pod, apply(t, request, response)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
