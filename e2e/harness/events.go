package harness

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// transitionReasons are the events of which there is one for each transition of a
// condition.
var transitionReasons = map[string]string{
	lwsv1.ReasonGroupsProgressing: lwsv1.ConditionProgressing,
	lwsv1.ReasonGroupsUpdating:    lwsv1.ConditionUpdateInProgress,
	lwsv1.ReasonAllGroupsReady:    lwsv1.ConditionAvailable,
}

// EventViolations judges how often things were told: a transition once, a revision
// once.
func (h History) EventViolations(set string) []string {
	var violations []string
	told := map[string]int{}
	events := h.EventsOf(set)
	for _, event := range events {
		told[event.Reason] += event.Count
	}
	for reason, conditionType := range transitionReasons {
		if times := h.transitions(set, conditionType, reason); told[reason] > times {
			violations = append(violations, fmt.Sprintf("%s was told %d times about %d transitions of %s", reason, told[reason], times, conditionType))
		}
	}
	if changes := h.revisionChanges(set); told[lwsv1.ReasonCreatingRevision] > changes {
		violations = append(violations, fmt.Sprintf("CreatingRevision was told %d times about %d changes of the revision", told[lwsv1.ReasonCreatingRevision], changes))
	}
	return violations
}

// transitions counts how often a condition became True for a reason.
func (h History) transitions(set, conditionType, reason string) int {
	count, was := 0, false
	for _, state := range h.OfSet(set) {
		c := meta.FindStatusCondition(state.Status.Conditions, conditionType)
		is := c != nil && c.Status == "True" && c.Reason == reason
		if is && !was {
			count++
		}
		was = is && !state.Gone
	}
	return count
}

// revisionChanges counts how often the update revision became another one. One that
// was dropped in between is created again.
func (h History) revisionChanges(set string) int {
	changes, last := 0, ""
	for _, state := range h.OfSet(set) {
		if r := state.Status.UpdateRevision; r != "" && r != last {
			changes, last = changes+1, r
		}
		if state.Gone {
			last = ""
		}
	}
	return changes
}

// Told counts how often a reason was told about a set.
func (h History) Told(set, reason string) int {
	count := 0
	for _, event := range h.EventsOf(set) {
		if event.Reason == reason {
			count += event.Count
		}
	}
	return count
}

// Reasons are the reasons of the events about a set, in the order in which each was
// first told.
func (h History) Reasons(set string) []string {
	var order []string
	for _, event := range h.EventsOf(set) {
		order = append(order, event.Reason)
	}
	return order
}

// Course is how a condition went since a mark: "status reason", without repetitions.
// The state at the mark is the first.
func (h History) Course(set, conditionType string, since Mark) []string {
	var course []string
	for i, state := range h.Sets {
		if state.Name != set {
			continue
		}
		c := meta.FindStatusCondition(state.Status.Conditions, conditionType)
		if c == nil {
			continue
		}
		if i < since.sets {
			course = course[:0]
		}
		text := string(c.Status) + " " + c.Reason
		if len(course) == 0 || course[len(course)-1] != text {
			course = append(course, text)
		}
	}
	return course
}
