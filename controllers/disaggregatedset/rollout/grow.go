package rollout

// grow decides the new side: every role at the level that the slowest can reach
// beside the old replicas that are there now. Replicas that this plan drains
// make room for the next one, so that the order of writes does not matter.
func grow(roles []role) {
	to := reach(roles, false)
	starts := false
	for i := range roles {
		r := &roles[i]
		r.grown = 0
		if r.active() {
			r.grown = min(max(r.new.Spec, to.of(r.Target)), r.Target)
		}
		starts = starts || r.grown > 0
	}
	for i := range roles {
		if r := &roles[i]; starts && r.active() {
			r.grown = max(r.grown, 1)
		}
	}
}

// unblock is asked when nothing moves and something is left to do. It retires
// the draining revision or grants loans, if nothing would move even with every
// new replica ready; else it says why the plan waits, and for which role.
func unblock(roles []role) (Reason, int) {
	var buf [stackRoles]role
	trial := append(buf[:0], roles...)
	for i := range trial {
		trial[i].new.Ready = trial[i].new.Spec
	}
	drain(trial)
	grow(trial)
	switch {
	case move(trial):
		return NotReady, pending(roles)
	case mayRetire(roles):
		retire(roles)
		return Retire, 0
	case mayRetire(trial):
		return NotReady, pending(roles)
	}
	return borrow(roles, trial)
}

// borrow grants a loan to every role that holds the new side at its level, or
// to none when one of them may not have it.
func borrow(roles, trial []role) (Reason, int) {
	at := slowest(trial)
	for i := range trial {
		r := &trial[i]
		if !r.blocks(at) {
			continue
		}
		if r.Surge+r.Unavailable == 0 && (r.first.Spec > 1 || !heldBesides(trial, i)) {
			return NoBudget, i
		}
		roles[i].loan = r.remains() + r.new.Spec + 1 - r.Target - r.Surge
	}
	drain(roles)
	grow(roles)
	return NotReady, pending(roles)
}

// blocks says that the new side cannot leave this level because of this role.
func (r *role) blocks(at level) bool {
	return r.active() && !at.below(r.progress()) && r.room(r.remains()) == r.new.Spec
}

// heldBesides says that another role than i keeps the draining revision.
func heldBesides(roles []role, i int) bool {
	for j := range roles {
		if r := &roles[j]; j != i && r.active() && r.keep() > 0 {
			return true
		}
	}
	return false
}

func move(roles []role) bool {
	for i := range roles {
		if roles[i].moves() {
			return true
		}
	}
	return false
}

// pending is the role that the plan waits for: one whose new replicas are not
// ready, preferably one that holds the draining revision.
func pending(roles []role) int {
	found := -1
	for i := range roles {
		r := &roles[i]
		if !r.active() || r.new.Ready >= r.new.Spec {
			continue
		}
		if r.keep() > 0 {
			return i
		}
		found = i
	}
	return max(found, 0)
}
