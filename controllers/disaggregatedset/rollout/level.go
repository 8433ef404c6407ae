package rollout

// level is a fraction of every role's target: with a level of 3/8, a role of 8
// has 3 replicas on the new side and a role of 4 has 2.
type level struct{ num, den int }

var full = level{1, 1}

func (l level) capped() level {
	if l.num >= l.den {
		return full
	}
	return l
}

func (l level) below(m level) bool { return l.num*m.den < m.num*l.den }

// of is ceil(l × n): at any level above zero every role has a replica.
func (l level) of(n int) int { return (l.num*n + l.den - 1) / l.den }

// reach is the level that every active role can come to beside the old replicas
// that there are or, drained, beside the fewest that this plan may leave.
func reach(roles []role, drained bool) level {
	lowest := full
	for i := range roles {
		r := &roles[i]
		if !r.active() {
			continue
		}
		old := r.occupied
		if drained {
			old = r.remains()
		}
		if l := (level{r.room(old), r.Target}).capped(); l.below(lowest) {
			lowest = l
		}
	}
	return lowest
}

// slowest is the level that every active role has come to.
func slowest(roles []role) level {
	lowest := full
	for i := range roles {
		if l := roles[i].progress(); roles[i].active() && l.below(lowest) {
			lowest = l
		}
	}
	return lowest
}
