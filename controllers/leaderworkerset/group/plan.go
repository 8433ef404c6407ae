package group

import (
	"fmt"
	"slices"
	"time"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// plan is what a reconcile of a group does: writes, in order, and then what is told.
// A write that fails ends it: the next reconcile plans anew.
type plan struct {
	Steps  []step
	Report Report
	// Tell is told once all steps are done, each text once per leader.
	Tell []event
	// After is when to look again if nothing happens before; zero is never.
	After time.Duration
	// Held says why a leader is held at its gate.
	Held gateVerdict
	// Judged is what is done about a failure of a living group.
	Judged restartVerdict
	// Err is a mistake that has to be seen, and tried again.
	Err error
}

func (p *plan) do(s step)    { p.Steps = append(p.Steps, s) }
func (p *plan) tell(e event) { p.Tell = append(p.Tell, e) }
func (p *plan) again(at time.Duration) {
	if at > 0 && (p.After == 0 || at < p.After) {
		p.After = at
	}
}

// planFor decides what to do about a group.
func planFor(o *observation) *plan {
	p := &plan{}
	switch {
	case o.isSetGone():
		p.withoutSet(o)
	case o.Leader == nil:
		p.withoutLeader(o)
	case o.Leader.Exhausted:
		p.exhausted(o)
	case o.Leader.Deleting:
		p.ending(o)
	case !o.Leader.Controlled:
		// Its StatefulSet is gone or without an owner, and the set will take it over.
	case o.Leader.Gated && o.Namesake != "":
		p.redraw(o)
	case o.Leader.Gated:
		p.gate(o)
	default:
		p.live(o)
		p.keepGang(o)
	}
	if !o.isSetGone() {
		p.tidyGang(o)
	}
	return p
}

// withoutSet: nothing is made any more; what ends, ends by the policy that the
// leader carries.
func (p *plan) withoutSet(o *observation) {
	p.release(o)
	if o.Leader != nil && o.Leader.Deleting {
		p.endWorkers(o)
	}
}

// withoutLeader: the workers of a lost leader go with it, or wait for the next one.
func (p *plan) withoutLeader(o *observation) {
	p.release(o)
	if v := workersWithoutLeader(o.workersInput()); v.Action == workersDelete {
		p.do(deleteWorkers{UID: o.Workers.UID, Why: v.Message})
	}
	if !o.isDesired() {
		p.deleteOrphans(o)
	}
}

// ending: the leader is being deleted, and its workers with it or after it.
func (p *plan) ending(o *observation) {
	p.release(o)
	p.endWorkers(o)
	p.watchOverdue(o)
}

func (p *plan) endWorkers(o *observation) {
	if v := workersOfEnding(o.workersInput()); v.Action == workersDelete {
		p.do(deleteWorkers{UID: o.Workers.UID, Why: v.Message})
	}
}

// watchOverdue reports pods that should be gone: nothing can take their place.
func (p *plan) watchOverdue(o *observation) {
	late, next := overdue(append(o.Living.members(), o.Living.left()...), o.Now)
	if !next.IsZero() {
		p.again(next.Sub(o.Now))
	}
	if len(late) == 0 {
		return
	}
	message := fmt.Sprintf("Group %s %s", o.Group.Index, describeLeft(late, o.Now))
	p.Report.Problem = &Problem{Reason: lwsv1.ReasonPredecessorTerminating, Message: message}
	p.tell(replacementDeferred(message))
}

// exhausted: the group is stopped, and stays so until it is recovered or not wanted
// any more.
func (p *plan) exhausted(o *observation) {
	switch decideExhausted(exhaustedInput{
		Recover:  o.Leader.Recover,
		Counted:  o.Set.Counted,
		Desired:  o.isDesired(),
		Outdated: o.isOutdated(),
	}) {
	case exhaustedRetain:
		p.stop(o)
	case exhaustedClear:
		entry := o.entry()
		p.Report.Recovery = &entry
	case exhaustedRecover:
		p.release(o)
		if !o.Leader.Deleting { // recovered before it was stopped
			p.do(deleteLeader{Leader: o.Leader.pod})
		}
		p.tell(groupRecovered(o.Group.Index, o.Leader.Name))
	case exhaustedCleanUp:
		p.release(o)
	}
}

// stop retains the pods that can be retained, and ends them.
func (p *plan) stop(o *observation) {
	for _, worker := range o.Living.Workers {
		if !worker.Deleting && !worker.Retained {
			p.do(retainPod{Pod: worker})
		}
	}
	if !o.Leader.Deleting {
		p.do(deleteLeader{Leader: o.Leader.pod})
	}
}

// release lets go of pods that are retained: workers first, so that their leader is
// the last of a group to go.
func (p *plan) release(o *observation) {
	for _, pods := range [][]pod{o.Living.Workers, o.Living.left()} {
		for _, one := range pods {
			if one.Retained {
				p.do(releasePod{Pod: one})
			}
		}
	}
	if o.Leader != nil && o.Leader.Retained {
		p.do(releasePod{Pod: o.Leader.pod})
	}
}

// gate: the leader is held until nothing of a predecessor is left and all is there
// that it needs.
func (p *plan) gate(o *observation) {
	workers := workersAtGate(o.workersInput())
	service := p.serviceOf(o)
	if o.Replaced.Key != "" && !o.Replaced.Stored && o.Leader.Controlled {
		p.do(annotateLeader{Key: lwsv1.ReplacesAnnotationKey, Value: o.Replaced.Key})
	}
	gang, why := decideGang(&o.Gang)
	p.Held = decideGate(gateInput{
		Controlled: o.Leader.Controlled,
		Desired:    o.isDesired(),
		Wanted:     o.isRevisionWanted(),
		Workers:    workers,
		Left:       o.leftAtGate(),
		Waits:      o.Replaced.waitsFor(o.Set.Immediate),
		Service:    service,
		Gang:       gang,
		GangWaits:  why,
		Now:        o.Now,
	})
	switch p.Held.Reason {
	case gateOpen:
		p.keepService(o, service)
		p.keepGang(o)
		p.do(liftGate{})
		if o.Noted.wasTold(topicDeferred) {
			p.tell(replacementAdmitted(o.Group.Index, o.Leader.Name))
		}
		p.keepWorkers(o)
	case gateConflict:
		p.conflict(o.nameTaken(service, fmt.Sprintf("Leader %s is held: %s", o.Leader.Name, p.Held.Message)))
	case gatePredecessor, gateService:
		p.clearWay(o, workers, service)
	case gateAdmission:
		p.replaceUnadmitted(o)
	case gateScheduling:
		p.reportNoGang(o)
	case gateOwner, gateScaledAway, gateRevision:
	}
}

// reportNoGang tells the set that its leader waits for what is not to be had.
func (p *plan) reportNoGang(o *observation) {
	if o.Gang.Unavailable == "" || o.Gang.Unread {
		return
	}
	p.Report.Problem = &Problem{Reason: lwsv1.ReasonFailedCreate, Message: fmt.Sprintf(
		"Leader %s is held, its PodGroup cannot be made: %s", o.Leader.Name, p.Held.Message)}
}

// clearWay ends what is left of predecessors and nothing else ends, and says what
// the leader waits for when that is more than a grace period.
func (p *plan) clearWay(o *observation, workers workersVerdict, service serviceVerdict) {
	if workers.Action == workersDelete {
		p.do(deleteWorkers{UID: o.Workers.UID, Why: workers.Message, Owner: o.Workers.Owner})
	}
	if service == serviceDelete {
		p.do(deleteService{UID: o.Service.UID})
	}
	if workers.Action == workersWait && !o.Workers.Deleting {
		p.again(o.Leader.Created.Add(garbagePatience).Sub(o.Now))
	}
	p.release(o)
	p.deleteOrphans(o)

	message := fmt.Sprintf("Leader %s %s", o.Leader.Name, p.Held.Message)
	late, next := overdue(o.leftAtGate(), o.Now)
	if !next.IsZero() {
		p.again(next.Sub(o.Now))
	}
	if len(late) > 0 {
		p.Report.Problem = &Problem{Reason: lwsv1.ReasonPredecessorTerminating, Message: message}
		p.tell(replacementDeferred(message))
	}
}

// leftAtGate are the pods that a gated leader waits for: those of predecessors, and
// those of the group that it replaces, which are for that group to end.
func (o *observation) leftAtGate() []pod {
	if o.Set.Immediate {
		return o.Living.left()
	}
	return slices.Concat(o.Living.left(), o.Replaced.Left)
}

func (p *plan) deleteOrphans(o *observation) {
	for _, orphan := range o.Living.Orphans {
		if !orphan.Deleting {
			p.do(deletePod{Pod: orphan})
		}
	}
}

// serviceOf is the verdict on the Service of the group, in view of what is remembered
// of its name.
func (p *plan) serviceOf(o *observation) serviceVerdict {
	v := decideService(o.Leader, o.Service)
	known, ok := o.Noted.taken[takenService]
	if v == serviceCreate && ok && o.Now.Before(known.until) {
		p.again(known.until.Sub(o.Now))
		return serviceConflict
	}
	return v
}

func (p *plan) keepService(o *observation, v serviceVerdict) {
	switch v {
	case serviceCreate:
		p.do(createService{})
	case serviceApply:
		p.do(applyService{})
	case serviceDelete:
		p.do(deleteService{UID: o.Service.UID})
	case serviceConflict:
		p.conflict(o.nameTaken(v, "the name of the group's Service is taken"))
	case serviceKeep, serviceWait:
	}
}

// nameTaken is what is said of a conflict. Of a Service that the cache does not show
// it is what its creation met, so that one conflict is told once.
func (o *observation) nameTaken(v serviceVerdict, text string) string {
	if known, ok := o.Noted.taken[takenService]; ok && v == serviceConflict && o.Service == nil {
		return known.message
	}
	return text
}

// conflictPause is how long an object in the way is left before it is looked for
// again: it has not the labels of the group, so its end wakes nobody.
const conflictPause = 10 * time.Second

func (p *plan) conflict(message string) {
	p.again(conflictPause)
	p.Report.Problem = conflictProblem(message)
	p.tell(nameConflict(message))
}
