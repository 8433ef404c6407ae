package harness

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
)

// roleReasons are those that a condition of a DisaggregatedSet may have, by type and
// status, in the order in which the conditions are.
var (
	roleConditions = []string{dsv1.ConditionDegraded, dsv1.ConditionAvailable, dsv1.ConditionProgressing}
	roleReasons    = map[string]map[metav1.ConditionStatus][]string{
		dsv1.ConditionDegraded: {
			metav1.ConditionTrue:  {dsv1.ReasonRoleDegraded},
			metav1.ConditionFalse: {dsv1.ReasonAsExpected},
		},
		dsv1.ConditionAvailable: {
			metav1.ConditionTrue:  {dsv1.ReasonAllRolesReady},
			metav1.ConditionFalse: {dsv1.ReasonRolesNotReady},
		},
		dsv1.ConditionProgressing: {
			metav1.ConditionTrue: {
				dsv1.ReasonRolloutInProgress, dsv1.ReasonScalingInProgress, dsv1.ReasonWaitingForScaler, dsv1.ReasonNameConflict,
			},
			metav1.ConditionFalse: {dsv1.ReasonAllRolesReady},
		},
	}
)

// DisaggregatedSets are the states of one DisaggregatedSet, without the last one of
// one that is gone.
func (h History) DisaggregatedSets(name string) []*dsv1.DisaggregatedSet {
	var found []*dsv1.DisaggregatedSet
	for _, state := range h.Further {
		if set, is := state.Object.(*dsv1.DisaggregatedSet); is && set.Name == name && !state.Gone {
			found = append(found, set)
		}
	}
	return found
}

// DisaggregatedSetNames are those of all that were ever seen.
func (h History) DisaggregatedSetNames() []string {
	var names []string
	for _, state := range h.Further {
		if set, is := state.Object.(*dsv1.DisaggregatedSet); is && !slices.Contains(names, set.Name) {
			names = append(names, set.Name)
		}
	}
	return names
}

// DisaggregatedSetViolations judges every status that a DisaggregatedSet ever had.
func (h History) DisaggregatedSetViolations(name string) []string {
	var violations []string
	var before *dsv1.DisaggregatedSet
	for _, set := range h.DisaggregatedSets(name) {
		if set.Status.ObservedGeneration == 0 {
			continue // nobody has looked at it yet
		}
		for _, text := range slices.Concat(judgeRoles(set), judgeRolesStep(before, set)) {
			violations = append(violations, fmt.Sprintf("%s resourceVersion %s: %s", name, set.ResourceVersion, text))
		}
		before = set
	}
	started, completed := h.Told(name, dsv1.ReasonRollingUpdateStarted), h.Told(name, dsv1.ReasonRollingUpdateCompleted)
	if completed > started {
		violations = append(violations, fmt.Sprintf("%s: %d rollouts were told to begin and %d to end", name, started, completed))
	}
	return violations
}

func judgeRoles(set *dsv1.DisaggregatedSet) []string {
	var violations, order []string
	status := &set.Status
	for _, c := range status.Conditions {
		order = append(order, c.Type)
		if !slices.Contains(roleReasons[c.Type][c.Status], c.Reason) {
			violations = append(violations, fmt.Sprintf("%s=%s has the reason %s", c.Type, c.Status, c.Reason))
		}
		if c.Message == "" || c.ObservedGeneration != status.ObservedGeneration {
			violations = append(violations, fmt.Sprintf("%s says %q of generation %d in a status of generation %d",
				c.Type, c.Message, c.ObservedGeneration, status.ObservedGeneration))
		}
	}
	if !slices.Equal(order, roleConditions) {
		violations = append(violations, "the conditions are "+strings.Join(order, ", "))
	}
	available := meta.IsStatusConditionTrue(status.Conditions, dsv1.ConditionAvailable)
	if available == meta.IsStatusConditionTrue(status.Conditions, dsv1.ConditionProgressing) {
		violations = append(violations, fmt.Sprintf("Available and Progressing are both %v", available))
	}
	if len(status.RoleStatuses) > 0 && available && status.UpdatedSlices < status.Slices {
		violations = append(violations, fmt.Sprintf("Available with %d of %d slices updated", status.UpdatedSlices, status.Slices))
	}
	return violations
}

func judgeRolesStep(before, now *dsv1.DisaggregatedSet) []string {
	if before == nil {
		return nil
	}
	var violations []string
	if now.Status.ObservedGeneration < before.Status.ObservedGeneration {
		violations = append(violations, "observedGeneration goes back")
	}
	for _, c := range now.Status.Conditions {
		old := meta.FindStatusCondition(before.Status.Conditions, c.Type)
		if old != nil && old.Status == c.Status && !old.LastTransitionTime.Equal(&c.LastTransitionTime) {
			violations = append(violations, fmt.Sprintf("lastTransitionTime of %s moves while it stays %s", c.Type, c.Status))
		}
	}
	return violations
}

// describeDisaggregatedSets tells how the conditions and events of all of them went.
func (h History) describeDisaggregatedSets(text *strings.Builder) {
	for _, name := range h.DisaggregatedSetNames() {
		fmt.Fprintf(text, "\nDisaggregatedSet %s\n", name)
		last := ""
		for _, set := range h.DisaggregatedSets(name) {
			line := set.Status.Summary + " revision " + set.Status.CurrentRevision + "; " + ConditionsLine(set.Status.Conditions)
			if line != last {
				fmt.Fprintf(text, "  at %s %s\n", set.ResourceVersion, line)
			}
			last = line
		}
		for _, event := range h.EventsOf(name) {
			fmt.Fprintf(text, "  %s %s %s ×%d %s\n", event.At.Format("15:04:05.000"), event.Type, event.Reason, event.Count, event.Message)
		}
		fmt.Fprintf(text, "%s\n", h.WatchRoles(name, Mark{}))
	}
}
