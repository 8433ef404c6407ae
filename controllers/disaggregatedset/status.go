package disaggregatedset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// computeStatus is the status of a set as it was seen, with what came of the
// writes that followed.
func computeStatus(seen *observation, out *outcome) *dsv1.DisaggregatedSetStatus {
	status := seen.Set.Status.DeepCopy()
	status.ObservedGeneration = seen.Set.Generation
	status.CurrentRevision = seen.Revision
	status.RoleStatuses = nil
	var summary []string
	for _, r := range seen.Roles {
		if r.Spec == nil {
			continue
		}
		counts := seen.countRole(r.Name)
		status.RoleStatuses = append(status.RoleStatuses, counts)
		summary = append(summary, fmt.Sprintf("%s %d/%d", r.Name, counts.ReadyReplicas, sum(r.Targets)))
	}
	status.Summary = strings.Join(summary, " ")
	status.Slices, status.UpdatedSlices, status.ReadySlices = seen.countSlices()
	progress := progressOf(seen, out)
	setConditions(&status.Conditions, seen, progress)
	return status
}

func sum(numbers []int) int {
	total := 0
	for _, n := range numbers {
		total += n
	}
	return total
}

func (o *observation) countRole(name string) dsv1.RoleStatus {
	counts := dsv1.RoleStatus{Name: name}
	for _, s := range slices.Concat(o.Slices, o.Surplus) {
		for _, g := range append(slices.Clone(s.Old), s.Current) {
			m := g.Members[name]
			if m == nil {
				continue
			}
			counts.Replicas += m.Live.Status.Replicas
			counts.ReadyReplicas += m.Live.Status.ReadyReplicas
			if g == s.Current {
				counts.UpdatedReplicas += m.Live.Status.Replicas
			}
		}
	}
	return counts
}

func (o *observation) countSlices() (exist, updated, ready int32) {
	for _, s := range slices.Concat(o.Slices, o.Surplus) {
		if len(s.Old) == 0 && len(s.Current.Members) == 0 {
			continue
		}
		exist++
		if len(s.Old) == 0 {
			updated++
		}
		if s.Index < len(o.Slices) && o.lacking(s) == "" {
			ready++
		}
	}
	return exist, updated, ready
}

// lacking names a role of a slice that is not ready at its target, of whatever
// revision; empty if there is none.
func (o *observation) lacking(s *slice) string {
	for _, r := range o.Roles {
		if r.Spec == nil {
			continue
		}
		ready := 0
		for _, g := range append(slices.Clone(s.Old), s.Current) {
			if m := g.Members[r.Name]; m != nil {
				ready += m.Ready
			}
		}
		if target := r.Targets[s.Index]; ready < target || s.Current.Members[r.Name] == nil {
			return fmt.Sprintf("%s %d/%d", r.Name, ready, target)
		}
	}
	return ""
}

// unsettled names a role of a slice whose LeaderWorkerSet is not as it is to be, or
// has not said so yet; empty if there is none.
func (o *observation) unsettled(s *slice) string {
	for _, r := range o.Roles {
		m := s.Current.Members[r.Name]
		if r.Spec == nil || m != nil && isSettled(m, r.Targets[s.Index]) {
			continue
		}
		return r.Name
	}
	return ""
}

// isSettled trusts a status of any LeaderWorkerSet controller, also of one that
// does not tell the generation.
func isSettled(m *member, target int) bool {
	status := &m.Live.Status
	observed := status.ObservedGeneration == 0 || status.ObservedGeneration >= m.Live.Generation
	return observed && m.Replicas == target && int(status.ReadyReplicas) == target && int(status.Replicas) == target
}

// progress is why the set is not there yet; without Reason it is.
type progress struct {
	Reason  string
	Message string
}

