package harness

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// RoleExtremes are those of one role in one slice, over all revisions.
type RoleExtremes struct {
	// MinReady is the fewest groups that answered.
	MinReady int
	// MaxExisting is the most groups that were not on their way out, MaxWanted the
	// most that were asked for.
	MaxExisting, MaxWanted int
}

// RoleWatch is what was seen of a DisaggregatedSet.
type RoleWatch struct {
	// Roles are by "slice/role".
	Roles map[string]*RoleExtremes
	// Orphans tell of revisions that had some of their roles and not the others
	// while the manager did something else.
	Orphans []string
	// LongestPartial is how long a revision had some of its roles only, at most: the
	// time between two writes.
	LongestPartial time.Duration
	// HalfPublished tell of revisions with Services that lacked a ready role.
	HalfPublished []string
	// Reversals tell of revisions that grew when they were old already.
	Reversals []string
}

// WatchRoles looks at a DisaggregatedSet since a mark. The state at the mark counts
// as well.
func (h History) WatchRoles(set string, since Mark) *RoleWatch {
	v := newSlicesView(set)
	started := false
	for _, c := range h.changes() {
		if !started && c.version > since.version {
			started = true
			v.lookAtAll()
		}
		v.watching = started
		v.apply(c)
	}
	if !started {
		v.lookAtAll()
	}
	return v.seen
}

// String has one line for each role.
func (w *RoleWatch) String() string {
	text := &strings.Builder{}
	for _, key := range slices.Sorted(maps.Keys(w.Roles)) {
		e := w.Roles[key]
		fmt.Fprintf(text, "%s: lowest ready %d, highest existing %d, highest wanted %d\n", key, e.MinReady, e.MaxExisting, e.MaxWanted)
	}
	fmt.Fprintf(text, "revisions with a role missing: %d (longest between two writes: %s); published without a ready role: %d; old revisions that grew: %d",
		len(w.Orphans), w.LongestPartial.Round(time.Millisecond), len(w.HalfPublished), len(w.Reversals))
	return text.String()
}

// Violations are what no rollout may show, whoever is killed meanwhile.
func (w *RoleWatch) Violations() []string { return slices.Concat(w.HalfPublished, w.Reversals) }

// memberState is what a LeaderWorkerSet of the set is, and how its groups are.
type memberState struct {
	role, slice, revision string
	replicas              int
	old                   bool
	groups                groupsView
}

func (m *memberState) generation() string { return m.slice + "/" + m.revision }

func (m *memberState) key() string { return m.slice + "/" + m.role }

// slicesView is a DisaggregatedSet at a moment.
type slicesView struct {
	set      string
	watching bool
	members  map[string]*memberState
	// services are the generations of Services, by name.
	services map[string]string
	// partial are the generations that lack a role, by slice, and since when.
	partial map[string]partialGeneration
	seen    *RoleWatch
}

type partialGeneration struct {
	name  string
	since time.Time
}

func newSlicesView(set string) *slicesView {
	return &slicesView{
		set: set, members: map[string]*memberState{}, services: map[string]string{}, partial: map[string]partialGeneration{},
		seen: &RoleWatch{Roles: map[string]*RoleExtremes{}},
	}
}

func (v *slicesView) apply(c change) {
	switch {
	case c.pod != nil && c.pod.Labels[dsv1.SetNameLabelKey] == v.set:
		m := v.member(c.pod.Set, c.pod.Labels)
		m.groups.apply(*c.pod)
		v.look(m)
	case c.set != nil && c.set.Labels[dsv1.SetNameLabelKey] == v.set:
		v.applySet(c)
	case c.service != nil && c.service.GetLabels()[dsv1.SetNameLabelKey] == v.set:
		labels := c.service.GetLabels()
		v.services[c.service.GetName()] = sliceOf(labels) + "/" + labels[dsv1.RevisionLabelKey]
		if c.service.Gone {
			delete(v.services, c.service.GetName())
		}
	}
}

