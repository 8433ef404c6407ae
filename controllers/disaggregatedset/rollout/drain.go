package rollout

// drain decides what the draining revision keeps and what the older ones shed.
func drain(roles []role) {
	if retires(roles) {
		retire(roles)
		return
	}
	complete := complete(roles)
	to := reach(roles, true)
	for i := range roles {
		r := &roles[i]
		r.old, r.shed = 0, 0
		if !r.active() {
			continue
		}
		r.old = r.least(to, complete)
		r.shed = r.excess()
	}
	follow(roles)
}

// held is keep, and at least the last replica of a role that the revision has:
// roles lose that together or not at all.
func (r *role) held() int { return min(r.first.Spec, max(r.keep(), 1)) }

// remains is the fewest old replicas that there may be after this plan.
func (r *role) remains() int { return r.rest.Spec + r.held() }

// least is what the draining revision comes down to: replicas that ready ones
// elsewhere replaced go, and so do those whose place the new side needs to come
// to the given level. Once the new side is complete everything goes that may.
func (r *role) least(to level, complete bool) int {
	if complete {
		return r.held()
	}
	needed := r.Target + r.Surge + r.loan - r.rest.Spec - to.of(r.Target)
	return min(r.first.Spec, max(r.held(), min(r.replaced(), needed)))
}

// excess is how many replicas the older revisions give because the target was
// lowered: only what surge does not allow, only once the draining revision is
// down to its last, and only from what is ready beyond the floor.
func (r *role) excess() int {
	emptied := r.occupied > r.first.Spec+r.rest.Spec
	if emptied || r.first.Spec > 1 {
		return 0
	}
	over := r.occupied + r.new.Spec - r.Target - r.Surge
	spare := r.first.Ready + r.rest.Ready + r.new.Ready - r.floor()
	return max(0, min(over, spare, r.spareRest))
}

// follow lets the removed roles of the draining revision keep its proportions:
// they go with the role that has most left or, where the new revision has none
// of these roles, with what is not ready there yet.
func follow(roles []role) {
	left, shared := level{0, 1}, false
	for i := range roles {
		r := &roles[i]
		if !r.active() || r.first.Spec == 0 {
			continue
		}
		shared = true
		if l := (level{r.old, max(r.first.Baseline, r.first.Spec)}); left.below(l) {
			left = l
		}
	}
	if !shared {
		left = unready(roles)
	}
	for i := range roles {
		if r := &roles[i]; !r.Wanted {
			r.old = min(r.first.Spec, max(1, left.of(r.first.Baseline)))
		}
	}
}

// unready is the largest part of a target that the new side lacks.
func unready(roles []role) level {
	most := level{0, 1}
	for i := range roles {
		r := &roles[i]
		if !r.active() {
			continue
		}
		if l := (level{r.Target - r.new.Ready, r.Target}); most.below(l) {
			most = l
		}
	}
	return most
}

// complete says that the new side has all its replicas.
func complete(roles []role) bool { return !slowest(roles).below(full) }

// mayRetire says that availability lets every role of the draining revision go.
func mayRetire(roles []role) bool {
	for i := range roles {
		if r := &roles[i]; r.active() && r.first.Spec > 0 && r.keep() > 0 {
			return false
		}
	}
	return true
}

// retires says that the last replicas of the draining revision go now: they
// may, and either the new side is complete or nothing would be missing. Roles
// that the new revision adds are waited for as long as the old one serves.
func retires(roles []role) bool {
	if !mayRetire(roles) {
		return false
	}
	complete, serves := complete(roles), serves(roles)
	for i := range roles {
		r := &roles[i]
		if !r.active() {
			continue
		}
		if has := r.first.Spec > 0; has && !complete && r.replaced() > 0 || !has && serves && r.lacks() {
			return false
		}
	}
	return true
}

// serves says that every role of the draining revision has a ready replica.
func serves(roles []role) bool {
	for i := range roles {
		if c := roles[i].first; c.Spec > 0 && c.Ready == 0 {
			return false
		}
	}
	return true
}

func retire(roles []role) {
	for i := range roles {
		roles[i].old, roles[i].shed = 0, 0
	}
}
