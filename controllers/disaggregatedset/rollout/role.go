package rollout

// stackRoles is how many roles are planned without allocating: as many as a
// spec may have, and some that an old revision had.
const stackRoles = 16

// role is the scratch of one role while a plan is made.
type role struct {
	Role
	new Count
	// first is the draining revision, rest the sum of the older ones. Revisions
	// that this very plan empties count in neither.
	first, rest Count
	// occupied is every old replica there is now, which is what surge goes by.
	occupied int
	// baseline is the highest of any old revision.
	baseline int
	// spareRest is what the older revisions can give without losing the role.
	spareRest int
	// loan is what lets a role exceed its surge: one replica more than there are.
	loan int

	// old and grown are decided: the draining revision and the new side.
	old, grown int
	// shed is how many replicas the older revisions give.
	shed int
}

func load(roles []role, in *Input) []role {
	for i, r := range in.Roles {
		roles = append(roles, role{Role: r.sane(), new: in.New[i].sane()})
	}
	first := in.draining()
	for k := range in.Old {
		emptied := in.broken(k)
		for i := range roles {
			roles[i].add(in.Old[k][i].sane(), k == first, emptied)
		}
	}
	return roles
}

func (r *role) add(c Count, first, emptied bool) {
	r.occupied += c.Spec
	r.baseline = max(r.baseline, c.Baseline)
	switch {
	case emptied || r.absent():
	case first:
		r.first = c
	default:
		r.rest.Spec += c.Spec
		r.rest.Ready += c.Ready
		r.spareRest += max(c.Spec-1, 0)
	}
}

// floor is the number of ready replicas that a drain must leave.
func (r *role) floor() int { return r.Target - r.Unavailable }

// keep is the fewest replicas that availability leaves in the draining
// revision. Two bounds: its ready replicas must fill up what the others lack
// to the floor; and its replicas, ready or not, must do so too, so that a
// rollout does not stake more than its budget on replicas that have yet to
// become ready.
func (r *role) keep() int {
	byReady := min(r.first.Ready, r.floor()-r.rest.Ready-r.new.Ready)
	bySpec := min(r.first.Spec, r.floor()-r.rest.Spec-r.new.Ready)
	keep := max(byReady, bySpec, 0)
	if r.Target > r.baseline && r.occupied+r.new.Spec < r.Target {
		keep = max(keep, r.first.Ready)
	}
	return keep
}

// replaced is what the draining revision may come down to because ready
// replicas elsewhere make up the target.
func (r *role) replaced() int { return r.Target - r.rest.Ready - r.new.Ready }

// lacks says that, without the draining revision, the role would be below its
// floor.
func (r *role) lacks() bool { return r.rest.Ready+r.new.Ready < r.floor() }

// room is how many replicas the new side may have beside that many old ones.
func (r *role) room(old int) int {
	return max(r.new.Spec, r.Target+r.Surge+r.loan-old)
}

// progress is how far the new side of the role has come.
func (r *role) progress() level { return level{r.new.Spec, r.Target}.capped() }

func (r *role) moves() bool {
	return r.old != r.first.Spec || r.grown != r.new.Spec || r.shed > 0
}
