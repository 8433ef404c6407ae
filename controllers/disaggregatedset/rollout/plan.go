package rollout

// Verdict says what a plan asks for.
type Verdict uint8

const (
	// Done says that no old replica is left and the new side is at its targets.
	Done Verdict = iota
	// Wait says that something is left to do, and nothing may move now.
	Wait
	// Act says that the steps are to be taken, in any order.
	Act
)

// Reason says why a step is taken or why a plan waits.
type Reason string

const (
	// Grow is the new side taking a place that surge allows.
	Grow Reason = "Grow"
	// Borrow is the new side taking a place beyond surge; see the package comment.
	Borrow Reason = "Borrow"
	// Drain is an old replica that is replaced, or makes room.
	Drain Reason = "Drain"
	// Retire is the last replicas of an old revision going together.
	Retire Reason = "Retire"
	// Complete makes a revision without one of its roles whole, or empties it.
	Complete Reason = "Complete"
	// ScaleDown follows a target that was lowered.
	ScaleDown Reason = "ScaleDown"
	// NotReady is waiting for replicas to become ready.
	NotReady Reason = "NotReady"
	// NoBudget is a role that has neither surge nor unavailability to move with.
	NoBudget Reason = "NoBudget"
)

// Current is the Revision of a step on the new side.
const Current = -1

// Step sets the replicas of one role in one revision.
type Step struct {
	// Revision is an index into Input.Old, or Current.
	Revision int
	Role     int
	From, To int
	Reason   Reason
}

// Plan is the answer for one observed state.
type Plan struct {
	Verdict Verdict
	// Reason and Role say why a Wait waits, and for which role.
	Reason Reason
	Role   int
	// Steps leave every guarantee intact whichever of them are carried out, but
	// for guarantee 3, which the next plan restores.
	Steps []Step
}

// Compute plans the next steps of one slice.
func Compute(in Input) Plan {
	var buf [stackRoles]role
	roles := load(buf[:0], &in)
	drain(roles)
	grow(roles)
	if steps := stepsOf(&in, roles); len(steps) > 0 {
		return Plan{Verdict: Act, Steps: steps}
	}
	if finished(roles) {
		return Plan{Verdict: Done}
	}
	reason, i := unblock(roles)
	if steps := stepsOf(&in, roles); len(steps) > 0 {
		return Plan{Verdict: Act, Steps: steps}
	}
	return Plan{Verdict: Wait, Reason: reason, Role: i}
}

func finished(roles []role) bool {
	for i := range roles {
		if roles[i].occupied > 0 {
			return false
		}
	}
	return true
}

// stepsOf lists what was decided: the old side first, newest revision first.
func stepsOf(in *Input, roles []role) []Step {
	var out []Step
	first := in.draining()
	for k := range in.Old {
		emptied := in.broken(k)
		for i := range roles {
			c := in.Old[k][i].sane()
			to, why := c.Spec, ScaleDown
			switch r := &roles[i]; {
			case r.absent():
				to = 0
			case emptied:
				to, why = 0, Complete
			case k == first:
				to, why = r.old, r.drains()
			case k > first:
				give := min(r.shed, max(c.Spec-1, 0))
				to, r.shed = c.Spec-give, r.shed-give
			}
			out = add(out, len(roles), Step{Revision: k, Role: i, From: c.Spec, To: to, Reason: why})
		}
	}
	for i := range roles {
		r := &roles[i]
		out = add(out, len(roles), Step{Revision: Current, Role: i, From: r.new.Spec, To: r.grown, Reason: r.grows()})
	}
	return out
}

// add appends a step that changes something. The first one makes room for a
// drain and a growth of every role.
func add(out []Step, roles int, s Step) []Step {
	if s.From == s.To {
		return out
	}
	if out == nil {
		out = make([]Step, 0, 2*roles)
	}
	return append(out, s)
}

func (r *role) drains() Reason {
	switch {
	case r.old == 0:
		return Retire
	case r.Wanted && r.occupied+r.new.Spec > r.Target+r.Surge:
		return ScaleDown
	}
	return Drain
}

func (r *role) grows() Reason {
	switch {
	case r.grown < r.new.Spec:
		return ScaleDown
	case r.loan > 0:
		return Borrow
	case r.grown > r.room(r.occupied):
		return Complete
	}
	return Grow
}
