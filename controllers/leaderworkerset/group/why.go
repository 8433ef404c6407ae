package group

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// whyOf is what a group in a state waits for.
func whyOf(o *observation, p *plan, state State) string {
	switch state {
	case Ready:
		return ""
	case Exhausted:
		return o.whyExhausted(p)
	case Gated:
		return o.whyGated(p)
	case Failed:
		return o.whyFailed(&p.Judged)
	case Terminating:
		return o.whyTerminating()
	case Missing:
		return o.whyMissing()
	case Unschedulable, Starting:
	}
	return o.whyStarting(p)
}

func (o *observation) whyExhausted(p *plan) string {
	name := o.Leader.Name
	switch {
	case !o.Leader.Exhausted:
		return p.Judged.Message + "; lws-manager stops it now"
	case o.isSetGone() || !o.isDesired() || o.isOutdated():
		return "the set has no use for it any more: lws-manager lets go of its pods"
	case o.Leader.Recover:
		return "lws-manager starts it again, as asked for on its leader " + name
	}
	return fmt.Sprintf("its restart budget is spent, it was recreated %s; to start it again: kubectl annotate pod %s -n %s %s=%s",
		times(o.Set.Budget.Count.Restarts), name, o.Group.Namespace, lwsv1.RecoverAnnotationKey, trueValue)
}

func (o *observation) whyGated(p *plan) string {
	switch {
	case o.isSetGone():
		return "the set is being deleted"
	case p.Held.Reason == "":
		return "the object that makes its leader is gone, or without an owner"
	case p.Held.Reason == gateOpen:
		return "nothing holds its leader back: lws-manager lifts the gate, if it runs"
	case p.Held.Reason == gateRevision:
		return "the set does not want the revision of its leader at this index; a leader of the right one replaces it"
	}
	return p.Held.Message
}

func (o *observation) whyFailed(v *restartVerdict) string {
	switch v.Action {
	case restartDefer:
		return fmt.Sprintf("%s; it was recreated %s, and its backoff ends in %s, at %s", v.Message, times(o.Set.Budget.Count.Restarts),
			v.After.Round(time.Second), o.Now.Add(v.After).UTC().Format(time.RFC3339))
	case restartCount, restartRecreate:
		return v.Message + "; lws-manager recreates the group now"
	case restartNone, restartSkip, restartExhaust:
	}
	return fmt.Sprintf("its leader %s has ended (%s), and is replaced", o.Leader.Name, o.Leader.Phase)
}

func (o *observation) whyTerminating() string {
	going := slices.DeleteFunc(append(o.Living.members(), o.Living.left()...), func(p pod) bool { return !p.isWaitedFor() })
	if late, _ := overdue(going, o.Now); len(late) > 0 {
		going = late
	}
	if len(going) == 0 {
		return "its pods have terminated, and are about to go"
	}
	return describeLeft(going, o.Now)
}

func (o *observation) whyMissing() string {
	if left := append(slices.Clone(o.Living.Workers), o.Living.left()...); len(left) > 0 {
		return "its leader is gone; left are " + strings.TrimPrefix(describeLeft(left, o.Now), "waits for ")
	}
	return "its leader does not exist yet"
}

// whyStarting names what holds a group up that is past its gate: what nobody will
// change before pods that only take time.
func (o *observation) whyStarting(p *plan) string {
	switch problem := p.Report.Problem; {
	case problem != nil:
		return problem.Message
	case p.Judged.Action == restartSkip:
		return p.Judged.Message
	}
	if held := o.unschedulableMember(); held != nil {
		return fmt.Sprintf("pod %s cannot be scheduled: %s", held.Name, held.Scheduler)
	}
	members := o.Living.members()
	for i := range members {
		if text := o.whyNotReady(&members[i]); text != "" {
			return text
		}
	}
	if !o.isSetGone() && o.Workers == nil {
		if v := workersOfLiving(o.workersInput()); v.Message != "" {
			return v.Message
		}
	}
	if missing := int(o.Leader.Size) - len(members); missing > 0 {
		return fmt.Sprintf("%d of its %d pods do not exist yet", missing, o.Leader.Size)
	}
	return "its worker StatefulSet does not yet count all workers as available"
}

// whyNotReady is what a pod waits for, empty if it is ready.
func (o *observation) whyNotReady(p *pod) string {
	object := o.pods[p.UID]
	if object == nil || o.isPodReady(object) && !p.Deleting {
		return ""
	}
	text := "pod " + p.Name
	if p.Node != "" {
		text += " on node " + p.Node
	}
	switch {
	case p.Deleting:
		return text + " is terminating"
	case p.Scheduling == heldByGate:
		return text + " is held by the scheduling gate " + gatesOf(object)
	case p.Node == "":
		return text + " has no node yet"
	}
	if container := waitingContainer(object); container != "" {
		return text + " is not ready: " + container
	}
	if p.Phase == corev1.PodRunning {
		return text + " runs and is not ready"
	}
	return text + " is starting"
}

func gatesOf(p *corev1.Pod) string {
	names := make([]string, 0, len(p.Spec.SchedulingGates))
	for _, gate := range p.Spec.SchedulingGates {
		names = append(names, gate.Name)
	}
	return strings.Join(names, " and ")
}

// waitingContainer is the first container that does not run, and why, empty if all do.
func waitingContainer(p *corev1.Pod) string {
	for _, status := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		waiting := status.State.Waiting
		if waiting == nil || waiting.Reason == "" || waiting.Reason == "PodInitializing" {
			continue
		}
		text := fmt.Sprintf("container %s is in %s", status.Name, waiting.Reason)
		if waiting.Message != "" {
			text += ": " + waiting.Message
		}
		return text
	}
	return ""
}

// notReadySince is when the first pod of the group that is not ready was made, or
// ceased to be ready.
func (o *observation) notReadySince() time.Time {
	var since time.Time
	if o.Leader == nil {
		return since
	}
	for _, p := range o.Living.members() {
		object := o.pods[p.UID]
		if object == nil || o.isPodReady(object) && !p.Deleting {
			continue
		}
		at := p.Created
		if last := condition(object, corev1.PodReady).LastTransitionTime; last.After(at) {
			at = last.Time
		}
		if since.IsZero() || at.Before(since) {
			since = at
		}
	}
	return since
}

// isPodReady says whether a pod itself is ready. The condition of a leader with the
// readiness gate is about its workers as well.
func (o *observation) isPodReady(p *corev1.Pod) bool {
	kind := corev1.PodReady
	if o.Leader.HasReadinessGate && p.UID == o.Leader.UID {
		kind = corev1.ContainersReady
	}
	return p.Status.Phase == corev1.PodRunning && isConditionTrue(p, kind)
}

func times(n int32) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
