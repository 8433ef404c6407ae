package leaderworkerset

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// Objects as the cache has them, of the set "x" with the UID "set".

func testSet() *lwstest.Builder {
	return lwstest.New("x").UID("set").Generation(1)
}

func setOwner(uid types.UID) metav1.OwnerReference {
	return *metav1.NewControllerRef(testSet().UID(uid).Obj(), setKind)
}

func ownerOf(kind schemaKind, name string, uid types.UID) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: kind.version, Kind: kind.kind, Name: name, UID: uid, Controller: &yes}
}

type schemaKind struct{ version, kind string }

var (
	kindStatefulSet = schemaKind{"apps/v1", "StatefulSet"}
	kindPod         = schemaKind{"v1", "Pod"}
)

func leaderStatefulSet(replicas int32) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: lwstest.Namespace, Name: "x", UID: "leaders", Generation: 1,
			Labels:          map[string]string{lwsv1.SetNameLabelKey: "x", lwsv1.RevisionLabelKey: "rev"},
			OwnerReferences: []metav1.OwnerReference{setOwner("set")},
		},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{
				lwsv1.SetNameLabelKey: "x", lwsv1.WorkerIndexLabelKey: "0",
			}},
		},
		Status: appsv1.StatefulSetStatus{ObservedGeneration: 1},
	}
}

// leaderPod is the running and ready leader of a group.
func leaderPod(index, size int) *corev1.Pod {
	name := fmt.Sprintf("x-%d", index)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: lwstest.Namespace, Name: name, UID: types.UID("uid-" + name),
			Labels: map[string]string{
				lwsv1.SetNameLabelKey:                 "x",
				lwsv1.WorkerIndexLabelKey:             "0",
				lwsv1.GroupIndexLabelKey:              strconv.Itoa(index),
				lwsv1.RevisionLabelKey:                "rev",
				appsv1.ControllerRevisionHashLabelKey: "x-abc",
			},
			Annotations:     map[string]string{lwsv1.SizeAnnotationKey: strconv.Itoa(size)},
			OwnerReferences: []metav1.OwnerReference{ownerOf(kindStatefulSet, "x", "leaders")},
		},
		Status: corev1.PodStatus{
			Phase:      corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
}

// workerStatefulSet has all its workers available.
func workerStatefulSet(index, workers int) *appsv1.StatefulSet {
	name, replicas := fmt.Sprintf("x-%d", index), int32(workers)
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: lwstest.Namespace, Name: name, UID: types.UID("workers-" + name), Generation: 1,
			Labels: map[string]string{
				lwsv1.SetNameLabelKey:    "x",
				lwsv1.GroupIndexLabelKey: strconv.Itoa(index),
				lwsv1.RevisionLabelKey:   "rev",
			},
			OwnerReferences: []metav1.OwnerReference{ownerOf(kindPod, name, types.UID("uid-"+name))},
		},
		Spec: appsv1.StatefulSetSpec{Replicas: &replicas},
		Status: appsv1.StatefulSetStatus{
			ObservedGeneration: 1, Replicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
		},
	}
}

// unplacedWorker is a worker that the scheduler could not place.
func unplacedWorker(index, worker int) *corev1.Pod {
	group := fmt.Sprintf("x-%d", index)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: lwstest.Namespace, Name: fmt.Sprintf("%s-%d", group, worker),
			Labels: map[string]string{
				lwsv1.SetNameLabelKey:     "x",
				lwsv1.WorkerIndexLabelKey: strconv.Itoa(worker),
				lwsv1.GroupIndexLabelKey:  strconv.Itoa(index),
			},
			OwnerReferences: []metav1.OwnerReference{ownerOf(kindStatefulSet, group, types.UID("workers-"+group))},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodPending,
			Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
				Message: "0/3 nodes are available",
			}},
		},
	}
}

func deleting(obj metav1.Object) {
	now := testTime
	obj.SetDeletionTimestamp(&now)
}

func notFound(name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "things"}, name)
}
