package rollout_test

import (
	"fmt"
	"strings"

	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// The world is a set with its StatefulSet, the StatefulSet's controller, kubelets
// and a manager that does what the plan says. It is comparable, so that states
// that were explored once are not explored again.

const (
	most      = 24 // indices a world has
	unlimited = 1 << 20
)

type stage uint8

const (
	absent stage = iota
	gated
	starting
	ready
	terminating
	retained
)

type revision uint8 // 'A', 'B', 'C'

type leaderPod struct {
	stage    stage
	revision revision
	// unplaced pods were refused by the scheduler, broken ones never become ready.
	unplaced, broken bool
	// held is how many pods of the group have a place, if the world is piecemeal.
	held int8
}

func (p leaderPod) admitted() bool { return p.stage == starting || p.stage == ready }

// written is the leader StatefulSet, as written or as its controller knows it.
type written struct {
	spec     rollout.Spec
	revision revision
}

type world struct {
	// What the user asked for.
	replicas, partition, maxUnavailable, maxSurge int
	update                                        revision

	sts, seen written
	// observed: the controller has reported what is written.
	observed bool
	current  revision
	pods     [most]leaderPod

	// The controller's feature gate MaxUnavailableStatefulSet, and whether
	// currentRevision moves under OnDelete (from 1.37).
	podBudget, movesOnDelete bool
	// room is how many pods the cluster has place for, size how many a group of
	// revision A, B, C has.
	room int
	size [3]int
	// piecemeal: the scheduler places pods, not groups.
	piecemeal bool
	// bad is a revision whose groups never become ready.
	bad revision
}

// newWorld has all groups of revision A ready and at rest.
func newWorld(replicas, partition, maxUnavailable, maxSurge int) *world {
	w := &world{
		replicas: replicas, partition: partition, maxUnavailable: maxUnavailable, maxSurge: maxSurge,
		update: 'A', current: 'A', observed: true, podBudget: true, movesOnDelete: true,
		room: unlimited, size: [3]int{1, 1, 1},
	}
	w.sts = written{rollout.Spec{Replicas: replicas, Partition: partition}, 'A'}
	w.seen = w.sts
	for i := range replicas {
		w.pods[i] = leaderPod{stage: ready, revision: 'A'}
	}
	return w
}

func (w *world) input() rollout.Input {
	in := rollout.Input{
		Replicas: w.replicas, Partition: w.partition,
		MaxUnavailable: w.maxUnavailable, MaxSurge: w.maxSurge,
		CurrentIsUpdate: w.current == w.update,
		StatefulSet: rollout.StatefulSet{
			Spec:        w.sts.spec,
			Observed:    w.observed,
			OldTemplate: w.sts.revision != w.update,
		},
		Groups: make([]rollout.Group, 0, 8),
	}
	for i := range w.pods {
		if w.pods[i].stage != absent {
			in.Groups = append(in.Groups, w.group(i))
		}
	}
	return in
}

func (w *world) group(i int) rollout.Group {
	p := w.pods[i]
	leader := rollout.Live
	switch p.stage {
	case gated:
		leader = rollout.Gated
	case terminating:
		leader = rollout.Terminating
	case retained:
		leader = rollout.Retained
	}
	return rollout.Group{
		Index: i, Leader: leader, Ready: p.stage == ready, Unschedulable: p.unplaced,
		Updated: p.revision == w.update, Current: p.revision == w.current,
	}
}

// manage does what the plan says, in the order in which the manager does it.
func (w *world) manage(p rollout.Plan) {
	if next := (written{p.Spec, w.update}); next != w.sts {
		w.sts, w.observed = next, false
	}
	for _, d := range p.Delete {
		w.remove(d.Index)
	}
	for _, i := range p.Release {
		w.pods[i] = leaderPod{}
	}
}

// admit lifts the gate of every leader that the rollout admits.
func (w *world) admit() {
	in := w.input()
	for _, g := range in.Groups {
		if g.Leader == rollout.Gated && in.Admits(g) {
			w.pods[g.Index].stage = starting
		}
	}
}

// wanted is the revision that a new group is to have.
func (w *world) wanted(i int) revision {
	if i < w.partition && i < w.replicas {
		return w.current
	}
	return w.update
}

// remove deletes a pod: one without a node is gone at once.
func (w *world) remove(i int) {
	switch p := &w.pods[i]; {
	case p.stage == gated, p.unplaced:
		*p = leaderPod{}
	case p.admitted():
		p.stage = terminating
	}
}

// observe lets the StatefulSet controller read what is written.
func (w *world) observe() { w.seen = w.sts }

// reconcile is one pass of the StatefulSet controller over what it has seen,
// after the source of its releases 1.34 to 1.37. It returns the admitted pods
// that it deleted although they are within its replicas.
func (w *world) reconcile() (deleted []int) {
	spec := w.seen.spec
	for i := range w.pods {
		switch {
		case i >= spec.Replicas:
			w.remove(i)
		case w.pods[i].stage == absent:
			w.pods[i] = leaderPod{stage: gated, revision: w.born(i)}
		}
	}
	if !spec.OnDelete {
		deleted = w.roll()
	}
	w.report()
	return deleted
}

func (w *world) born(i int) revision {
	if !w.seen.spec.OnDelete && i < w.seen.spec.Partition {
		return w.current
	}
	return w.seen.revision
}

func (w *world) roll() (deleted []int) {
	drop := func(i int) {
		if w.pods[i].admitted() {
			deleted = append(deleted, i)
		}
		w.remove(i)
	}
	old := func(i int) bool {
		return w.pods[i].revision != w.seen.revision && w.pods[i].stage != absent &&
			w.pods[i].stage != terminating && w.pods[i].stage != retained
	}
	spec := w.seen.spec
	if !w.podBudget {
		for i := spec.Replicas - 1; i >= spec.Partition; i-- {
			if old(i) {
				drop(i)
				return deleted
			}
			if w.pods[i].stage != ready {
				return deleted
			}
		}
		return deleted
	}
	down := 0
	for i := range spec.Replicas {
		if w.pods[i].stage != ready {
			down++
		}
	}
	for i := spec.Replicas - 1; i >= spec.Partition; i-- {
		if old(i) && w.pods[i].stage != ready {
			drop(i)
		}
	}
	for i := spec.Replicas - 1; i >= spec.Partition && down < 1; i-- {
		if old(i) && w.pods[i].stage == ready {
			drop(i)
			down++
		}
	}
	return deleted
}

func (w *world) report() {
	w.observed = w.seen == w.sts
	updated, all := 0, 0
	for _, p := range w.pods {
		if p.stage != absent {
			all++
		}
		if p.stage == ready && p.revision == w.seen.revision {
			updated++
		}
	}
	if updated == w.seen.spec.Replicas && all == updated && (w.movesOnDelete || !w.seen.spec.OnDelete) {
		w.current = w.seen.revision
	}
}

// tend is what happens to one pod by itself: it goes, is placed, becomes ready.
func (w *world) tend(i int) {
	p := &w.pods[i]
	switch p.stage {
	case terminating:
		*p = leaderPod{}
	case starting:
		p.unplaced = !w.placed(i)
		if !p.unplaced && !p.broken && p.revision != w.bad {
			p.stage = ready
		}
	}
}

// placed: a place is free for the group, or it has one.
func (w *world) placed(i int) bool {
	if w.room == unlimited {
		return true
	}
	if w.piecemeal {
		return w.placedByPod(i)
	}
	return w.taken(i)+w.groupSize(i) <= w.room
}

// placedByPod places one more pod of the group, if there is room.
func (w *world) placedByPod(i int) bool {
	p := &w.pods[i]
	if int(p.held) < w.groupSize(i) && w.taken(i)+int(p.held) < w.room {
		p.held++
	}
	return int(p.held) == w.groupSize(i)
}

// taken is how many pods of other groups have a place.
func (w *world) taken(i int) int {
	taken := 0
	for j, p := range w.pods {
		hangs := p.stage == starting && (p.revision == w.bad || p.broken) && !p.unplaced
		switch {
		case j == i:
		case p.stage == ready || p.stage == terminating || p.stage == retained || hangs:
			taken += w.groupSize(j)
		case p.stage == starting:
			taken += int(p.held)
		}
	}
	return taken
}

func (w *world) groupSize(i int) int { return w.size[w.pods[i].revision-'A'] }

// round lets everything happen once; it reports whether anything did.
func (w *world) round(check func(rollout.Input, rollout.Plan)) bool {
	before := *w
	in := w.input()
	plan := rollout.Compute(in)
	check(in, plan)
	w.manage(plan)
	w.settle()
	return *w != before
}

// settle lets everything but the manager's plan happen once.
func (w *world) settle() {
	w.observe()
	w.reconcile()
	w.admit()
	for i := range w.pods {
		w.tend(i)
	}
}

// String is the world in a line: the StatefulSet, then every group as revision
// and sign.
func (w *world) String() string {
	var b strings.Builder
	kind := fmt.Sprintf("p%d", w.sts.spec.Partition)
	if w.sts.spec.OnDelete {
		kind = "OnDelete"
	}
	seen := ""
	if !w.observed {
		seen = "?"
	}
	fmt.Fprintf(&b, "%d+%d %s%s", w.sts.spec.Replicas-w.sts.spec.Surge, w.sts.spec.Surge, kind, seen)
	b.WriteString(" |")
	last := w.sts.spec.Replicas
	for i := range w.pods {
		if w.pods[i].stage != absent {
			last = max(last, i+1)
		}
	}
	for _, p := range w.pods[:last] {
		b.WriteByte(' ')
		b.WriteString(p.String())
	}
	return b.String()
}

func (p leaderPod) String() string {
	if p.stage == absent {
		return "--"
	}
	if p.unplaced {
		return string(p.revision) + "!"
	}
	if p.broken {
		return string(p.revision) + "*"
	}
	return string(p.revision) + map[stage]string{
		gated: "#", starting: "~", ready: "+", terminating: "x", retained: "&",
	}[p.stage]
}
