package disaggregatedset

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/scaler"
)

// settle makes slices of generations and adds the roles that only old ones have.
func (o *observation) settle(found map[place]*generation) {
	wanted := int(dsv1.Slices(o.Set))
	bySlice := make(map[int]*slice)
	for i := range wanted {
		bySlice[i] = &slice{Index: i}
	}
	for at, g := range found {
		if bySlice[at.Slice] == nil {
			bySlice[at.Slice] = &slice{Index: at.Slice}
		}
		bySlice[at.Slice].Old = append(bySlice[at.Slice].Old, g)
	}
	for _, index := range slices.Sorted(maps.Keys(bySlice)) {
		s := bySlice[index]
		s.chooseCurrent(o.Revision, wanted == 1)
		slices.SortFunc(s.Old, newestFirst)
		s.resolveBaselines()
		if index < wanted {
			o.Slices = append(o.Slices, s)
		} else {
			o.Surplus = append(o.Surplus, s)
		}
	}
	for _, s := range o.Slices[1:] {
		s.Waits = o.Slices[0].hasSliceless()
	}
	o.addRemovedRoles()
}

// chooseCurrent takes the generation of the revision out of the old ones. One that
// a release without slices made is current as long as there is one slice and
// nothing of the present form.
func (s *slice) chooseCurrent(revision string, alone bool) {
	s.Current = newGeneration(place{s.Index, revision, false})
	at := slices.IndexFunc(s.Old, func(g *generation) bool { return g.Revision == revision && !g.Sliceless })
	if at < 0 && alone {
		at = slices.IndexFunc(s.Old, func(g *generation) bool { return g.Revision == revision })
	}
	if at >= 0 {
		s.Current = s.Old[at]
		s.Old = slices.Delete(s.Old, at, at+1)
	}
}

func (s *slice) hasSliceless() bool {
	return s.Current.Sliceless || slices.ContainsFunc(s.Old, func(g *generation) bool { return g.Sliceless })
}

// newestFirst orders old generations by age. Of two that were made in the same
// second the smaller one is the newer: it had less time to grow.
func newestFirst(a, b *generation) int {
	return cmp.Or(
		b.Created.Compare(a.Created),
		cmp.Compare(a.total(), b.total()),
		cmp.Compare(a.Revision, b.Revision),
	)
}

func (g *generation) total() int {
	sum := 0
	for _, m := range g.Members {
		sum += m.Replicas
	}
	return sum
}

// resolveBaselines reads what the old generations were meant to have. One that
// does not say it became old just now: it was meant to have what it has or, when
// it was still growing, what those before it were meant to have.
func (s *slice) resolveBaselines() {
	meant := map[string]int{}
	for _, g := range slices.Backward(s.Old) {
		empty := g.isEmpty()
		for name, m := range g.Members {
			written, err := strconv.Atoi(m.Live.Annotations[dsv1.InitialReplicasAnnotationKey])
			switch {
			case err == nil && written >= 0:
				m.Baseline = written
			case m.Replicas == 0 && !empty: // absent by wish, or its siblings would be empty as well
			default:
				m.Baseline = max(m.Replicas, meant[name])
			}
			meant[name] = max(meant[name], m.Baseline)
		}
	}
}

func (o *observation) addRemovedRoles() {
	known, removed := map[string]bool{}, map[string]bool{}
	for _, r := range o.Roles {
		known[r.Name] = true
	}
	for _, s := range slices.Concat(o.Slices, o.Surplus) {
		for _, g := range append(s.Old, s.Current) {
			for name := range g.Members {
				removed[name] = !known[name]
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(removed)) {
		if removed[name] {
			o.Roles = append(o.Roles, &role{Name: name})
		}
	}
}

// scaling is a role as the package scaler sees it.
func (o *observation) scaling(r *role) scaler.Role {
	scaling := scaler.Role{External: r.isExternal()}
	if r.Spec == nil {
		return scaling
	}
	scaling.Replicas = int(lwsv1.Replicas(dsv1.RoleLeaderWorkerSet(r.Spec)))
	for _, s := range o.Slices {
		scaling.Running = append(scaling.Running, s.running(r.Name))
		if scaling.Ignored == nil {
			scaling.Ignored = s.ignored(r.Name)
		}
	}
	if r.Scaler != nil {
		scaling.Scaler = scaler.State{
			Exists:   true,
			Replicas: int(dsv1.ScalerReplicas(r.Scaler)),
			Followed: len(r.Scaler.Status.Conditions) > 0,
		}
	}
	return scaling
}

// ignored is what the newest member of a role says about its spec.
func (s *slice) ignored(role string) *int {
	for _, g := range append([]*generation{s.Current}, s.Old...) {
		m := g.Members[role]
		if m == nil {
			continue
		}
		if n, err := strconv.Atoi(m.Live.Annotations[dsv1.IgnoredReplicasAnnotationKey]); err == nil {
			return &n
		}
		return nil
	}
	return nil
}

// running is what a slice has of a role or, while it rolls, was meant to have; -1
// if it has nothing of it.
func (s *slice) running(role string) int {
	running := -1
	for _, g := range s.Old {
		if m := g.Members[role]; m != nil {
			running = max(running, m.Baseline)
		}
	}
	if m := s.Current.Members[role]; m != nil {
		running = max(running, m.Replicas)
	}
	return running
}
