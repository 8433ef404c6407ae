package harness

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// reasons are those that a condition may have, by type and status.
var reasons = map[string]map[metav1.ConditionStatus][]string{
	lwsv1.ConditionAvailable: {
		metav1.ConditionTrue:  {lwsv1.ReasonAllGroupsReady},
		metav1.ConditionFalse: {lwsv1.ReasonGroupsNotReady, lwsv1.ReasonReplicaRestartBudgetExceeded},
	},
	lwsv1.ConditionProgressing: {
		metav1.ConditionTrue: {
			lwsv1.ReasonGroupsProgressing, lwsv1.ReasonGroupsUpdating, lwsv1.ReasonGroupUnschedulable,
			lwsv1.ReasonNameConflict, lwsv1.ReasonFailedCreate, lwsv1.ReasonPredecessorTerminating,
		},
		metav1.ConditionFalse: {lwsv1.ReasonAllGroupsReady, lwsv1.ReasonReplicaRestartBudgetExceeded},
	},
	lwsv1.ConditionUpdateInProgress: {
		metav1.ConditionTrue:  {lwsv1.ReasonGroupsUpdating},
		metav1.ConditionFalse: {lwsv1.ReasonNoUpdate, lwsv1.ReasonReplicaRestartBudgetExceeded},
	},
	lwsv1.ConditionDegraded: {
		metav1.ConditionTrue:  {lwsv1.ReasonReplicaRestartBudgetExceeded},
		metav1.ConditionFalse: {lwsv1.ReasonAsExpected},
	},
}

// StatusViolations judges every status that a set ever had.
func (h History) StatusViolations(set string) []string {
	var violations []string
	var before *lwsv1.LeaderWorkerSet
	for _, state := range h.OfSet(set) {
		if state.Gone {
			before = nil
			continue
		}
		at := fmt.Sprintf("%s resourceVersion %s: ", set, state.ResourceVersion)
		for _, text := range judge(before, state.LeaderWorkerSet) {
			violations = append(violations, at+text)
		}
		before = state.LeaderWorkerSet
		if before.Status.ObservedGeneration == 0 {
			before = nil
		}
	}
	return violations
}

// judge looks at one status, and at the one before it, nil for the first.
func judge(before, now *lwsv1.LeaderWorkerSet) []string {
	status := &now.Status
	if before == nil && status.ObservedGeneration == 0 && len(status.Conditions) == 0 {
		return nil // nobody has looked at the set yet
	}
	var violations []string
	for _, conditionType := range []string{
		lwsv1.ConditionAvailable, lwsv1.ConditionProgressing, lwsv1.ConditionUpdateInProgress, lwsv1.ConditionDegraded,
	} {
		condition := meta.FindStatusCondition(status.Conditions, conditionType)
		if condition == nil {
			violations = append(violations, "there is no condition "+conditionType)
			continue
		}
		violations = append(violations, judgeCondition(condition, status.ObservedGeneration)...)
	}
	violations = append(violations, judgeWhole(now)...)
	if before != nil {
		violations = append(violations, judgeStep(before, now)...)
	}
	return violations
}

func judgeCondition(c *metav1.Condition, generation int64) []string {
	var violations []string
	if !slices.Contains(reasons[c.Type][c.Status], c.Reason) {
		violations = append(violations, fmt.Sprintf("%s=%s has the reason %s", c.Type, c.Status, c.Reason))
	}
	if c.Message == "" {
		violations = append(violations, fmt.Sprintf("%s=%s has no message", c.Type, c.Status))
	}
	if c.ObservedGeneration != generation {
		violations = append(violations, fmt.Sprintf("%s is of generation %d in a status of generation %d", c.Type, c.ObservedGeneration, generation))
	}
	return violations
}

// judgeWhole looks at what conditions and numbers say together.
func judgeWhole(set *lwsv1.LeaderWorkerSet) []string {
	status := &set.Status
	is := func(conditionType string) bool { return meta.IsStatusConditionTrue(status.Conditions, conditionType) }
	var violations []string
	if is(lwsv1.ConditionAvailable) && is(lwsv1.ConditionProgressing) {
		violations = append(violations, "Available and Progressing are both True")
	}
	if is(lwsv1.ConditionAvailable) && is(lwsv1.ConditionUpdateInProgress) {
		violations = append(violations, "Available and UpdateInProgress are both True")
	}
	if status.ObservedGeneration > set.Generation {
		violations = append(violations, fmt.Sprintf("generation %d of %d is observed", status.ObservedGeneration, set.Generation))
	}
	if is(lwsv1.ConditionAvailable) && status.ObservedGeneration == set.Generation && status.ReadyReplicas < lwsv1.Replicas(set) {
		violations = append(violations, fmt.Sprintf("Available with %d of %d groups ready", status.ReadyReplicas, lwsv1.Replicas(set)))
	}
	if status.ReadyReplicas > status.Replicas || status.UpdatedReplicas > status.Replicas {
		violations = append(violations, fmt.Sprintf("%d ready and %d updated of %d existing groups", status.ReadyReplicas, status.UpdatedReplicas, status.Replicas))
	}
	named := slices.ContainsFunc(status.Conditions, func(c metav1.Condition) bool { return c.Reason == status.Summary })
	if !named {
		violations = append(violations, fmt.Sprintf("summary %q is the reason of no condition", status.Summary))
	}
	return violations
}

// judgeStep looks at what one write changed.
func judgeStep(before, now *lwsv1.LeaderWorkerSet) []string {
	var violations []string
	if now.Status.ObservedGeneration < before.Status.ObservedGeneration {
		violations = append(violations, fmt.Sprintf("observedGeneration goes back from %d to %d",
			before.Status.ObservedGeneration, now.Status.ObservedGeneration))
	}
	if now.Status.UpdateRevision != before.Status.UpdateRevision && now.Status.ObservedGeneration == before.Status.ObservedGeneration {
		violations = append(violations, fmt.Sprintf("updateRevision changes from %s to %s within generation %d",
			before.Status.UpdateRevision, now.Status.UpdateRevision, now.Status.ObservedGeneration))
	}
	for _, c := range now.Status.Conditions {
		old := meta.FindStatusCondition(before.Status.Conditions, c.Type)
		if old == nil {
			continue
		}
		if old.Status == c.Status && !old.LastTransitionTime.Equal(&c.LastTransitionTime) {
			violations = append(violations, fmt.Sprintf("lastTransitionTime of %s moves while it stays %s", c.Type, c.Status))
		}
		if old.Status != c.Status && c.LastTransitionTime.Before(&old.LastTransitionTime) {
			violations = append(violations, fmt.Sprintf("lastTransitionTime of %s goes back", c.Type))
		}
	}
	return violations
}
