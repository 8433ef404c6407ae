package harness

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Mark is a moment of a recording. Events have none: they are sent later than what
// they tell, and counted up later still.
type Mark struct {
	pods, sets int
	version    uint64
}

// Mark is now.
func (h History) Mark() Mark {
	mark := Mark{pods: len(h.Pods), sets: len(h.Sets)}
	for _, c := range h.changes() {
		mark.version = max(mark.version, c.version)
	}
	return mark
}

// groupView is the pods of a group that exist, by name.
type groupView map[string]PodState

// leader finds the leader, gated or not.
func (g groupView) leader() (PodState, bool) {
	for _, pod := range g {
		if pod.Worker == 0 {
			return pod, true
		}
	}
	return PodState{}, false
}

// isReady is what a user of the group sees: its leader and all its workers answer,
// and none of them is on its way out.
func (g groupView) isReady() bool {
	leader, found := g.leader()
	if !found || !leader.Ready || leader.Ending {
		return false
	}
	workers := 0
	for _, pod := range g {
		if pod.Worker > 0 && pod.Ready && !pod.Ending && pod.Revision == leader.Revision {
			workers++
		}
	}
	return workers == leader.Size-1
}

// groupsView is the groups of a set at a moment.
type groupsView map[string]groupView

func (v groupsView) apply(state PodState) {
	group := v[state.Group]
	if group == nil {
		group = groupView{}
		v[state.Group] = group
	}
	if !state.Gone {
		group[state.Name] = state
		return
	}
	delete(group, state.Name)
	if len(group) == 0 {
		delete(v, state.Group)
	}
}

// ready counts ready groups, surge as well: they serve.
func (v groupsView) ready() int {
	count := 0
	for _, group := range v {
		if group.isReady() {
			count++
		}
	}
	return count
}

// existing counts groups that have a leader which may run.
func (v groupsView) existing() int {
	count := 0
	for _, group := range v {
		if _, found := group.leader(); found {
			count++
		}
	}
	return count
}

// Extremes are the fewest ready and the most existing groups.
type Extremes struct {
	MinReady, MaxExisting int
	// Readies is how the number of ready groups went, without repetitions.
	Readies []int
}

// Extremes of a set since a mark. The state at the mark counts as well.
func (h History) Extremes(set string, since Mark) Extremes {
	view := groupsView{}
	var e Extremes
	look := func() {
		ready := view.ready()
		if len(e.Readies) == 0 || e.Readies[len(e.Readies)-1] != ready {
			e.Readies = append(e.Readies, ready)
		}
		e.MaxExisting = max(e.MaxExisting, view.existing())
	}
	for i, state := range h.Pods {
		if i == since.pods {
			look()
		}
		if state.Set != set {
			continue
		}
		view.apply(state)
		if i >= since.pods {
			look()
		}
	}
	if len(e.Readies) == 0 {
		look()
	}
	e.MinReady = slices.Min(e.Readies)
	return e
}

// UIDs are those of all pods of a set that ever had a name, in their order.
func (h History) UIDs(set string) map[string][]types.UID {
	found := map[string][]types.UID{}
	for _, state := range h.Pods {
		if state.Set == set && !slices.Contains(found[state.Name], state.UID) {
			found[state.Name] = append(found[state.Name], state.UID)
		}
	}
	return found
}

// MixedGroups tells where a group was of two revisions, or had workers that were not
// its leader's: what an admitted leader that stays leads is of its revision.
func (h History) MixedGroups(set string) []string {
	view := groupsView{}
	var violations []string
	for _, state := range h.Pods {
		if state.Set != set {
			continue
		}
		view.apply(state)
		if text := view[state.Group].mixture(); text != "" && !slices.Contains(violations, text) {
			violations = append(violations, text)
		}
	}
	return violations
}

func (g groupView) mixture() string {
	leader, found := g.leader()
	if !found || leader.Gated || leader.Ending {
		return ""
	}
	for _, pod := range g {
		if pod.Worker > 0 && !pod.Ending && pod.Revision != leader.Revision {
			return fmt.Sprintf("worker %s (%s) is of revision %s, its leader %s (%s) of %s",
				pod.Name, pod.UID, pod.Revision, leader.Name, leader.UID, leader.Revision)
		}
	}
	return ""
}

// Replaced are the leaders of a set in the order in which they began to end since a
// mark, by name, each as often as it did. One that its gate still holds leads no group
// yet: a StatefulSet may make one of the revision that it had a moment ago.
func (h History) Replaced(set string, since Mark) []string {
	var order []string
	ended := map[types.UID]bool{}
	for i, state := range h.Pods {
		if state.Set != set || state.Worker != 0 || state.Gated || !state.Ending && !state.Gone || ended[state.UID] {
			continue
		}
		ended[state.UID] = true
		if i >= since.pods {
			order = append(order, state.Name)
		}
	}
	return order
}
