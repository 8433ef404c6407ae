package group

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// gateReason is why a leader is held at its gate.
type gateReason string

const (
	gateOpen        gateReason = "Open"
	gateOwner       gateReason = "Owner"       // its owners are not the set's
	gateScaledAway  gateReason = "ScaledAway"  // the set does not want the group
	gateRevision    gateReason = "Revision"    // the set does not want its revision here
	gateConflict    gateReason = "Conflict"    // a name that the group needs is taken
	gatePredecessor gateReason = "Predecessor" // something of its predecessor is left
	gateService     gateReason = "Service"     // its Service is not there yet
	gateScheduling  gateReason = "Scheduling"  // its scheduling objects cannot be made yet
	gateAdmission   gateReason = "Admission"   // it refers to other scheduling objects
)

// gateInput is all that the decision about a gated leader is made from.
type gateInput struct {
	Controlled bool
	Desired    bool
	// Wanted: the set wants the leader's revision at its index.
	Wanted bool
	// Workers is the verdict on the worker StatefulSet that is there already.
	Workers workersVerdict
	// Left are the pods of predecessors, and of the group that is replaced.
	Left []pod
	// Waits says what else of the group that is replaced is waited for.
	Waits string
	// Service is the verdict on the group's own Service.
	Service serviceVerdict
	// Gang is the verdict on the group's scheduling objects, GangWaits what for.
	Gang      gangVerdict
	GangWaits string
	Now       time.Time
}

// gateVerdict says whether a leader is admitted, and if not, why.
type gateVerdict struct {
	Reason  gateReason
	Message string
}

// decideGate decides about a leader that is held by the gate. Nothing of a
// predecessor may be left, so that no two generations of a group run at the same
// time.
func decideGate(in gateInput) gateVerdict {
	switch {
	case !in.Controlled:
		return gateVerdict{gateOwner, "it belongs to nothing that makes leaders of the set"}
	case !in.Desired:
		return gateVerdict{gateScaledAway, "the group is scaled away"}
	case !in.Wanted:
		return gateVerdict{gateRevision, "the set does not want its revision at this index"}
	case in.Workers.Action == workersConflict:
		return gateVerdict{gateConflict, "the name of the worker StatefulSet is taken: " + in.Workers.Message}
	case in.Service == serviceConflict:
		return gateVerdict{gateConflict, "the name of the group's Service is taken"}
	case in.Waits != "":
		return gateVerdict{gatePredecessor, in.Waits}
	case len(in.Left) > 0:
		return gateVerdict{gatePredecessor, describeLeft(in.Left, in.Now)}
	case in.Workers.Action != workersKeep:
		return gateVerdict{gatePredecessor, in.Workers.Message}
	case in.Service.isPredecessors():
		return gateVerdict{gateService, "the Service of the predecessor is still there"}
	case in.Gang == gangReplace:
		return gateVerdict{gateAdmission, in.GangWaits}
	case in.Gang == gangAwaited:
		return gateVerdict{gateScheduling, in.GangWaits}
	}
	return gateVerdict{Reason: gateOpen}
}

// describeLeft says which pods are waited for, where they are, and what frees those
// that are overdue.
func describeLeft(left []pod, now time.Time) string {
	const most = 3
	parts := make([]string, 0, most+1)
	for i := range left {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(left)-most))
			break
		}
		parts = append(parts, describeEnding(&left[i], now))
	}
	return "waits for " + strings.Join(parts, ", ")
}

func describeEnding(p *pod, now time.Time) string {
	text := "pod " + p.Name
	if p.Node != "" {
		text += " on node " + p.Node
	}
	switch {
	case !p.Deleting:
		return text
	case !isOverdue(p, now):
		return text + ", which is terminating"
	case len(p.HeldBy) > 0 && (p.isTerminal() || p.Node == ""):
		return text + ", which is held by the finalizer " + strings.Join(p.HeldBy, " and ")
	case p.Node != "":
		return text + fmt.Sprintf(", which has not terminated in its grace period: it goes when the node answers, "+
			"when Node %s is deleted, or when it gets the taint %s", p.Node, corev1.TaintNodeOutOfService)
	}
	return text + ", which has not terminated in its grace period"
}

// slack is how much longer than its grace period a pod may take to go before that
// is worth a word: node agents and garbage collection need some time.
const slack = 20 * time.Second

func isOverdue(p *pod, now time.Time) bool {
	return p.isWaitedFor() && !p.Deadline.Add(slack).After(now)
}

// isWaitedFor: the pod is going, and somebody has yet to do something about it. A
// leader that has terminated and whose object is there until its workers are gone is
// not what is waited for.
func (p *pod) isWaitedFor() bool {
	return p.Deleting && (!p.isTerminal() || len(p.HeldBy) > 0)
}

// overdue are the pods that should be gone, and when the next one will be overdue,
// zero if none will.
func overdue(pods []pod, now time.Time) (late []pod, next time.Time) {
	for _, p := range pods {
		switch {
		case isOverdue(&p, now):
			late = append(late, p)
		case p.isWaitedFor() && (next.IsZero() || p.Deadline.Before(next)):
			next = p.Deadline
		}
	}
	if !next.IsZero() {
		next = next.Add(slack)
	}
	return late, next
}
