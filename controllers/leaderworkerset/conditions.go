package leaderworkerset

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// obstacle is what keeps desired groups from being there, with the reason and
// message of the Progressing condition while it lasts. An obstacle without a
// reason is a refused update: it leaves the reason to what the groups do and
// only gives the message.
type obstacle struct {
	Reason  string
	Message string
}

// phase is how far the set is from what its spec asks for.
type phase int

const (
	// moving: some desired group is not there yet and something will change that.
	moving phase = iota
	// reached: every desired group is ready and, at or above the partition, of the
	// update revision.
	reached
	// stalled: what is missing are groups that spent their restart budget.
	stalled
)

// progressOf decides the phase that the four conditions agree on. An exhausted
// group that a rollout is going to replace is not stalled.
func progressOf(t tally) phase {
	switch {
	case t.Settled == t.Desired:
		return reached
	case t.DesiredExhausted > 0 && t.Settled+t.DesiredExhausted == t.Desired && !t.isUpdating():
		return stalled
	default:
		return moving
	}
}

// messageLimit is what the schema of conditions accepts as a message.
const messageLimit = 32768

// setConditions brings the four conditions of every set into line with t and
// the worst obstacle, nil when there is none. Conditions of other types stay.
func setConditions(conditions *[]metav1.Condition, t tally, worst *obstacle, generation int64, now metav1.Time) {
	p := progressOf(t)
	for _, condition := range []metav1.Condition{
		availableCondition(p, t),
		progressingCondition(p, t, worst),
		updateInProgressCondition(p, t),
		degradedCondition(t),
	} {
		setCondition(conditions, condition, generation, now)
	}
}

func setCondition(conditions *[]metav1.Condition, condition metav1.Condition, generation int64, now metav1.Time) {
	condition.Message = shortened(condition.Message, messageLimit)
	condition.ObservedGeneration = generation
	condition.LastTransitionTime = now
	meta.SetStatusCondition(conditions, condition)
}

func availableCondition(p phase, t tally) metav1.Condition {
	switch p {
	case reached:
		return conditionTrue(lwsv1.ConditionAvailable, lwsv1.ReasonAllGroupsReady, allReadyMessage(t))
	case stalled:
		return conditionFalse(lwsv1.ConditionAvailable, lwsv1.ReasonReplicaRestartBudgetExceeded, exhaustedMessage(t))
	default:
		return conditionFalse(lwsv1.ConditionAvailable, lwsv1.ReasonGroupsNotReady, settledMessage(t))
	}
}

func progressingCondition(p phase, t tally, worst *obstacle) metav1.Condition {
	switch p {
	case reached:
		return conditionFalse(lwsv1.ConditionProgressing, lwsv1.ReasonAllGroupsReady, allReadyMessage(t))
	case stalled:
		return conditionFalse(lwsv1.ConditionProgressing, lwsv1.ReasonReplicaRestartBudgetExceeded, exhaustedMessage(t))
	case moving:
	}
	reason, message := lwsv1.ReasonGroupsProgressing, settledMessage(t)
	if t.isUpdating() {
		reason, message = lwsv1.ReasonGroupsUpdating, outdatedMessage(t)
	}
	if worst != nil {
		message = worst.Message
		if worst.Reason != "" {
			reason = worst.Reason
		}
	}
	return conditionTrue(lwsv1.ConditionProgressing, reason, message)
}

func updateInProgressCondition(p phase, t tally) metav1.Condition {
	switch {
	case t.isUpdating():
		return conditionTrue(lwsv1.ConditionUpdateInProgress, lwsv1.ReasonGroupsUpdating, outdatedMessage(t))
	case p == stalled:
		return conditionFalse(lwsv1.ConditionUpdateInProgress, lwsv1.ReasonReplicaRestartBudgetExceeded, exhaustedMessage(t))
	default:
		return conditionFalse(lwsv1.ConditionUpdateInProgress, lwsv1.ReasonNoUpdate,
			"No group that is to be updated is of an older revision")
	}
}

func degradedCondition(t tally) metav1.Condition {
	if t.Exhausted > 0 {
		return conditionTrue(lwsv1.ConditionDegraded, lwsv1.ReasonReplicaRestartBudgetExceeded, exhaustedMessage(t))
	}
	return conditionFalse(lwsv1.ConditionDegraded, lwsv1.ReasonAsExpected, "No group has spent its restart budget")
}

func conditionTrue(conditionType, reason, message string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: reason, Message: message}
}

func conditionFalse(conditionType, reason, message string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse, Reason: reason, Message: message}
}

func allReadyMessage(t tally) string {
	if t.Desired == 0 {
		return "No groups are wanted"
	}
	return "All groups are ready"
}

func settledMessage(t tally) string {
	return fmt.Sprintf("%d of %s ready and of the revision they are to have", t.Settled, groupsAre(t.Desired))
}

func outdatedMessage(t tally) string {
	if t.Outdated == 0 {
		return settledMessage(t)
	}
	return fmt.Sprintf("%d of %s still of an older revision", t.Outdated, groupsAre(t.Desired))
}

func exhaustedMessage(t tally) string {
	return fmt.Sprintf("%d of %s stopped: the restart budget is spent; the annotation %s=true on the leader (%s) starts a group again",
		t.Exhausted, groupsAre(max(t.Desired, t.Exhausted)), lwsv1.RecoverAnnotationKey, t.ExhaustedLeader)
}

func groupsAre(n int32) string {
	if n == 1 {
		return "1 group is"
	}
	return fmt.Sprintf("%d groups are", n)
}

// summaryOf is the reason of the condition that matters now: what a user must
// act on before what only takes time.
func summaryOf(conditions []metav1.Condition) string {
	for _, conditionType := range []string{lwsv1.ConditionDegraded, lwsv1.ConditionProgressing, lwsv1.ConditionAvailable} {
		if c := meta.FindStatusCondition(conditions, conditionType); c != nil && c.Status == metav1.ConditionTrue {
			return c.Reason
		}
	}
	return ""
}
