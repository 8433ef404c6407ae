package harness

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// SetState is a set as it was from a moment on. The last one of a set that was
// deleted is Gone.
type SetState struct {
	At   time.Time
	Gone bool
	*lwsv1.LeaderWorkerSet
}

// Event is an event about a set. Count is how often it was told; a series grows.
type Event struct {
	At      time.Time
	UID     types.UID
	Set     string
	Type    string
	Reason  string
	Message string
	Count   int
}

// PodState is what matters of a pod as it was from a moment on. Version orders the
// states of objects of all kinds, which watches do not: At is when it was seen.
type PodState struct {
	At       time.Time
	Version  uint64
	Gone     bool
	Name     string
	UID      types.UID
	Owner    types.UID
	Set      string
	Group    string
	Revision string
	Labels   map[string]string
	// Worker is 0 for the leader.
	Worker int
	// Size is that of the pod's group.
	Size   int
	Ready  bool
	Ending bool
	Gated  bool
	Node   string
	Phase  corev1.PodPhase
	// PodGroup is empty for a pod that is scheduled on its own.
	PodGroup string
}

// ObjectState is that of another object: only its life is recorded.
type ObjectState struct {
	At      time.Time
	Version uint64
	Gone    bool
	Ending  bool
	Name    string
	UID     types.UID
}

// FurtherState is an object of a further kind as it was from a moment on.
type FurtherState struct {
	At   time.Time
	Gone bool
	client.Object
}

// History is what was recorded, each kind in its own order.
type History struct {
	Sets         []SetState
	Events       []Event
	Pods         []PodState
	StatefulSets []ObjectState
	Further      []FurtherState
}

func newPodState(pod *corev1.Pod, gone bool) PodState {
	state := PodState{
		At: time.Now(), Version: VersionOf(pod), Gone: gone, Name: pod.Name, UID: pod.UID,
		Set: pod.Labels[lwsv1.SetNameLabelKey], Group: pod.Labels[lwsv1.GroupIndexLabelKey],
		Revision: pod.Labels[lwsv1.RevisionLabelKey],
		Labels:   pod.Labels,
		Ending:   pod.DeletionTimestamp != nil,
		Gated:    len(pod.Spec.SchedulingGates) > 0,
		Node:     pod.Spec.NodeName, Phase: pod.Status.Phase,
		Ready:  IsReady(pod),
		Worker: number(pod.Labels[lwsv1.WorkerIndexLabelKey]),
		Size:   number(pod.Annotations[lwsv1.SizeAnnotationKey]),
	}
	if group := pod.Spec.SchedulingGroup; group != nil && group.PodGroupName != nil {
		state.PodGroup = *group.PodGroupName
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		state.Owner = owner.UID
	}
	return state
}

// VersionOf is the resource version of an object as the number that it is.
func VersionOf(object metav1.Object) uint64 {
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return version
}

// number is -1 where there is none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// IsReady tells whether a pod runs and is ready.
func IsReady(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodRunning {
		return false
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func newEvent(event *corev1.Event) Event {
	count := max(1, int(event.Count))
	if event.Series != nil {
		count = max(count, int(event.Series.Count))
	}
	return Event{
		At: time.Now(), UID: event.UID, Set: event.InvolvedObject.Name,
		Type: event.Type, Reason: event.Reason, Message: event.Message, Count: count,
	}
}

// OfSet are the states of one set.
func (h History) OfSet(name string) []SetState {
	var found []SetState
	for _, state := range h.Sets {
		if state.Name == name {
			found = append(found, state)
		}
	}
	return found
}

// EventsOf are the events about one set, in the order in which they were first told.
func (h History) EventsOf(set string) []Event {
	var found []Event
	for _, event := range h.Events {
		if event.Set == set {
			found = append(found, event)
		}
	}
	return found
}
