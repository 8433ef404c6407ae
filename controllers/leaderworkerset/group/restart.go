package group

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// restartAction is what is done about a failure.
type restartAction string

const (
	// restartNone: there is no failure, or the policy leaves it to Kubernetes.
	restartNone restartAction = "None"
	// restartSkip: the group has not started yet; Kubernetes repairs it.
	restartSkip restartAction = "Skip"
	// restartDefer: the group has not existed for as long as its backoff asks.
	restartDefer restartAction = "Defer"
	// restartCount: the set has to count the recreation first.
	restartCount restartAction = "Count"
	// restartRecreate: the leader is deleted.
	restartRecreate restartAction = "Recreate"
	// restartExhaust: the budget is spent; the group is stopped and retained.
	restartExhaust restartAction = "Exhaust"
)

// restartBudget is what limits the recreations of a group.
type restartBudget struct {
	// Limited: Limit is the most recreations, 0 included.
	Limited bool
	Limit   int32
	// BacksOff: a group has to exist for Base·2^count, at most Cap.
	BacksOff bool
	Base     time.Duration
	Cap      time.Duration
	// Count is what was counted so far, with the leader that it was last for.
	Count Count
}

func (b *restartBudget) counts() bool {
	return b.Limited || b.BacksOff
}

// restartInput is all that the decision about a failure is made from.
type restartInput struct {
	Policy  lwsv1.RestartPolicyType
	Failure *failure
	// WasWhole: the group has been whole.
	WasWhole bool
	// Pending is a member of those that it had when it was whole, or any member if
	// it never was, that is Pending now; nil when none is.
	Pending *pod
	Leader  types.UID
	Created time.Time // when the leader was created
	Budget  restartBudget
	Now     time.Time
}

// restartVerdict is what is done about a failure and why.
type restartVerdict struct {
	Action  restartAction
	Message string
	// After is how long a recreation is deferred.
	After time.Duration
	// Unschedulable is the member that a skipped recreation waits for, if the
	// scheduler cannot place it.
	Unschedulable *pod
}

// decideRestart decides what is done about a failure. A group whose recreation was
// counted already is recreated, whatever happened to budget and backoff since.
func decideRestart(in restartInput) restartVerdict {
	switch {
	case in.Failure == nil || in.Policy == lwsv1.NoneRestartPolicy:
		return restartVerdict{Action: restartNone}
	case in.Policy == lwsv1.RecreateGroupAfterStart && (!in.WasWhole || in.Pending != nil):
		return skip(in)
	case !in.Budget.counts() || in.Budget.Count.Leader == in.Leader:
		return restartVerdict{Action: restartRecreate, Message: in.Failure.Message}
	case in.Budget.Limited && in.Budget.Count.Restarts >= in.Budget.Limit:
		return restartVerdict{
			Action: restartExhaust,
			Message: fmt.Sprintf("%s, and the group was recreated %d times with a maximum of %d",
				in.Failure.Message, in.Budget.Count.Restarts, in.Budget.Limit),
		}
	}
	if wait := in.remaining(); wait > 0 {
		return restartVerdict{Action: restartDefer, Message: in.Failure.Message, After: wait}
	}
	return restartVerdict{Action: restartCount, Message: in.Failure.Message}
}

func skip(in restartInput) restartVerdict {
	v := restartVerdict{Action: restartSkip}
	switch {
	case in.Pending == nil:
		v.Message = in.Failure.Message + " before all pods of the group had started"
	case in.Pending.Scheduling == unschedulable:
		v.Unschedulable = in.Pending
		v.Message = fmt.Sprintf("%s while pod %s cannot be scheduled: %s",
			in.Failure.Message, in.Pending.Name, in.Pending.Scheduler)
	case in.Pending.Scheduling == heldByGate:
		v.Message = fmt.Sprintf("%s while pod %s is held by a scheduling gate", in.Failure.Message, in.Pending.Name)
	default:
		v.Message = fmt.Sprintf("%s while pod %s is starting", in.Failure.Message, in.Pending.Name)
	}
	return v
}

// remaining is how long the backoff still defers a recreation. The API server's clock,
// which the creation is by, may be ahead of ours.
func (in *restartInput) remaining() time.Duration {
	if !in.Budget.BacksOff {
		return 0
	}
	delay := in.Budget.delay()
	return min(delay, in.Created.Add(delay).Sub(in.Now))
}

// delay is how long a group has to exist before it is recreated:
//
//	base 10 s, cap 300 s: 10, 20, 40, 80, 160, 300, 300 …
func (b *restartBudget) delay() time.Duration {
	delay := b.Base
	for range b.Count.Restarts {
		if delay >= b.Cap/2+1 {
			return b.Cap
		}
		delay *= 2
	}
	return min(delay, b.Cap)
}

// pendingMember is the member that a recreation with RecreateGroupAfterStart waits
// for: one that the scheduler cannot place before others.
func pendingMember(g *generation, m *memory) *pod {
	var found *pod
	members := g.members()
	for i := range members {
		p := &members[i]
		if !p.isPending() || m.wasWhole() && !m.had(p) {
			continue
		}
		if p.Scheduling == unschedulable {
			return p
		}
		if found == nil {
			found = p
		}
	}
	return found
}
