package rollout

// Input is one slice of a set as observed. Roles, New and each element of Old
// have the same length and order.
type Input struct {
	Roles []Role
	New   []Count
	// Old holds the old revisions, newest first.
	Old [][]Count
}

// Role is what the spec wants of one role. All numbers are absolute.
type Role struct {
	Name string
	// Wanted says that the new revision has the role.
	Wanted      bool
	Target      int
	Surge       int
	Unavailable int
}

// Count is what one revision has of one role.
type Count struct {
	// Baseline is the number of replicas that an old revision was meant to have;
	// zero for a role that it does not have. Unused on the new side.
	Baseline int
	Spec     int
	// Ready counts as at most Spec: terminating replicas authorise nothing.
	Ready int
}

func (c Count) sane() Count {
	c.Baseline, c.Spec = max(c.Baseline, 0), max(c.Spec, 0)
	c.Ready = min(max(c.Ready, 0), c.Spec)
	return c
}

// belongs says that the revision this count is of has the role.
func (c Count) belongs() bool { return c.Baseline > 0 || c.Spec > 0 }

func (r Role) sane() Role {
	r.Target, r.Surge, r.Unavailable = max(r.Target, 0), max(r.Surge, 0), max(r.Unavailable, 0)
	if !r.Wanted {
		r.Target = 0
	}
	return r
}

func (r Role) active() bool { return r.Wanted && r.Target > 0 }

// absent says that somebody asked for none of this role.
func (r Role) absent() bool { return r.Wanted && r.Target <= 0 }

// draining returns the index of the newest old revision that still runs, or
// len(in.Old).
func (in *Input) draining() int {
	for k, counts := range in.Old {
		for _, c := range counts {
			if c.Spec > 0 {
				return k
			}
		}
	}
	return len(in.Old)
}

// broken says that old revision k has some of its roles but not all.
func (in *Input) broken(k int) bool {
	some, lacks := false, false
	for i, c := range in.Old[k] {
		if in.Roles[i].sane().absent() || !c.belongs() {
			continue
		}
		if c.Spec > 0 {
			some = true
		} else {
			lacks = true
		}
	}
	return some && lacks
}
