package leaderworkerset

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// objectRef names one object and no other that may follow it under its name.
type objectRef struct {
	Name string
	UID  types.UID
}

// groupState is what a set knows of a group that exists, that is, that has a
// leader.
type groupState struct {
	Name          string // value of the label group-index
	Index         int32  // its number, 0 for all with Hash identity
	Replaces      string // key of the group that it replaces, with Hash identity
	Leader        objectRef
	Created       time.Time // the leader
	Revision      string
	PodRevision   string // the StatefulSet controller's own name for what the leader was made from
	SharesService bool   // its pods find each other by the shared Service
	Ready         bool
	Terminating   bool
	Ended         bool // the leader is in a terminal phase
	Gated         bool
	Exhausted     bool
	Unschedulable bool
}

// members are the objects of a set's groups as the cache has them.
type members struct {
	set           *lwsv1.LeaderWorkerSet
	statefulSet   *appsv1.StatefulSet // with Ordinal identity, nil when there is none
	deployment    *appsv1.Deployment  // with Hash identity, likewise
	replicaSets   []*appsv1.ReplicaSet
	leaders       []*corev1.Pod
	workers       []*appsv1.StatefulSet
	unschedulable []*corev1.Pod
}

// unplaced is one pod that the scheduler could not place, and what it said.
type unplaced struct {
	Pod  string
	Text string
}

// ownerOfLeaders is the object that owns the leaders, nil when there is none, and how
// many it is to have.
func (m members) ownerOfLeaders() (metav1.Object, *int32) {
	switch {
	case m.statefulSet != nil:
		return m.statefulSet, m.statefulSet.Spec.Replicas
	case m.deployment != nil:
		return m.deployment, m.deployment.Spec.Replicas
	}
	return nil, nil
}

// makers are those that make leaders themselves, by UID.
func (m members) makers() sets.Set[types.UID] {
	makers := sets.New[types.UID]()
	if m.statefulSet != nil {
		makers.Insert(m.statefulSet.UID)
	}
	for _, replicaSet := range m.replicaSets {
		makers.Insert(replicaSet.UID)
	}
	return makers
}

// makes says whether a pod is a leader of the set: it is made by one of its makers.
func (m members) makes(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return false
	}
	if m.statefulSet != nil && m.statefulSet.UID == owner.UID {
		return true
	}
	return slices.ContainsFunc(m.replicaSets, func(r *appsv1.ReplicaSet) bool { return r.UID == owner.UID })
}

// indexOf is the number of a leader's group. With Hash identity groups have none, and
// with Ordinal identity a leader without one is none of ours.
func (m members) indexOf(leader *corev1.Pod) (int32, bool) {
	group, ok := identity.GroupOfPod(leader)
	if m.deployment != nil {
		return 0, ok && group.HasKey()
	}
	return identity.GroupOrdinal(leader)
}

// isGoing says whether a leader will never run again: a ReplicaSet does not count it.
func isGoing(leader *corev1.Pod) bool {
	return leader.DeletionTimestamp != nil || isEnded(leader)
}

func isEnded(leader *corev1.Pod) bool {
	return leader.Status.Phase == corev1.PodFailed || leader.Status.Phase == corev1.PodSucceeded
}

// groupsOf resolves the groups of a set, in the order of their indices, and the
// first pod that cannot be placed. Pods and worker StatefulSets with our labels
// but another owner are none of ours.
func groupsOf(m members) ([]groupState, *unplaced) {
	if owner, _ := m.ownerOfLeaders(); owner == nil {
		return nil, nil
	}
	workers := make(map[string]*appsv1.StatefulSet, len(m.workers))
	for _, worker := range ownWorkers(m) {
		workers[worker.Labels[lwsv1.GroupIndexLabelKey]] = worker
	}
	unplacedGroups, example := unplacedOf(m, workers)
	var groups []groupState
	for _, leader := range m.leaders {
		index, ok := m.indexOf(leader)
		if !ok || !m.makes(leader) {
			continue
		}
		g := groupOf(index, leader, workers[leader.Labels[lwsv1.GroupIndexLabelKey]])
		g.Unschedulable = unplacedGroups.Has(leader.Labels[lwsv1.GroupIndexLabelKey])
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b groupState) int { return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name)) })
	return groups, example
}

