package group

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
)

// step is one write of a plan. run is called in the order of the plan, and only if
// all steps before it are done.
type step interface {
	run(ctx context.Context, w *writer) error
}

// liftGate lets the leader be scheduled.
type liftGate struct{}

// annotateLeader sets, or removes, one of our annotations of the leader.
type annotateLeader struct {
	Key    string
	Value  string
	Remove bool
}

// deleteLeader ends the group: leader and workers at the same time.
type deleteLeader struct {
	Leader  pod
	Failure *failure // nil for a group that is stopped
}

// exhaustLeader marks the leader as that of an exhausted group and retains it.
type exhaustLeader struct{}

// retainPod keeps a pod from disappearing when it has ended, releasePod lets it.
type (
	retainPod  struct{ Pod pod }
	releasePod struct{ Pod pod }
)

// deletePod ends a pod that no controller will end.
type deletePod struct{ Pod pod }

// createWorkers makes the worker StatefulSet.
type createWorkers struct{}

// checkWorkers brings the worker StatefulSet back to what it has to be, if somebody
// changed it.
type checkWorkers struct{}

// adoptWorkers makes somebody the controller of the worker StatefulSet.
type adoptWorkers struct {
	UID   types.UID
	Owner owner
}

// deleteWorkers ends a worker StatefulSet and its pods.
type deleteWorkers struct {
	UID types.UID
	Why string
	// Owner is who is believed to be gone; that is made sure of.
	Owner owner
}

// createService makes the Service of the group, applyService brings it to what it
// has to be, deleteService removes that of a predecessor.
type (
	createService struct{}
	applyService  struct{}
	deleteService struct{ UID types.UID }
)
