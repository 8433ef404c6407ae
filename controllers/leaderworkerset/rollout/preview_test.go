package rollout_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// newTemplate has a set at rest get another template.
func newTemplate(w *world) *world {
	w.update = 'B'
	return w
}

// told is a course as one says it.
func told(c rollout.Course) []string {
	var lines []string
	for _, s := range c.Steps {
		var parts []string
		for _, d := range s.Replace {
			parts = append(parts, fmt.Sprintf("%s %d", d.Cause, d.Index))
		}
		for _, i := range s.Release {
			parts = append(parts, fmt.Sprintf("release %d", i))
		}
		for _, i := range s.Add {
			parts = append(parts, fmt.Sprintf("add %d", i))
		}
		for _, i := range s.Remove {
			parts = append(parts, fmt.Sprintf("remove %d", i))
		}
		lines = append(lines, fmt.Sprintf("%s: %d ready, %d exist", strings.Join(parts, ", "), s.Ready, s.Existing))
	}
	return append(lines, fmt.Sprintf("%s: %d ready at least, %d exist at most", c.End.Reason, c.LowestReady, c.HighestExisting))
}

func TestPreview(t *testing.T) {
	tests := map[string]struct {
		world func() *world
		want  []string
	}{
		"nothing to do": {
			func() *world { return newWorld(3, 0, 1, 0) },
			[]string{"UpToDate: 3 ready at least, 3 exist at most"},
		},
		"one at a time, the highest first": {
			func() *world { return newTemplate(newWorld(3, 0, 1, 0)) },
			[]string{
				"Outdated 2: 2 ready, 3 exist", "Outdated 1: 2 ready, 3 exist", "Outdated 0: 2 ready, 3 exist",
				"UpToDate: 2 ready at least, 3 exist at most",
			},
		},
		"several at a time": {
			func() *world { return newTemplate(newWorld(5, 0, 2, 0)) },
			[]string{
				"Outdated 4, Outdated 3: 3 ready, 5 exist", "Outdated 2, Outdated 1: 3 ready, 5 exist", "Outdated 0: 4 ready, 5 exist",
				"UpToDate: 3 ready at least, 5 exist at most",
			},
		},
		"surge comes first and goes last": {
			func() *world { return newTemplate(newWorld(2, 0, 0, 1)) },
			[]string{
				"add 2: 2 ready, 3 exist", "Outdated 1: 2 ready, 3 exist", "Outdated 0: 2 ready, 3 exist",
				"remove 2: 2 ready, 3 exist", "UpToDate: 2 ready at least, 3 exist at most",
			},
		},
		"down to the partition": {
			func() *world { return newTemplate(newWorld(3, 2, 1, 0)) },
			[]string{"Outdated 2: 2 ready, 3 exist", "UpToDate: 2 ready at least, 3 exist at most"},
		},
		"a broken group first": {
			func() *world {
				w := newTemplate(newWorld(3, 0, 1, 0))
				w.pods[0] = leaderPod{stage: starting, revision: 'A', broken: true}
				return w
			},
			[]string{
				"OutdatedBroken 0: 2 ready, 3 exist", "Outdated 2: 2 ready, 3 exist", "Outdated 1: 2 ready, 3 exist",
				"UpToDate: 2 ready at least, 3 exist at most",
			},
		},
		"an exhausted group of the old revision is let go": {
			func() *world {
				w := newTemplate(newWorld(2, 0, 1, 0))
				w.pods[1] = leaderPod{stage: retained, revision: 'A'}
				return w
			},
			[]string{"release 1: 1 ready, 2 exist", "Outdated 0: 1 ready, 2 exist", "UpToDate: 1 ready at least, 2 exist at most"},
		},
		"an exhausted group of the new revision is waited for": {
			func() *world {
				w := newWorld(2, 0, 1, 0)
				w.pods[1] = leaderPod{stage: retained, revision: 'A'}
				return w
			},
			[]string{"GroupsNotReady: 1 ready at least, 2 exist at most"},
		},
		"with more replicas": {
			func() *world {
				w := newTemplate(newWorld(2, 0, 1, 0))
				w.replicas = 3
				return w
			},
			[]string{
				"add 2: 2 ready, 3 exist", "Outdated 1: 2 ready, 3 exist", "Outdated 0: 2 ready, 3 exist",
				"UpToDate: 2 ready at least, 3 exist at most",
			},
		},
		"of nothing": {
			func() *world { return newWorld(0, 0, 1, 0) },
			[]string{"UpToDate: 0 ready at least, 0 exist at most"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, told(rollout.Preview(test.world().input()))); diff != "" {
				t.Errorf("course (-want +got)\n%s", diff)
			}
		})
	}
}

// TestPreviewIsWhatHappens compares a preview with the world of the simulations, whose
// StatefulSet controller is that of Kubernetes: the same leaders go in the same order,
// and the extremes hold.
func TestPreviewIsWhatHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		replicas := rapid.IntRange(0, 8).Draw(t, "replicas")
		w := newTemplate(newWorld(replicas, rapid.IntRange(0, 3).Draw(t, "partition"),
			rapid.IntRange(0, 3).Draw(t, "maxUnavailable"), rapid.IntRange(0, 3).Draw(t, "maxSurge")))
		w.podBudget = rapid.Bool().Draw(t, "podBudget")
		course := rollout.Preview(w.input())

		foreseen := map[int]bool{}
		for _, s := range course.Steps {
			for _, d := range s.Replace {
				foreseen[d.Index] = true
			}
		}
		lowest, highest := replicas, replicas
		happened := map[int]bool{}
		for rounds := 0; ; rounds++ {
			if rounds > 400 {
				t.Fatalf("does not end: %s", w)
			}
			moved := w.round(func(in rollout.Input, plan rollout.Plan) {
				for _, d := range plan.Delete {
					happened[d.Index] = true
				}
				lowest = min(lowest, readyGroups(in)-len(plan.Delete))
			})
			highest = max(highest, len(w.input().Groups))
			if !moved {
				break
			}
		}
		if diff := cmp.Diff(happened, foreseen); diff != "" {
			t.Errorf("replaced groups (-happened +foreseen)\n%s", diff)
		}
		if lowest < course.LowestReady || highest > course.HighestExisting {
			t.Errorf("foreseen are %d ready and %d existing, it came to %d and %d",
				course.LowestReady, course.HighestExisting, lowest, highest)
		}
		if course.End.Phase != rollout.Done {
			t.Errorf("it ends in %s", course.End.Message)
		}
	})
}

func readyGroups(in rollout.Input) int {
	n := 0
	for _, g := range in.Groups {
		if g.Leader == rollout.Live && g.Ready {
			n++
		}
	}
	return n
}
