package rollout_test

import (
	"fmt"
	"slices"
	"testing"

	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// everyBudget runs a subtest for every partition and budget of a set, over both
// behaviours of the StatefulSet controller.
func everyBudget(t *testing.T, replicas int, run func(*testing.T, world)) {
	t.Helper()
	for partition := range replicas + 1 {
		for maxUnavailable := range 3 {
			for maxSurge := range 3 {
				if maxUnavailable+maxSurge == 0 {
					continue
				}
				w := newWorld(replicas, partition, maxUnavailable, maxSurge)
				w.podBudget, w.movesOnDelete = partition%2 == 0, maxUnavailable != 1
				name := fmt.Sprintf("%d replicas from %d unavailable %d surge %d",
					replicas, partition, maxUnavailable, maxSurge)
				t.Run(name, func(t *testing.T) { run(t, *w) })
			}
		}
	}
}

// stands are all combinations of gated, terminating, ready and updated.
var stands = []leaderPod{
	{},
	{stage: terminating, revision: 'A'},
	{stage: gated, revision: 'A'},
	{stage: gated, revision: 'B'},
	{stage: starting, revision: 'A'},
	{stage: starting, revision: 'B'},
	{stage: ready, revision: 'A'},
	{stage: ready, revision: 'B'},
}

// rare are exhausted groups and those of a third revision, left behind by a
// second change of the template.
var rare = []leaderPod{
	{stage: retained, revision: 'A'},
	{stage: retained, revision: 'B'},
	{stage: gated, revision: 'C'},
	{stage: ready, revision: 'C'},
}

// everyGroups calls run for every combination of pods at indices from … to−1.
func everyGroups(w world, pods []leaderPod, from, to int, run func(world)) {
	if from >= to {
		run(w)
		return
	}
	for _, p := range pods {
		w.pods[from] = p
		everyGroups(w, pods, from+1, to, run)
	}
}

// everyStart calls run for the StatefulSets that a rollout to B, or back to A,
// can be found with: before and after the template is written, and in its middle
// with a surge group.
func everyStart(w world, run func(w world, end int)) {
	run(w.rolling('A', 'B', 0), w.replicas)
	run(w.rolling('B', 'B', 0), w.replicas)
	run(w.rolling('A', 'A', 0), w.replicas)
	if w.maxSurge > 0 && w.replicas > 0 {
		run(w.rolling('B', 'B', 1), w.replicas+1)
	}
}

// rolling is the world with a StatefulSet of the template written, while the
// user wants update.
func (w world) rolling(template, update revision, surge int) world {
	w.update, w.sts.revision = update, template
	if surge > 0 {
		w.sts.spec = rollout.Spec{
			Replicas: w.replicas + surge, Surge: surge, OnDelete: true, Rolling: true, Baseline: w.replicas,
		}
	}
	w.seen = w.sts
	return w
}

// TestEveryStateEnds runs every small state to its end, everything happening in
// turn, and checks every plan on the way.
func TestEveryStateEnds(t *testing.T) {
	all := slices.Concat(stands, rare)
	for replicas := range 4 {
		everyBudget(t, replicas, func(t *testing.T, w world) {
			t.Helper()
			ends := map[world]bool{}
			everyStart(w, func(w world, end int) {
				pods := stands
				if end <= 2 {
					pods = all
				}
				everyGroups(w, pods, 0, end, func(start world) { runToEnd(t, start, ends) })
			})
		})
	}
}

// TestEveryStateOfMoreEnds has the StatefulSet of a template just written.
func TestEveryStateOfMoreEnds(t *testing.T) {
	for replicas, pods := range map[int][]leaderPod{3: slices.Concat(stands, rare), 4: stands} {
		everyBudget(t, replicas, func(t *testing.T, w world) {
			t.Helper()
			ends := map[world]bool{}
			everyGroups(w.rolling('B', 'B', 0), pods, 0, replicas, func(start world) { runToEnd(t, start, ends) })
		})
	}
}

// runToEnd stops at a world that is known to end.
func runToEnd(t *testing.T, start world, ends map[world]bool) {
	t.Helper()
	const enough = 60
	var path []world
	w := start
	for changed := true; changed && !ends[w]; {
		if len(path) == enough {
			t.Fatalf("does not end\nstart %s\nat    %s", &start, &w)
		}
		path = append(path, w)
		changed = w.round(func(in rollout.Input, p rollout.Plan) {
			if text := violation(in, p); text != "" {
				t.Fatalf("%s\nstart %s\nat    %s\ninput %+v\nplan  %+v", text, &start, &path[len(path)-1], in, p)
			}
		})
		if !changed {
			mustBeAtRest(t, &start, &w)
		}
	}
	for _, seen := range path {
		ends[seen] = true
	}
}

func mustBeAtRest(t *testing.T, start, w *world) {
	t.Helper()
	plan := rollout.Compute(w.input())
	if w.exhausted() {
		// Only a user recovers such a group, and it counts against the budget.
		if c := plan.Counts; plan.Phase == rollout.Acting || c.Outdated > 0 && c.Available > c.Floor {
			t.Fatalf("could go on: %+v\nstart %s\nat    %s", plan, start, w)
		}
		return
	}
	rest := rollout.Spec{Replicas: w.replicas, Partition: w.partition}
	if plan.Phase != rollout.Done || plan.Spec != rest {
		t.Fatalf("not at rest: %+v\nstart %s\nat    %s", plan, start, w)
	}
	for i, p := range w.pods[:w.replicas] {
		if p.stage != ready || i >= w.partition && p.revision != w.update {
			t.Fatalf("group %d is %s at the end\nstart %s\nat    %s", i, p, start, w)
		}
	}
}

func (w *world) exhausted() bool {
	for _, p := range w.pods {
		if p.stage == retained {
			return true
		}
	}
	return false
}
