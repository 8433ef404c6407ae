package scaler

// Role is a role and its scaler as observed.
type Role struct {
	External bool
	// Replicas is the number in the role's spec.
	Replicas int
	// Ignored is what the role's LeaderWorkerSets say was in the spec while the
	// role was external; nil if they say nothing.
	Ignored *int
	// Running has the replicas of each slice that has any LeaderWorkerSet of the
	// role; -1 for a slice that has none.
	Running []int
	Scaler  State
}

// State is the scaler of a role as observed.
type State struct {
	Exists   bool
	Replicas int
	// Followed says that the manager has taken the scaler up: the set follows it.
	Followed bool
}

// Targets are the replicas that a role wants in each slice.
func Targets(role Role, slices int) []int {
	switch {
	case !role.External && role.held():
		return hold(role, slices)
	case !role.External:
		return each(role.Replicas, slices)
	case !role.Scaler.Exists, role.Scaler.unseeded():
		return Spread(Seed(role, slices), slices)
	}
	return Spread(role.Scaler.Replicas, slices)
}

// Seed is the number for a scaler that does not exist, or that has the default of
// 0 and was never followed: what runs, or one for each slice of a new role.
func Seed(role Role, slices int) int {
	sum, runs := 0, false
	for _, n := range role.Running {
		if n >= 0 {
			sum, runs = sum+n, true
		}
	}
	if !runs {
		return slices
	}
	return sum
}

// NeedsSeed says whether an existing scaler is to be seeded.
func NeedsSeed(role Role, slices int) bool {
	return role.External && role.Scaler.Exists && role.Scaler.unseeded() && Seed(role, slices) != role.Scaler.Replicas
}

func (s State) unseeded() bool { return s.Replicas == 0 && !s.Followed }

// Spread divides a number evenly over slices, the lower ones first. A number below
// that of the slices still gives each of them one, for a slice without a role
// would be without use:
//
//	7 over 3 → 3, 2, 2        2 over 3 → 1, 1, 1        0 over 3 → 0, 0, 0
func Spread(total, slices int) []int {
	if total > 0 {
		total = max(total, slices)
	}
	out := make([]int, slices)
	for i := range out {
		out[i] = total / slices
		if i < total%slices {
			out[i]++
		}
	}
	return out
}

// SpreadsThin says that the slices together have more than was asked for.
func SpreadsThin(total, slices int) bool { return total > 0 && total < slices }

// held says that a static role was external and its spec has not changed since.
func (r Role) held() bool { return r.Ignored != nil && *r.Ignored == r.Replicas }

// hold keeps what runs; a slice that is new gets what the last one has.
func hold(role Role, slices int) []int {
	out := each(role.Replicas, slices)
	last := role.Replicas
	for i := range out {
		if i < len(role.Running) && role.Running[i] >= 0 {
			last = role.Running[i]
		}
		out[i] = last
	}
	return out
}

// Ignores says that a role does not follow the replicas of its spec.
func Ignores(role Role) bool { return role.External || role.held() }

func each(n, slices int) []int {
	out := make([]int, slices)
	for i := range out {
		out[i] = n
	}
	return out
}
