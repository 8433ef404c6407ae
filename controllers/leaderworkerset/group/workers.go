package group

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// workerSet is what decisions have to know of the worker StatefulSet.
type workerSet struct {
	UID      types.UID
	Owner    owner
	Revision string
	Deleting bool
	// Available is how many workers are ready, 0 while that is of an earlier generation.
	Available int32
}

// belonging is whose a worker StatefulSet is.
type belonging int

const (
	ofNobody      belonging = iota // no controller: left behind, or robbed of its owner
	ofLeader                       // the leader that exists
	ofSet                          // the set, as with restart policy None
	ofPredecessor                  // a leader, or a set of the same name, that is gone
	ofSomebody                     // not ours
)

func belongingOf(w *workerSet, l *leader, set types.UID) belonging {
	switch {
	case w.Owner == owner{}:
		return ofNobody
	case w.Owner.Kind == kindPod && l != nil && w.Owner.UID == l.UID:
		return ofLeader
	case w.Owner.Kind == setKind.Kind && w.Owner.UID == set:
		return ofSet
	case w.Owner.Kind == kindPod, w.Owner.Kind == setKind.Kind:
		return ofPredecessor
	}
	return ofSomebody
}

// workersAction is what is done about the worker StatefulSet.
type workersAction string

const (
	workersKeep     workersAction = "Keep" // as it is, or none
	workersWait     workersAction = "Wait"
	workersCreate   workersAction = "Create"
	workersAdopt    workersAction = "Adopt"  // to whom restart policy and leader say
	workersDelete   workersAction = "Delete" // in the foreground, with its pods
	workersConflict workersAction = "Conflict"
)

type workersVerdict struct {
	Action  workersAction
	Message string
}

// workersInput is all that decisions about the worker StatefulSet are made from.
type workersInput struct {
	Leader  *leader    // nil if there is none
	Workers *workerSet // nil if there is none
	Set     types.UID
	// Stay: restart policy None, with which workers outlive their leader.
	Stay bool
	// Desired: the set wants a group of this index.
	Desired bool
	// Outdated: a rollout replaces the group.
	Outdated bool
	// OnReady: workers are created when the leader's containers are ready.
	OnReady bool
	// NeedsDomain: workers follow their leader into its topology domain.
	NeedsDomain bool
	// Parallel: workers end with their leader and not after it.
	Parallel bool
	// LeaderAge is how long the leader exists.
	LeaderAge time.Duration
}

// garbagePatience is how long a gated leader leaves a worker StatefulSet whose owner
// is gone to garbage collection, which costs no write of ours.
const garbagePatience = 10 * time.Second

func (in *workersInput) belonging() belonging {
	return belongingOf(in.Workers, in.Leader, in.Set)
}

// takesOver says whether a leader finds its workers already there: with restart
// policy None they outlived the leader before it.
func (in *workersInput) takesOver() bool {
	return in.Stay && in.belonging() == ofSet && !in.Workers.Deleting &&
		in.Leader.Size > 1 && in.Workers.Revision == in.Leader.Revision
}

// living is the worker StatefulSet of the living generation, nil if there is none.
func (in *workersInput) living() *workerSet {
	if in.Workers != nil && in.isLiving() {
		return in.Workers
	}
	return nil
}

// isLiving says whether the worker StatefulSet is of the living generation. What is not
// the leader's by its owner can be so by its revision, once the leader is past its gate.
func (in *workersInput) isLiving() bool {
	whose := in.belonging()
	if in.Leader == nil {
		return in.Stay && whose == ofSet
	}
	isOfLeaderRevision := !in.Leader.Gated && in.Workers.Revision == in.Leader.Revision
	switch whose {
	case ofLeader:
		return true
	case ofSet:
		return isOfLeaderRevision || in.takesOver()
	case ofNobody:
		return isOfLeaderRevision
	case ofPredecessor, ofSomebody:
	}
	return false
}

// workersOfLiving decides about the workers of a leader past its gate. Past the gate
// nothing of a predecessor is left, so a StatefulSet without a controller is the
// leader's own, robbed of its owner.
func workersOfLiving(in workersInput) workersVerdict {
	switch {
	case in.Workers == nil:
		return start(in)
	case in.belonging() == ofSomebody:
		return conflict(in.Workers)
	case in.Workers.Deleting:
		return workersVerdict{workersWait, "its worker StatefulSet is being deleted"}
	case in.Leader.Size < 2:
		return workersVerdict{workersDelete, "a group of size 1 has no workers"}
	case in.living() == nil:
		return workersVerdict{workersDelete, "the worker StatefulSet is not this leader's"}
	case in.belonging() == in.rightful():
		return workersVerdict{Action: workersKeep}
	}
	return workersVerdict{Action: workersAdopt}
}

// rightful is whose the worker StatefulSet has to be.
func (in *workersInput) rightful() belonging {
	if in.Stay {
		return ofSet
	}
	return ofLeader
}

func start(in workersInput) workersVerdict {
	switch {
	case in.Leader.Size < 2:
		return workersVerdict{Action: workersKeep}
	case in.OnReady && !in.Leader.Ready:
		return workersVerdict{workersWait, "workers start when the leader is ready"}
	case in.NeedsDomain && in.Leader.Node == "":
		return workersVerdict{workersWait, "workers start when the leader has a node, whose domain they share"}
	}
	return workersVerdict{Action: workersCreate}
}

// workersAtGate decides about a worker StatefulSet that a gated leader finds. Keep
// means that it does not hold the leader back.
func workersAtGate(in workersInput) workersVerdict {
	switch {
	case in.Workers == nil, in.belonging() == ofLeader && !in.Workers.Deleting, in.takesOver():
		return workersVerdict{Action: workersKeep}
	case in.belonging() == ofSomebody:
		return conflict(in.Workers)
	case in.Workers.Deleting:
		return workersVerdict{workersWait, "the worker StatefulSet of the predecessor is being deleted"}
	case in.belonging() == ofPredecessor && in.LeaderAge < garbagePatience:
		return workersVerdict{workersWait, "the worker StatefulSet of the predecessor is garbage"}
	}
	return workersVerdict{workersDelete, "the worker StatefulSet is a predecessor's"}
}

// workersWithoutLeader decides about a worker StatefulSet whose leader is gone.
// While another leader is to come, it is for that leader to decide. What a leader
// owned is taken by garbage collection.
func workersWithoutLeader(in workersInput) workersVerdict {
	if in.Workers == nil || in.Workers.Deleting || in.Desired {
		return workersVerdict{Action: workersKeep}
	}
	switch in.belonging() {
	case ofSet, ofNobody:
		return workersVerdict{workersDelete, "the group is scaled away"}
	case ofLeader, ofPredecessor, ofSomebody:
	}
	return workersVerdict{Action: workersKeep}
}

func conflict(w *workerSet) workersVerdict {
	return workersVerdict{workersConflict, fmt.Sprintf("its controller is %s %s", w.Owner.Kind, w.Owner.Name)}
}