func progressOf(seen *observation, out *outcome) progress {
	switch {
	case len(out.Conflicts) > 0:
		return progress{dsv1.ReasonNameConflict, strings.Join(out.Conflicts, "; ")}
	case seen.lacksScaler() != "":
		return progress{dsv1.ReasonWaitingForScaler, fmt.Sprintf("role %s has no %s yet", seen.lacksScaler(), scalerKind)}
	}
	details := out.Obstacles
	rolling, scaling := false, len(seen.Surplus) > 0
	for _, s := range seen.Slices {
		what := seen.lacking(s)
		if what == "" {
			what = seen.unsettled(s)
		}
		if what != "" || len(s.Old) > 0 {
			details = append(details, strings.TrimSpace(fmt.Sprintf("slice %d %s", s.Index, what)))
		}
		rolling = rolling || len(s.Old) > 0
		scaling = scaling || what != ""
	}
	for _, s := range seen.Surplus {
		details = append(details, fmt.Sprintf("slice %d is no longer wanted", s.Index))
	}
	message := strings.Join(details, "; ")
	switch {
	case rolling:
		return progress{dsv1.ReasonRolloutInProgress, "rolling out revision " + seen.Revision + ": " + message}
	case scaling:
		return progress{dsv1.ReasonScalingInProgress, message}
	}
	return progress{}
}

func (o *observation) lacksScaler() string {
	for _, r := range o.Roles {
		if r.isExternal() && r.Scaler == nil {
			return r.Name
		}
	}
	return ""
}

const (
	allReady     = "every role is at its target and ready in every slice"
	noneDegraded = "no LeaderWorkerSet is degraded"
)

func setConditions(conditions *[]metav1.Condition, seen *observation, p progress) {
	set := conditionSetter(conditions, seen)
	if text := seen.degraded(); text != "" {
		set(dsv1.ConditionDegraded, true, dsv1.ReasonRoleDegraded, text)
	} else {
		set(dsv1.ConditionDegraded, false, dsv1.ReasonAsExpected, noneDegraded)
	}
	if p.Reason == "" {
		set(dsv1.ConditionAvailable, true, dsv1.ReasonAllRolesReady, allReady)
		set(dsv1.ConditionProgressing, false, dsv1.ReasonAllRolesReady, allReady)
	} else {
		set(dsv1.ConditionAvailable, false, dsv1.ReasonRolesNotReady, p.Message)
		set(dsv1.ConditionProgressing, true, p.Reason, p.Message)
	}
	order(*conditions)
}

// conditionOrder has what matters most first: kubectl shows the first condition that
// is True.
var conditionOrder = []string{dsv1.ConditionDegraded, dsv1.ConditionAvailable, dsv1.ConditionProgressing}

// order puts conditions of any age into the order of conditionOrder, and others behind.
func order(conditions []metav1.Condition) {
	rank := func(c metav1.Condition) int {
		if at := slices.Index(conditionOrder, c.Type); at >= 0 {
			return at
		}
		return len(conditionOrder)
	}
	slices.SortStableFunc(conditions, func(a, b metav1.Condition) int { return cmp.Compare(rank(a), rank(b)) })
}

// messageLimit is what a condition may say, in bytes.
const messageLimit = 4096

func conditionSetter(conditions *[]metav1.Condition, seen *observation) func(string, bool, string, string) {
	return func(kind string, holds bool, reason, message string) {
		value := metav1.ConditionFalse
		if holds {
			value = metav1.ConditionTrue
		}
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type: kind, Status: value, Reason: reason, Message: shortened(message, messageLimit),
			ObservedGeneration: seen.Set.Generation, LastTransitionTime: metav1.NewTime(seen.Now),
		})
	}
}

// degraded tells of the first LeaderWorkerSet that is degraded, with its cause.
func (o *observation) degraded() string {
	for _, s := range o.Slices {
		for _, g := range append(slices.Clone(s.Old), s.Current) {
			for _, r := range o.Roles {
				m := g.Members[r.Name]
				if m == nil {
					continue
				}
				c := meta.FindStatusCondition(m.Live.Status.Conditions, lwsv1.ConditionDegraded)
				if c != nil && c.Status == metav1.ConditionTrue {
					return fmt.Sprintf("role %s in slice %d: %s: %s", r.Name, s.Index, c.Reason, c.Message)
				}
			}
		}
	}
	return ""
}

// unserved is the status of a set while the API of LeaderWorkerSets is not served.
func unserved(seen *observation, why string) *dsv1.DisaggregatedSetStatus {
	status := seen.Set.Status.DeepCopy()
	status.ObservedGeneration = seen.Set.Generation
	set := conditionSetter(&status.Conditions, seen)
	set(dsv1.ConditionDegraded, false, dsv1.ReasonAsExpected, noneDegraded)
	set(dsv1.ConditionAvailable, false, dsv1.ReasonSetAPINotAvailable, why)
	set(dsv1.ConditionProgressing, true, dsv1.ReasonSetAPINotAvailable, why)
	order(status.Conditions)
	return status
}
