package group

// exhaustedAction is what is done about a group whose restart budget is spent.
type exhaustedAction string

const (
	// exhaustedRetain: retain its pods, stop it, and wait.
	exhaustedRetain exhaustedAction = "Retain"
	// exhaustedClear: it is to start again, and its count has to be cleared first.
	exhaustedClear exhaustedAction = "Clear"
	// exhaustedRecover: it starts again; let go of its pods.
	exhaustedRecover exhaustedAction = "Recover"
	// exhaustedCleanUp: the set has no use for it any more; let go of its pods.
	exhaustedCleanUp exhaustedAction = "CleanUp"
)

// exhaustedInput is all that the decision about an exhausted group is made from.
type exhaustedInput struct {
	// Recover: the leader has the annotation that asks for it.
	Recover bool
	// Counted: the set still has a count of this entry.
	Counted bool
	// Desired: the set wants a group of this index.
	Desired bool
	// Outdated: a rollout replaces the group.
	Outdated bool
}

// decideExhausted decides about an exhausted group. Nothing but the annotation
// starts it again; what ends the group as such ends its retention.
func decideExhausted(in exhaustedInput) exhaustedAction {
	switch {
	case !in.Desired, in.Outdated:
		return exhaustedCleanUp
	case !in.Recover:
		return exhaustedRetain
	case in.Counted:
		return exhaustedClear
	}
	return exhaustedRecover
}
