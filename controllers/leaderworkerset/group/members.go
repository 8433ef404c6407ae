package group

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// owner is the controller of an object, the zero value without one.
type owner struct {
	Kind string
	Name string
	UID  types.UID
}

// Kinds of controllers that matter to a group.
const (
	kindPod         = "Pod"
	kindStatefulSet = "StatefulSet"
	kindReplicaSet  = "ReplicaSet"
)

// schedulingState is how far the scheduler is with a pod.
type schedulingState int

const (
	starting      schedulingState = iota // nothing reported yet
	heldByGate                           // a scheduling gate keeps the scheduler away
	placed                               // on a node
	unschedulable                        // tried, and there is no node for it
)

// restarts of one container. Containers that never restarted are left out.
type restarts struct {
	Container string
	Count     int32
	// ByRule: the last one was asked for by a restart rule of a container.
	ByRule bool
	// ByResize: the last one was part of a resize in place.
	ByResize bool
	// Why is what the container ended with, for people.
	Why string
}

// pod is what decisions have to know of a pod.
type pod struct {
	Name       string
	UID        types.UID
	Controller owner
	Index      int32
	Node       string
	Phase      corev1.PodPhase
	// Why is what the status says about the phase, such as Evicted.
	Why        string
	Created    time.Time
	Deleting   bool
	Deadline   time.Time // when its grace period is over, if it is deleting
	Retained   bool      // has the finalizer of exhausted groups
	HeldBy     []string  // finalizers of others
	Scheduling schedulingState
	Scheduler  string // what the scheduler said
	Restarts   []restarts
}

// sortPods puts pods in the order of their indices: a cache lists them in any, and writes
// and messages are to be the same each time.
func sortPods(pods []pod) {
	slices.SortFunc(pods, func(a, b pod) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name))
	})
}

func (p *pod) isPending() bool {
	return p.Phase == corev1.PodPending || p.Phase == ""
}

func (p *pod) isTerminal() bool {
	return p.Phase == corev1.PodFailed || p.Phase == corev1.PodSucceeded
}

// leader is what decisions have to know of a leader pod.
type leader struct {
	pod
	Revision    string
	PodRevision string // what the StatefulSet controller calls the leader's revision
	GroupKey    string
	Size        int32
	OwnService  bool // the group has a Service of its own
	Gated       bool
	Exhausted   bool
	Recover     bool // the annotation that asks for recovery, on any leader
	Parallel    bool // the termination policy that the leader carries
	MarkedNone  bool // it carries that the restart policy is None
	Foreground  bool // deleted in the foreground: garbage collection ends the workers at the same time
	Ready       bool // its containers are ready
	Memory      *memory
	// HasReadinessGate: it is ready only when the condition group-ready says so, which
	// it does if GroupReady.
	HasReadinessGate, GroupReady bool
	Replaces                     string // key of the group that it is stored to replace
	// Controlled: the object that makes leaders is its controller, and that object's
	// controller is the set.
	Controlled bool
}

// generation is the living generation of a group and what is left of others.
type generation struct {
	Leader *leader
	// Workers are the members beside the leader.
	Workers []pod
	// Predecessors are pods of earlier generations.
	Predecessors []pod
	// Orphans are pods of earlier generations that no controller will end.
	Orphans []pod
}

// generationOf sorts the worker pods of a group. workers is the worker StatefulSet
// of the leader, nil if it has none, and groupName what worker StatefulSets of this
// group are called.
//
// Membership is by the controller's UID. A pod without a controller belongs to a
// leader past its gate, since at the gate nothing was left of a predecessor: its
// StatefulSet was deleted and left it behind, and the next one adopts it.
//
// Pods that are together exactly what the memory holds are members whatever the
// cache shows of their StatefulSet: caches of different kinds are not of the same
// instant.
func generationOf(l *leader, workers *workerSet, groupName string, pods []pod) generation {
	g := generation{Leader: l}
	for _, p := range pods {
		switch kinshipOf(&p, l, workers, groupName) {
		case kinMember:
			g.Workers = append(g.Workers, p)
		case kinOrphan:
			g.Orphans = append(g.Orphans, p)
		case kinPredecessor:
			g.Predecessors = append(g.Predecessors, p)
		case kinStranger:
		}
	}
	if l == nil || len(g.Predecessors) == 0 {
		return g
	}
	all := generation{Leader: l, Workers: slices.Concat(g.Workers, g.Predecessors), Orphans: g.Orphans}
	if l.Memory.holds(&all) {
		return all
	}
	return g
}

// kinship is what a worker pod is to the living generation of its group.
type kinship int

const (
	kinStranger    kinship = iota // of no generation, or above the size of the group
	kinMember                     // of the living one
	kinOrphan                     // of an earlier one, and no controller will end it
	kinPredecessor                // of an earlier one
)

func kinshipOf(p *pod, l *leader, workers *workerSet, groupName string) kinship {
	switch {
	case workers != nil && p.Controller.UID == workers.UID, p.Controller == owner{} && l != nil && !l.Gated:
		if l != nil && p.Index >= l.Size {
			return kinStranger
		}
		return kinMember
	case p.Controller == owner{}:
		return kinOrphan
	case p.Controller.Kind == kindStatefulSet && p.Controller.Name == groupName:
		return kinPredecessor
	}
	return kinStranger
}

// members are all pods of the living generation.
func (g *generation) members() []pod {
	members := make([]pod, 0, len(g.Workers)+1)
	members = append(members, g.Leader.pod)
	return append(members, g.Workers...)
}

// isWhole: all members exist and none is Pending.
func (g *generation) isWhole() bool {
	return len(g.Workers)+1 == int(g.Leader.Size) &&
		!g.Leader.isPending() && !slices.ContainsFunc(g.Workers, func(p pod) bool { return p.isPending() })
}

// left are all pods that are not, or not to stay, of the living generation.
func (g *generation) left() []pod {
	return slices.Concat(g.Predecessors, g.Orphans)
}
