package rollout_test

import (
	"fmt"
	"slices"
	"testing"

	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// node is a world with what may still go wrong in it.
type node struct {
	world
	edits, failures int
}

// step is something that can happen next, and whether it changed anything.
type step struct {
	name string
	to   node
}

// explorer visits every order in which manager, StatefulSet controller, pods and
// the user can act.
type explorer struct {
	t    *testing.T
	from map[node]node
	how  map[node]string
	ends map[world]bool
}

func (e *explorer) explore(start node) {
	e.from[start] = start
	for queue := []node{start}; len(queue) > 0; {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, s := range e.steps(at) {
			if _, known := e.from[s.to]; known {
				continue
			}
			e.from[s.to], e.how[s.to] = at, s.name
			runToEnd(e.t, s.to.world, e.ends)
			queue = append(queue, s.to)
		}
	}
}

func (e *explorer) steps(at node) []step {
	var steps []step
	add := func(name string, act func(*node)) {
		next := at
		if act(&next); next != at {
			steps = append(steps, step{name, next})
		}
	}
	add("manage", func(n *node) { e.manage(at, n) })
	add("admit", func(n *node) { e.admit(at, n) })
	add("observe", func(n *node) { n.observe() })
	add("reconcile", func(n *node) {
		for _, i := range n.reconcile() {
			// An undo that it has not seen yet is the one case in which it may
			// take a leader that was just admitted.
			if i < n.replicas && n.seen.revision == n.sts.revision {
				e.fail(at, fmt.Sprintf("the StatefulSet controller deletes group %d", i))
			}
		}
	})
	for i := range at.sts.spec.Replicas + 1 {
		add(fmt.Sprintf("tend %d", i), func(n *node) { n.tend(i) })
		if at.failures > 0 && at.pods[i].admitted() {
			add(fmt.Sprintf("fail %d", i), func(n *node) { n.failures--; n.pods[i].stage = starting })
			add(fmt.Sprintf("lose %d", i), func(n *node) { n.failures--; n.remove(i) })
		}
	}
	if at.edits > 0 {
		for _, r := range []revision{'A', 'B', 'C'} {
			add("template "+string(r), func(n *node) { n.edits--; n.update = r })
		}
		add("partition", func(n *node) { n.edits--; n.partition = (n.partition + 1) % (n.replicas + 1) })
		add("scale up", func(n *node) { n.edits--; n.replicas++ })
		add("scale down", func(n *node) { n.edits--; n.replicas = max(0, n.replicas-1) })
	}
	return steps
}

func (e *explorer) admit(at node, n *node) {
	n.admit()
	for i, p := range n.pods {
		if want := at.wanted(i); p.admitted() && !at.pods[i].admitted() && p.revision != want {
			e.fail(at, fmt.Sprintf("group %d is admitted with %s instead of %c", i, p, want))
		}
	}
}

func (e *explorer) manage(at node, n *node) {
	in := n.input()
	plan := rollout.Compute(in)
	if text := violation(in, plan); text != "" {
		e.fail(at, fmt.Sprintf("%s\ninput %+v\nplan  %+v", text, in, plan))
	}
	n.world.manage(plan)
	for i, p := range at.pods[:min(at.partition, at.replicas)] {
		if p.admitted() && n.pods[i] != p {
			e.fail(at, fmt.Sprintf("group %d below the partition changes", i))
		}
	}
}

func (e *explorer) fail(at node, text string) {
	e.t.Helper()
	var trail []string
	for n := at; e.from[n] != n; n = e.from[n] {
		trail = append(trail, fmt.Sprintf("%-12s %s", e.how[n], &n.world))
	}
	slices.Reverse(trail)
	for _, line := range trail {
		e.t.Log(line)
	}
	e.t.Fatal(text)
}

func TestEveryOrderEnds(t *testing.T) {
	for _, budget := range [][2]int{{1, 0}, {0, 1}} {
		for partition := range 3 {
			name := fmt.Sprintf("2 replicas from %d unavailable %d surge %d", partition, budget[0], budget[1])
			t.Run(name, func(t *testing.T) {
				e := explorer{t: t, from: map[node]node{}, how: map[node]string{}, ends: map[world]bool{}}
				w := newWorld(2, partition, budget[0], budget[1])
				w.podBudget, w.movesOnDelete = partition != 1, budget[1] == 0
				e.explore(node{world: *w, edits: 2, failures: 1})
				t.Logf("%d states", len(e.from))
			})
		}
	}
}
