package main

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

const (
	namespace = "benchmark"
	floorName = "floor"
	setName   = "bench"
	// containerName is the only container of every pod.
	containerName = "model"
	// namedLabel is what the Service of the floor selects by.
	namedLabel = "named-by"
	// floorLabel is on every pod of the floor.
	floorLabel = "floor"
)

// shape is how many groups of which size are measured.
type shape struct{ Groups, Size int }

func (s shape) pods() int { return s.Groups * s.Size }

func (s shape) String() string { return fmt.Sprintf("%d groups of %d", s.Groups, s.Size) }

// podSpec is small and the same for the floor and the set.
func podSpec() corev1.PodSpec {
	return corev1.PodSpec{
		TerminationGracePeriodSeconds: new(int64(1)),
		Containers: []corev1.Container{{
			Name: containerName, Image: "model:1",
			Env: []corev1.EnvVar{{Name: "VERSION", Value: "1"}},
		}},
	}
}

// floor lists the bare StatefulSets: the leaders' first, then one a group.
func (s shape) floor() []*appsv1.StatefulSet {
	sets := []*appsv1.StatefulSet{statefulSet(floorName, s.Groups, 0)}
	for group := range s.Groups {
		if s.Size > 1 {
			sets = append(sets, statefulSet(fmt.Sprintf("%s-%d", floorName, group), s.Size-1, 1))
		}
	}
	return sets
}

// floorService gives the pods of the floor their host names, as bare StatefulSets need
// one: the control plane keeps a list of all of them, ready or not.
func floorService() *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: floorName, Namespace: namespace},
		Spec: corev1.ServiceSpec{
			ClusterIP:                corev1.ClusterIPNone,
			Selector:                 map[string]string{namedLabel: floorName},
			PublishNotReadyAddresses: true,
		},
	}
}

func statefulSet(name string, replicas, start int) *appsv1.StatefulSet {
	labels := map[string]string{floorLabel: name, namedLabel: floorName}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels},
		Spec: appsv1.StatefulSetSpec{
			Replicas:            new(int32(replicas)),
			Ordinals:            &appsv1.StatefulSetOrdinals{Start: int32(start)},
			PodManagementPolicy: appsv1.ParallelPodManagement,
			ServiceName:         floorName,
			Selector:            &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       podSpec(),
			},
		},
	}
}

func (s shape) set() *lwsv1.LeaderWorkerSet {
	return &lwsv1.LeaderWorkerSet{
		ObjectMeta: metav1.ObjectMeta{Name: setName, Namespace: namespace},
		Spec: lwsv1.LeaderWorkerSetSpec{
			Replicas: new(int32(s.Groups)),
			RolloutStrategy: lwsv1.RolloutStrategy{
				Type: lwsv1.RollingUpdateStrategyType,
				RollingUpdateConfiguration: &lwsv1.RollingUpdateConfiguration{
					MaxUnavailable: new(intstr.FromString("25%")),
					MaxSurge:       new(intstr.FromInt32(0)),
				},
			},
			LeaderWorkerTemplate: lwsv1.LeaderWorkerTemplate{
				Size:           new(int32(s.Size)),
				WorkerTemplate: corev1.PodTemplateSpec{Spec: podSpec()},
			},
		},
	}
}
