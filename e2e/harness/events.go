package harness

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// transitionReasons are the events of which there is one for each transition of a
// condition.
var transitionReasons = map[string]string{
	lwsv1.ReasonGroupsProgressing: lwsv1.ConditionProgressing,
	lwsv1.ReasonGroupsUpdating:    lwsv1.ConditionProgressing,
	lwsv1.ReasonAllGroupsReady:    lwsv1.ConditionAvailable,
}

// EventViolations judges how often things were told: a transition once, a revision
// once, nothing twice in a row.
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
	if revisions := len(h.revisions(set)); told[lwsv1.ReasonCreatingRevision] > revisions {
		violations = append(violations, fmt.Sprintf("CreatingRevision was told %d times about %d revisions", told[lwsv1.ReasonCreatingRevision], revisions))
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

func (h History) revisions(set string) []string {
	var found []string
	for _, state := range h.OfSet(set) {
		if r := state.Status.UpdateRevision; r != "" && !slices.Contains(found, r) {
			found = append(found, r)
		}
	}
	return found
}

// Told counts how often a reason was told about a set since a mark.
func (h History) Told(set, reason string, since Mark) int {
	count := 0
	for i, event := range h.Events {
		if i >= since.events && event.Set == set && event.Reason == reason {
			count += event.Count
		}
	}
	return count
}

// Reasons are the reasons of the events about a set since a mark, in order.
func (h History) Reasons(set string, since Mark) []string {
	var order []string
	for i, event := range h.Events {
		if i >= since.events && event.Set == set {
			order = append(order, event.Reason)
		}
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
