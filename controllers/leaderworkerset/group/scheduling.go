package group

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// Scheduling is what groups need of the provider that has their pods scheduled
// together.
type Scheduling interface {
	// Kinds are the kinds of scheduling objects.
	Kinds() []scheduling.Kind
	// Uses says whether a set has scheduling objects, Unavailable why they can be
	// neither read nor written, nil if they can.
	Uses(set *lwsv1.LeaderWorkerSet) bool
	Unavailable(set *lwsv1.LeaderWorkerSet) *scheduling.Problem
	// IsAdmitted says whether a leader was admitted as its set wants it.
	IsAdmitted(leader *corev1.Pod, set *lwsv1.LeaderWorkerSet) bool
	// Required names the objects of the set that there are before those of groups.
	Required(set *lwsv1.LeaderWorkerSet) []scheduling.Ref
	// GroupObjects are those of the group of a leader, made of the required ones.
	GroupObjects(set *lwsv1.LeaderWorkerSet, leader *corev1.Pod, required []client.Object) ([]client.Object, error)
	// GroupRefs names those of the group of a pod, or of a template of pods.
	GroupRefs(member metav1.Object) []scheduling.Ref
}
