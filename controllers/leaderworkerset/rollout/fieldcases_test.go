package rollout_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// seen is what an observer of a whole rollout reports.
type seen struct {
	MinReady, MaxGroups int
	// Down is the largest number of groups deleted in one step, Writes the number
	// of writes of the StatefulSet, Order the indices in which groups were deleted.
	Down, Writes int
	Order        []int
}

// watch runs a world to its end. between is called before every round.
func watch(t *testing.T, w *world, between func(round int, w *world)) seen {
	t.Helper()
	out := seen{MinReady: most}
	for round, changed := 0, true; changed; round++ {
		if round > 200 {
			t.Fatalf("does not end: %s", w)
		}
		if between != nil {
			between(round, w)
		}
		before := *w
		in := w.input()
		plan := rollout.Compute(in)
		if text := violation(in, plan); text != "" {
			t.Fatalf("%s at %s", text, w)
		}
		w.manage(plan)
		out.note(&before, w, plan)
		w.settle()
		changed = *w != before
	}
	return out
}

// note looks at the moment after a plan was carried out: fewest are ready then.
func (s *seen) note(before, after *world, plan rollout.Plan) {
	if before.sts != after.sts {
		s.Writes++
	}
	s.Down = max(s.Down, len(plan.Delete))
	for _, d := range plan.Delete {
		s.Order = append(s.Order, d.Index)
	}
	readyNow, exist := 0, 0
	for i, p := range after.pods {
		if p.stage == ready && i < after.sts.spec.Replicas {
			readyNow++
		}
		if p.stage != absent {
			exist++
		}
	}
	s.MinReady, s.MaxGroups = min(s.MinReady, readyNow), max(s.MaxGroups, exist)
}