// ownWorkers are the worker StatefulSets of the set's groups: owned by a leader
// that exists, or by the set itself.
func ownWorkers(m members) []*appsv1.StatefulSet {
	owners := make(map[types.UID]bool, len(m.leaders)+1)
	owners[m.set.UID] = true
	for _, leader := range m.leaders {
		if m.makes(leader) {
			owners[leader.UID] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(m.workers), func(worker *appsv1.StatefulSet) bool {
		owner := metav1.GetControllerOf(worker)
		return owner == nil || !owners[owner.UID]
	})
}

// unplacedOf finds the groups with a member that the scheduler could not place,
// and of these members the one with the first name.
func unplacedOf(m members, workers map[string]*appsv1.StatefulSet) (sets.Set[string], *unplaced) {
	groups := sets.New[string]()
	var example *unplaced
	for _, pod := range m.unschedulable {
		index := pod.Labels[lwsv1.GroupIndexLabelKey]
		worker := workers[index]
		isMember := m.makes(pod) || worker != nil && isControlledBy(pod, worker)
		if !isMember || pod.DeletionTimestamp != nil {
			continue
		}
		groups.Insert(index)
		if example == nil || pod.Name < example.Pod {
			example = &unplaced{Pod: pod.Name, Text: schedulerText(pod)}
		}
	}
	return groups, example
}

func schedulerText(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			return c.Message
		}
	}
	return ""
}

func groupOf(index int32, leader *corev1.Pod, worker *appsv1.StatefulSet) groupState {
	// A group that is marked is stopped, though its leader may not be deleted yet.
	exhausted := leader.Annotations[lwsv1.GroupRestartBudgetExhaustedAnnotationKey] == "true"
	return groupState{
		Name:          leader.Labels[lwsv1.GroupIndexLabelKey],
		Index:         index,
		Replaces:      leader.Annotations[lwsv1.ReplacesAnnotationKey],
		Leader:        objectRef{leader.Name, leader.UID},
		Created:       leader.CreationTimestamp.Time,
		Revision:      leader.Labels[lwsv1.RevisionLabelKey],
		PodRevision:   leader.Labels[appsv1.ControllerRevisionHashLabelKey],
		SharesService: leader.Annotations[lwsv1.SubdomainPolicyAnnotationKey] != string(lwsv1.SubdomainUniquePerReplica),
		Ready:         !exhausted && isPodReady(leader) && areWorkersReady(leader, worker),
		Terminating:   leader.DeletionTimestamp != nil,
		Ended:         isEnded(leader),
		Gated:         isGated(leader),
		Exhausted:     exhausted,
	}
}

func isGated(leader *corev1.Pod) bool {
	return slices.ContainsFunc(leader.Spec.SchedulingGates, func(gate corev1.PodSchedulingGate) bool {
		return gate.Name == lwsv1.GroupReplacementSchedulingGate
	})
}

func isPodReady(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning {
		return false
	}
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// areWorkersReady says whether a group has all its workers, of the leader's
// revision. A leader that does not say how many it needs is not ready.
func areWorkersReady(leader *corev1.Pod, worker *appsv1.StatefulSet) bool {
	size, err := strconv.Atoi(leader.Annotations[lwsv1.SizeAnnotationKey])
	switch {
	case err != nil:
		return false
	case size <= 1:
		return true
	case worker == nil || worker.DeletionTimestamp != nil:
		return false
	}
	return worker.Labels[lwsv1.RevisionLabelKey] == leader.Labels[lwsv1.RevisionLabelKey] &&
		worker.Status.ObservedGeneration >= worker.Generation &&
		int(worker.Status.AvailableReplicas) >= size-1
}
