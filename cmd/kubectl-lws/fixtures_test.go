package main

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/revision"
)

// Objects of set "x" as the API server has them: its groups have two pods and are ready.

const (
	namespace = lwstest.Namespace
	podsOf    = "x-pods" // what the StatefulSet controller calls the revision of leaders
)

var (
	testNow = time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	hourAgo = metav1.Time{Time: testNow.Add(-time.Hour)}
)

// cluster is a set with its objects. Tests change them before they are read.
type cluster struct {
	set      *lwsv1.LeaderWorkerSet
	revision *appsv1.ControllerRevision
	leaders  *appsv1.StatefulSet
	pods     map[string]*corev1.Pod
	workers  map[string]*appsv1.StatefulSet
	more     []client.Object
}

func newCluster(t *testing.T, replicas int32) *cluster {
	t.Helper()
	set := lwstest.New("x").UID("set").Generation(1).Replicas(replicas).Size(2).Image("server:1").Obj()
	set.CreationTimestamp = hourAgo
	stored, err := revision.New(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	stored.UID, stored.CreationTimestamp = "revision", hourAgo
	key := revision.Key(stored)
	set.Status = lwsv1.LeaderWorkerSetStatus{
		ObservedGeneration: 1, CurrentRevision: key, UpdateRevision: key,
		Conditions: []metav1.Condition{
			{Type: lwsv1.ConditionAvailable, Status: metav1.ConditionTrue, Reason: lwsv1.ReasonAllGroupsReady, Message: "All groups are ready"},
			{Type: lwsv1.ConditionProgressing, Status: metav1.ConditionFalse, Reason: lwsv1.ReasonAllGroupsReady, Message: "All groups are ready"},
		},
	}
	c := &cluster{set: set, revision: stored, pods: map[string]*corev1.Pod{}, workers: map[string]*appsv1.StatefulSet{}}
	c.leaders = &appsv1.StatefulSet{
		ObjectMeta: c.meta("x", "leaders", key, set, lwsv1.GroupVersion.WithKind(lwsv1.Kind).Kind),
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas,
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{
				Type:          appsv1.RollingUpdateStatefulSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32)},
			},
		},
		Status: appsv1.StatefulSetStatus{ObservedGeneration: 1, CurrentRevision: podsOf, UpdateRevision: podsOf},
	}
	c.leaders.Generation = 1
	c.leaders.Annotations = map[string]string{lwsv1.ReplicasAnnotationKey: strconv.Itoa(int(replicas))}
	c.leaders.Spec.Template.Labels = map[string]string{lwsv1.RevisionLabelKey: key}
	for i := range replicas {
		c.addGroup(i, key)
	}
	return c
}

func (c *cluster) meta(name string, uid types.UID, key string, owner client.Object, kind string) metav1.ObjectMeta {
	yes := true
	version := map[string]string{"StatefulSet": "apps/v1", "Pod": "v1", lwsv1.Kind: lwsv1.GroupVersion.String()}[kind]
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: uid, CreationTimestamp: hourAgo,
		Labels: map[string]string{lwsv1.SetNameLabelKey: "x", lwsv1.RevisionLabelKey: key},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: version, Kind: kind, Name: owner.GetName(), UID: owner.GetUID(), Controller: &yes,
		}},
	}
}

func (c *cluster) addGroup(index int32, key string) {
	leader := fmt.Sprintf("x-%d", index)
	c.addPod(leader, key, index, 0, c.leaders)
	c.pods[leader].Labels[appsv1.ControllerRevisionHashLabelKey] = podsOf
	one := int32(1)
	workers := &appsv1.StatefulSet{
		ObjectMeta: c.meta(leader, types.UID("workers-"+leader), key, c.pods[leader], "Pod"),
		Spec:       appsv1.StatefulSetSpec{Replicas: &one},
		Status:     appsv1.StatefulSetStatus{AvailableReplicas: 1},
	}
	workers.Labels[lwsv1.GroupIndexLabelKey] = strconv.Itoa(int(index))
	c.workers[leader] = workers
	c.addPod(leader+"-1", key, index, 1, workers)
}

func (c *cluster) addPod(name, key string, group, worker int32, owner *appsv1.StatefulSet) {
	pod := &corev1.Pod{
		ObjectMeta: c.meta(name, types.UID(name), key, owner, "StatefulSet"),
		Spec:       corev1.PodSpec{NodeName: fmt.Sprintf("node-%d", group)},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: hourAgo},
		}},
	}
	pod.Labels[lwsv1.GroupIndexLabelKey] = strconv.Itoa(int(group))
	pod.Labels[lwsv1.WorkerIndexLabelKey] = strconv.Itoa(int(worker))
	pod.Annotations = map[string]string{lwsv1.SizeAnnotationKey: "2"}
	c.pods[name] = pod
}

// gate makes the leader of a group one that waits for a pod of its predecessor.
func (c *cluster) gate(leader string) {
	pod := c.pods[leader]
	pod.UID, pod.CreationTimestamp.Time = "new", testNow.Add(-3*time.Minute)
	pod.Spec.NodeName, pod.Spec.SchedulingGates = "", []corev1.PodSchedulingGate{{Name: lwsv1.GroupReplacementSchedulingGate}}
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
	delete(c.workers, leader)
	left := c.pods[leader+"-1"]
	left.DeletionTimestamp, left.Finalizers = &metav1.Time{Time: testNow.Add(-2 * time.Minute)}, []string{"example.com/keep"}
	left.Status.Phase = corev1.PodFailed
}

// exhaust stops a group.
func (c *cluster) exhaust(leader string) {
	limit := int32(2)
	c.set.Spec.LeaderWorkerTemplate.MaxGroupRestarts = &limit
	c.set.Annotations = map[string]string{
		lwsv1.GroupRestartCountsAnnotationKey: fmt.Sprintf(`{"%s/%s":2}`, revision.Key(c.revision), leader[len("x-"):]),
	}
	c.pods[leader].Annotations[lwsv1.GroupRestartBudgetExhaustedAnnotationKey] = "true"
	for _, name := range []string{leader, leader + "-1"} {
		pod := c.pods[name]
		pod.DeletionTimestamp = &metav1.Time{Time: testNow.Add(-time.Minute)}
		pod.Finalizers = []string{lwsv1.GroupRestartBudgetCleanupFinalizer}
		pod.Status.Phase, pod.Status.Conditions = corev1.PodFailed, nil
	}
}

// unplace makes the worker of a group one that has no place.
func (c *cluster) unplace(leader string) {
	pod := c.pods[leader+"-1"]
	pod.Spec.NodeName = ""
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/3 nodes are available:\n3 Insufficient nvidia.com/gpu.",
	}}}
	c.workers[leader].Status.AvailableReplicas = 0
}

func (c *cluster) objects() []client.Object {
	objects := append([]client.Object{c.set, c.revision, c.leaders}, c.more...)
	for _, pod := range c.pods {
		objects = append(objects, pod)
	}
	for _, workers := range c.workers {
		objects = append(objects, workers)
	}
	return objects
}