func TestFieldCases(t *testing.T) {
	rollTo := func(replicas, partition, maxUnavailable, maxSurge int, pods string) *world {
		w := newWorld(replicas, partition, maxUnavailable, maxSurge)
		if pods != "" {
			groups(w, pods)
		}
		w.update = 'B'
		return w
	}
	for name, tc := range map[string]struct {
		world   *world
		between func(int, *world)
		want    seen
		end     string
	}{
		"10: none was ever ready, maxUnavailable 0": {
			rollTo(4, 0, 0, 1, "A* A* A* A*"), nil,
			seen{0, 4, 4, 2, []int{3, 2, 1, 0}},
			"4+0 p0 | B+ B+ B+ B+",
		},
		"11: the broken one first, the other not while it is down": {
			rollTo(2, 0, 1, 0, "A* A+"), nil,
			seen{1, 2, 1, 2, []int{0, 1}},
			"2+0 p0 | B+ B+",
		},
		"12: surge only": {
			rollTo(3, 0, 0, 1, ""), nil,
			seen{3, 4, 1, 3, []int{2, 1, 0}},
			"3+0 p0 | B+ B+ B+",
		},
		"12: surge only, one replica": {
			rollTo(1, 0, 0, 1, ""), nil,
			seen{1, 2, 1, 3, []int{0}},
			"1+0 p0 | B+",
		},
		"one replica without surge": {
			rollTo(1, 0, 1, 0, ""), nil,
			seen{0, 1, 1, 2, []int{0}},
			"1+0 p0 | B+",
		},
		"13: 5 groups one at a time, scaled to 1 halfway": {
			rollTo(5, 0, 1, 0, ""),
			func(round int, w *world) {
				if round == 5 {
					w.replicas = 1
				}
			},
			seen{0, 5, 1, 3, []int{4, 3, 0}},
			"1+0 p0 | B+",
		},
		"14: larger groups, more of them, no room for both generations": {
			func() *world {
				w := rollTo(4, 0, 1, 0, "A+ A+")
				w.sts.spec = atRest(2, 0)
				w.size, w.room = [3]int{4, 2, 1}, 8
				return w
			}(), nil,
			seen{1, 4, 1, 2, []int{1, 0}},
			"4+0 p0 | B+ B+ B+ B+",
		},
		"14: smaller groups, fewer of them, no room for both generations": {
			func() *world {
				w := rollTo(3, 0, 1, 1, "A+ A+ A+ A+")
				w.sts.spec = atRest(4, 0)
				w.size, w.room = [3]int{2, 3, 1}, 9
				return w
			}(), nil,
			seen{2, 4, 2, 2, []int{3, 2, 1, 0}},
			"3+0 p0 | B+ B+ B+",
		},
		"14: a surge group that finds no room gives way": {
			func() *world {
				w := rollTo(2, 0, 1, 1, "A+ A+ A+")
				w.sts.spec = atRest(3, 0)
				w.size, w.room, w.piecemeal = [3]int{2, 3, 1}, 6, true
				return w
			}(), nil,
			seen{1, 3, 2, 3, []int{2, 1, 0}},
			"2+0 p0 | B+ B+",
		},
		"14: four groups, none of whose surge finds room": {
			func() *world {
				w := rollTo(4, 0, 1, 2, "")
				w.size, w.room, w.piecemeal = [3]int{2, 2, 1}, 8, true
				return w
			}(), nil,
			seen{3, 6, 1, 7, []int{3, 2, 1, 0}},
			"4+0 p0 | B+ B+ B+ B+",
		},
		"15: a leader that the rollout has not reached is deleted": {
			rollTo(4, 0, 1, 0, ""),
			func(round int, w *world) {
				if round == 2 {
					w.remove(1)
				}
			},
			seen{2, 4, 1, 2, []int{3, 2, 0}},
			"4+0 p0 | B+ B+ B+ B+",
		},
		"15: below the user's partition it is the old one": {
			rollTo(4, 2, 1, 0, ""),
			func(round int, w *world) {
				if round == 2 {
					w.remove(0)
				}
			},
			seen{2, 4, 1, 3, []int{3, 2}},
			"4+0 p2 | A+ A+ B+ B+",
		},
		"16: four at a time, whatever the StatefulSet controller can": {
			func() *world {
				w := rollTo(8, 0, 4, 0, "")
				w.podBudget, w.movesOnDelete = false, false
				return w
			}(), nil,
			seen{4, 8, 4, 2, []int{7, 6, 5, 4, 3, 2, 1, 0}},
			"8+0 p0 | B+ B+ B+ B+ B+ B+ B+ B+",
		},
		"17: undone halfway": {
			rollTo(4, 0, 1, 0, ""),
			func(round int, w *world) {
				if round == 5 {
					w.update = 'A'
				}
			},
			seen{3, 4, 1, 3, []int{3, 2, 3, 2}},
			"4+0 p0 | A+ A+ A+ A+",
		},
		"18: partition and surge": {
			rollTo(4, 2, 1, 1, ""), nil,
			seen{3, 5, 2, 3, []int{3, 2}},
			"4+0 p2 | A+ A+ B+ B+",
		},
		"27: a rollout to a template that never becomes ready stops at the floor": {
			func() *world {
				w := rollTo(5, 0, 2, 1, "")
				w.bad = 'B'
				return w
			}(), nil,
			seen{3, 6, 2, 1, []int{4, 3}},
			"5+1 OnDelete | A+ A+ A+ B~ B~ B~",
		},
		"20 groups, 5 and 2: all writes of the StatefulSet are surge and type": {
			rollTo(20, 0, 5, 2, ""), nil,
			seen{15, 22, 7, 4, []int{19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
			"20+0 p0 | B+ B+ B+ B+ B+ B+ B+ B+ B+ B+ B+ B+ B+ B+ B+ B+ B+ B+ B+ B+",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := watch(t, tc.world, tc.between)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("seen (-want +got):\n%s", diff)
			}
			if end := tc.world.String(); end != tc.end {
				t.Errorf("ends as %q, want %q", end, tc.end)
			}
		})
	}
}
