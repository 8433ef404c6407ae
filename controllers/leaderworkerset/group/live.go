package group

import (
	"fmt"
	"reflect"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// live: the leader is past its gate.
func (p *plan) live(o *observation) {
	p.keepAnnotations(o)
	if o.isTakenOver() {
		p.takeOver(o)
	}
	if marked := o.isMarked(); marked != o.Leader.MarkedNone {
		// After the baseline: a manager that ends in between takes it again.
		p.do(annotateLeader{Key: lwsv1.RestartPolicyAnnotationKey, Value: string(lwsv1.NoneRestartPolicy), Remove: !marked})
	}
	if o.Leader.isTerminal() && !o.Group.HasKey() {
		// Its StatefulSet deletes it and makes the next one: a recreation that is not
		// ours.
		return
	}
	if p.judge(o) {
		return
	}
	if o.Leader.isTerminal() {
		// A ReplicaSet makes the next one and leaves this one to us, whatever the policy.
		p.do(deleteLeader{Leader: o.Leader.pod})
		return
	}
	p.keepService(o, p.serviceOf(o))
	p.keepWorkers(o)
	p.keepReadiness(o)
	p.keepMemory(o)
}

// keepAnnotations brings the leader's annotations in line with the set: its
// termination policy, so that it holds after the set is gone, and no request for a
// recovery that there is no need for.
func (p *plan) keepAnnotations(o *observation) {
	if o.Leader.Recover {
		p.do(annotateLeader{Key: lwsv1.RecoverAnnotationKey, Remove: true})
	}
	if o.Set.Parallel != o.Leader.Parallel {
		p.do(annotateLeader{
			Key:    lwsv1.PodTerminationPolicyAnnotationKey,
			Value:  string(lwsv1.ParallelPodTermination),
			Remove: !o.Set.Parallel,
		})
	}
}

// takeOver makes what exists the baseline of a group whose policy was None.
func (p *plan) takeOver(o *observation) {
	baseline := remember(&o.Living)
	o.Losses = nil
	before := o.Leader.Memory
	o.Leader.Memory = baseline
	if reflect.DeepEqual(before, baseline) || before == nil && !baseline.wasWhole() && len(baseline.Restarts) == 0 {
		return
	}
	p.do(annotateLeader{Key: lwsv1.GroupMembersAnnotationKey, Value: baseline.String()})
}

// judge decides about a failure, and says whether the group ends or is about to.
func (p *plan) judge(o *observation) bool {
	m := o.memoryNow()
	f := failureOf(&o.Living, m, o.Losses)
	if f == nil && o.Leader.isTerminal() {
		f = endOf(&o.Leader.pod)
	}
	v := decideRestart(restartInput{
		Policy:   o.Set.Policy,
		Failure:  f,
		WasWhole: m.wasWhole(),
		Pending:  pendingMember(&o.Living, m),
		Leader:   o.Leader.UID,
		Created:  o.Leader.Created,
		Budget:   o.Set.Budget,
		Now:      o.Now,
	})
	p.Judged = v
	index := o.Group.Index
	switch v.Action {
	case restartNone:
		return false
	case restartSkip:
		if v.Unschedulable != nil {
			p.tell(groupUnschedulable(index, v.Message))
		}
		return false
	case restartDefer:
		p.again(v.After)
		p.tell(restartBackoff(index, o.Leader.UID, v, o.Set.Budget.Count.Restarts))
	case restartCount:
		p.Report.Restart = &Restart{Entry: o.entry(), Leader: o.Leader.UID}
	case restartRecreate:
		p.do(deleteLeader{Leader: o.Leader.pod, Failure: f})
		p.tell(recreateGroup(index, v.Message))
	case restartExhaust:
		p.do(exhaustLeader{})
		p.tell(budgetExceeded(index, v.Message))
		p.stop(o)
	}
	return true
}

// keepWorkers brings the worker StatefulSet to what it has to be.
func (p *plan) keepWorkers(o *observation) {
	in := o.workersInput()
	switch v := workersOfLiving(in); v.Action {
	case workersKeep:
		if o.Workers != nil && o.workers != nil {
			p.do(checkWorkers{})
		}
	case workersWait:
	case workersCreate:
		p.createWorkers(o)
	case workersAdopt:
		p.do(adoptWorkers{UID: o.Workers.UID, Owner: o.rightfulOwner()})
	case workersDelete:
		p.do(deleteWorkers{UID: o.Workers.UID, Why: v.Message, Owner: o.Workers.Owner})
	case workersConflict:
		p.conflict("the name of the worker StatefulSet is taken: " + v.Message)
	}
}

func (p *plan) createWorkers(o *observation) {
	if known, ok := o.Noted.taken[takenWorkers]; ok && o.Now.Before(known.until) {
		p.Report.Problem = conflictProblem(known.message)
		p.again(known.until.Sub(o.Now))
		return
	}
	if o.Topology != "" && o.Domain == "" {
		p.Err = fmt.Errorf("node %s of leader %s does not have the label %s, whose value its workers are to share",
			o.Leader.Node, o.Leader.Name, o.Topology)
		p.Report.Problem = &Problem{Reason: lwsv1.ReasonFailedCreate, Message: p.Err.Error()}
		p.tell(failedCreate(p.Err.Error()))
		return
	}
	p.do(createWorkers{})
}

// keepMemory writes down what the group consists of when it is first whole. With
// restart policy None there is no memory, and one from before means nothing.
func (p *plan) keepMemory(o *observation) {
	switch m := o.Leader.Memory; {
	case o.isNone():
		if m != nil {
			p.do(annotateLeader{Key: lwsv1.GroupMembersAnnotationKey, Remove: true})
		}
	case !m.wasWhole():
		if o.Living.isWhole() {
			p.do(annotateLeader{Key: lwsv1.GroupMembersAnnotationKey, Value: remember(&o.Living).String()})
		}
	default:
		if raised, changed := m.resized(&o.Living); changed {
			p.do(annotateLeader{Key: lwsv1.GroupMembersAnnotationKey, Value: raised.String()})
		}
	}
}

func conflictProblem(message string) *Problem {
	return &Problem{Reason: lwsv1.ReasonNameConflict, Message: message}
}
