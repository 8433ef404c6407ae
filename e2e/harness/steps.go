package harness

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// together is how close the writes of one step are.
const together = 150 * time.Millisecond

// Step is what the roles of a slice have since a moment: groups that are wanted of
// the newest revision and of all others.
type Step struct {
	At       time.Time
	Old, New map[string]int
}

// Steps are how the roles of a slice went since a mark, one for each round of
// writes; new is what is of a revision.
func (h History) Steps(set, slice, revision string, since Mark) []Step {
	replicas := map[string]*memberState{}
	var steps []Step
	for _, state := range h.Sets {
		if state.Labels[dsv1.SetNameLabelKey] != set || state.Labels[dsv1.SliceLabelKey] != slice {
			continue
		}
		m := replicas[state.Name]
		if m == nil {
			m = &memberState{role: state.Labels[dsv1.RoleLabelKey], revision: state.Labels[dsv1.RevisionLabelKey]}
			replicas[state.Name] = m
		}
		before := m.replicas
		if m.replicas = int(lwsv1.Replicas(state.LeaderWorkerSet)); state.Gone {
			m.replicas = 0
		}
		if before == m.replicas || VersionOf(state) <= since.version {
			continue
		}
		now := countSides(replicas, revision)
		now.At = state.At
		if n := len(steps); n > 0 && now.At.Sub(steps[n-1].At) < together {
			now.At = steps[n-1].At
			steps[n-1] = now
			continue
		}
		steps = append(steps, now)
	}
	return steps
}

func countSides(members map[string]*memberState, revision string) Step {
	now := Step{Old: map[string]int{}, New: map[string]int{}}
	for _, m := range members {
		if m.revision == revision {
			now.New[m.role] += m.replicas
		} else {
			now.Old[m.role] += m.replicas
		}
	}
	return now
}

// Courses are how each role of a slice went since a mark, "old+new" without
// repetitions: what it went through, whatever the other roles did meanwhile.
func (h History) Courses(set, slice, revision string, since Mark) map[string][]string {
	members := map[string]*memberState{}
	courses := map[string][]string{}
	for _, state := range h.Sets {
		if state.Labels[dsv1.SetNameLabelKey] != set || state.Labels[dsv1.SliceLabelKey] != slice {
			continue
		}
		m := &memberState{role: state.Labels[dsv1.RoleLabelKey], revision: state.Labels[dsv1.RevisionLabelKey]}
		if m.replicas = int(lwsv1.Replicas(state.LeaderWorkerSet)); state.Gone {
			m.replicas = 0
		}
		members[state.Name] = m
		if VersionOf(state) <= since.version {
			continue
		}
		now := countSides(members, revision)
		text := strconv.Itoa(now.Old[m.role]) + "+" + strconv.Itoa(now.New[m.role])
		if course := courses[m.role]; len(course) == 0 || course[len(course)-1] != text {
			courses[m.role] = append(course, text)
		}
	}
	return courses
}

// Table shows steps: when, and for each role what is old and new.
func Table(steps []Step, begin time.Time) string {
	text := &strings.Builder{}
	for _, step := range steps {
		fmt.Fprintf(text, "%7.2fs", step.At.Sub(begin).Seconds())
		roles := maps.Clone(step.Old)
		maps.Copy(roles, step.New)
		for _, role := range slices.Sorted(maps.Keys(roles)) {
			fmt.Fprintf(text, "   %s old %2d new %2d", role, step.Old[role], step.New[role])
		}
		text.WriteString("\n")
	}
	return text.String()
}

// StartTimes are how long the leaders of a role in a slice and revision took from
// being made to being ready, in the order in which they were made.
func (h History) StartTimes(set, slice, role, revision string) []time.Duration {
	made := map[types.UID]time.Time{}
	took := map[types.UID]time.Duration{}
	var order []types.UID
	for _, pod := range h.Pods {
		labels := pod.Labels
		if labels[dsv1.SetNameLabelKey] != set || labels[dsv1.SliceLabelKey] != slice ||
			labels[dsv1.RoleLabelKey] != role || labels[dsv1.RevisionLabelKey] != revision || pod.Worker != 0 {
			continue
		}
		if _, known := made[pod.UID]; !known {
			made[pod.UID] = pod.At
			order = append(order, pod.UID)
		}
		if _, known := took[pod.UID]; !known && pod.Ready {
			took[pod.UID] = pod.At.Sub(made[pod.UID])
		}
	}
	var all []time.Duration
	for _, uid := range order {
		if d, known := took[uid]; known {
			all = append(all, d)
		}
	}
	return all
}

// ReplicaTimes are how long the groups of a role in a slice and revision took from
// being asked for to being counted as ready, both as its LeaderWorkerSet says.
func (h History) ReplicaTimes(set, slice, role, revision string) []time.Duration {
	var asked, ready []time.Time
	for _, state := range h.Sets {
		labels := state.Labels
		if labels[dsv1.SetNameLabelKey] != set || labels[dsv1.SliceLabelKey] != slice ||
			labels[dsv1.RoleLabelKey] != role || labels[dsv1.RevisionLabelKey] != revision {
			continue
		}
		for len(asked) < int(lwsv1.Replicas(state.LeaderWorkerSet)) {
			asked = append(asked, state.At)
		}
		for len(ready) < min(int(state.Status.ReadyReplicas), len(asked)) {
			ready = append(ready, state.At)
		}
	}
	var all []time.Duration
	for i := range ready {
		all = append(all, ready[i].Sub(asked[i]))
	}
	return all
}
