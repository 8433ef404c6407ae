package rollout

import "fmt"

// Phase is whether a rollout is over, waits, or acts.
type Phase string

// The phases of a rollout.
const (
	Done    Phase = "Done"
	Waiting Phase = "Waiting"
	Acting  Phase = "Acting"
)

// Reason is why a plan has its phase.
type Reason string

const (
	// UpToDate is Done: all desired groups at or above the partition are updated and ready.
	UpToDate Reason = "UpToDate"
	// ReplacingGroups is Acting: leaders are deleted or released.
	ReplacingGroups Reason = "ReplacingGroups"
	// ChangingStatefulSet is Acting: the StatefulSet is written and nothing deleted.
	ChangingStatefulSet Reason = "ChangingStatefulSet"
	// StatefulSetBehind is Waiting: leaders go once the StatefulSet's controller has
	// observed what is written and has filled what is missing.
	StatefulSetBehind Reason = "StatefulSetBehind"
	// BudgetSpent is Waiting: another outdated group would take the ready groups below the floor.
	BudgetSpent Reason = "BudgetSpent"
	// GroupsNotReady is Waiting: nothing is left to replace, groups are on their way.
	GroupsNotReady Reason = "GroupsNotReady"
)

// Verdict is the state of the rollout in a word, a reason and a sentence.
type Verdict struct {
	Phase   Phase
	Reason  Reason
	Message string
}

// verdict describes a plan; deferred is the number of leaders that would go if
// the StatefulSet's controller were not behind.
func (s *state) verdict(p Plan, deferred int) Verdict {
	c := p.Counts
	switch {
	case len(p.Delete)+len(p.Release) > 0:
		return Verdict{Acting, ReplacingGroups, fmt.Sprintf(
			"%d leaders deleted, %d released, %d groups remain", len(p.Delete), len(p.Release), c.Remaining)}
	case p.Spec != s.StatefulSet.Spec:
		return Verdict{Acting, ChangingStatefulSet, "the leader StatefulSet gets " + p.Spec.words()}
	case deferred > 0 || s.has(s.stray):
		return Verdict{Waiting, StatefulSetBehind, "the StatefulSet controller is behind " + p.Spec.words()}
	case c.Outdated > 0:
		return Verdict{Waiting, BudgetSpent, fmt.Sprintf(
			"%d outdated groups wait: %d groups are ready, the floor is %d", c.Outdated, c.Available, c.Floor)}
	case c.Remaining > 0:
		return Verdict{Waiting, GroupsNotReady, fmt.Sprintf(
			"%d updated groups are not ready", c.Remaining)}
	default:
		return Verdict{Done, UpToDate, "every group at or above the partition is updated and ready"}
	}
}

// words are the spec as one says it.
func (s Spec) words() string {
	kind := fmt.Sprintf("RollingUpdate from %d", s.Partition)
	if s.OnDelete {
		kind = "OnDelete"
	}
	return fmt.Sprintf("%d replicas, %d of them surge, %s", s.Replicas, s.Surge, kind)
}