func (v *slicesView) member(name string, labels map[string]string) *memberState {
	m := v.members[name]
	if m == nil {
		m = &memberState{
			role: labels[dsv1.RoleLabelKey], slice: sliceOf(labels), revision: labels[dsv1.RevisionLabelKey],
			groups: groupsView{},
		}
		v.members[name] = m
	}
	return m
}

// sliceOf is 0 for what a release without slices made.
func sliceOf(labels map[string]string) string {
	if slice := labels[dsv1.SliceLabelKey]; slice != "" {
		return slice
	}
	return "0"
}

func (v *slicesView) applySet(c change) {
	m := v.member(c.set.Name, c.set.Labels)
	before := m.replicas
	m.replicas = int(lwsv1.Replicas(c.set.LeaderWorkerSet))
	if c.set.Gone {
		m.replicas = 0
	}
	if m.replicas != before {
		if v.watching && m.old && m.replicas > before {
			v.seen.Reversals = append(v.seen.Reversals, fmt.Sprintf("%s grew from %d to %d when it was old", c.set.Name, before, m.replicas))
		}
		v.judgePartial(m, c.at)
	}
	_, m.old = c.set.Annotations[dsv1.InitialReplicasAnnotationKey]
	v.look(m)
}

// judgePartial looks at the generation of a member whose replicas just changed. One
// that has some of its roles only is whole again before anything else is done.
func (v *slicesView) judgePartial(m *memberState, at time.Time) {
	open, isOpen := v.partial[m.slice]
	if isOpen && v.watching && open.name != m.generation() {
		v.seen.Orphans = append(v.seen.Orphans, fmt.Sprintf("%s lacks a role while %s changes", open.name, m.generation()))
	}
	if isOpen && open.name == m.generation() {
		if v.watching {
			v.seen.LongestPartial = max(v.seen.LongestPartial, at.Sub(open.since))
		}
		delete(v.partial, m.slice)
	}
	if v.isPartial(m.generation()) {
		if !isOpen || open.name != m.generation() {
			open = partialGeneration{m.generation(), at}
		}
		v.partial[m.slice] = open
	}
}

func (v *slicesView) isPartial(generation string) bool {
	some, lacks := false, false
	for _, m := range v.members {
		if m.generation() == generation {
			some, lacks = some || m.replicas > 0, lacks || m.replicas == 0
		}
	}
	return some && lacks
}

func (v *slicesView) lookAtAll() {
	v.watching = true
	for _, m := range v.members {
		v.look(m)
	}
}

// look keeps the extremes of a member's role and judges its Services.
func (v *slicesView) look(m *memberState) {
	if !v.watching {
		return
	}
	ready, existing, wanted := 0, 0, 0
	for _, other := range v.members {
		if other.key() == m.key() {
			ready, existing, wanted = ready+other.groups.ready(), existing+other.groups.staying(), wanted+other.replicas
		}
	}
	e := v.seen.Roles[m.key()]
	if e == nil {
		e = &RoleExtremes{MinReady: ready}
		v.seen.Roles[m.key()] = e
	}
	e.MinReady, e.MaxExisting, e.MaxWanted = min(e.MinReady, ready), max(e.MaxExisting, existing), max(e.MaxWanted, wanted)
	if m.replicas > 0 && m.groups.ready() == 0 && v.isPublished(m.generation()) {
		text := fmt.Sprintf("%s is published while %s has no ready group", m.generation(), m.role)
		if !slices.Contains(v.seen.HalfPublished, text) {
			v.seen.HalfPublished = append(v.seen.HalfPublished, text)
		}
	}
}

func (v *slicesView) isPublished(generation string) bool {
	for _, published := range v.services {
		if published == generation {
			return true
		}
	}
	return false
}

// staying counts groups whose leader is not on its way out.
func (v groupsView) staying() int {
	count := 0
	for _, group := range v {
		if leader, found := group.leader(); found && !leader.Ending {
			count++
		}
	}
	return count
}
