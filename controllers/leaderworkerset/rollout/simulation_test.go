package rollout_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

var rewrite = flag.Bool("rewrite", false, "write the golden logs")

// player lets things happen to a world in random order and writes down what the
// manager does.
type player struct {
	*world
	random *rand.Rand
	// failures are how many more pods fail or are lost.
	failures int
	log      strings.Builder
	wrong    string
}

func (p *player) play(steps int, edits map[int]func(*world)) {
	for step := range steps {
		if edit := edits[step]; edit != nil {
			edit(p.world)
			p.note(step, fmt.Sprintf("the user wants %d of %c from %d, unavailable %d, surge %d",
				p.replicas, p.update, p.partition, p.maxUnavailable, p.maxSurge))
		}
		p.step(step)
	}
}

// settle lets everything happen in turn until nothing does.
func (p *player) settle(from, bound int) {
	for step := from; step < from+bound; step++ {
		before := *p.world
		p.manage(step)
		p.world.settle()
		if *p.world == before {
			p.note(step, "at rest: "+rollout.Compute(p.input()).Message)
			return
		}
	}
	p.fail("does not end")
}

func (p *player) step(step int) {
	i := p.random.IntN(p.sts.spec.Replicas + 1)
	switch p.random.IntN(9) {
	case 0:
		p.manage(step)
	case 1:
		p.observe()
	case 2:
		for _, i := range p.reconcile() {
			if p.seen.revision == p.sts.revision {
				p.fail(fmt.Sprintf("the StatefulSet controller deletes group %d", i))
			}
		}
	case 3:
		p.admit()
	case 4:
		if p.failures > 0 && p.pods[i].admitted() {
			p.failures--
			p.harm(step, i)
		}
	default:
		p.tend(i)
	}
}

func (p *player) harm(step, i int) {
	if p.random.IntN(2) == 0 {
		p.pods[i].stage = starting
		p.note(step, fmt.Sprintf("group %d fails", i))
		return
	}
	p.remove(i)
	p.note(step, fmt.Sprintf("group %d is lost", i))
}

func (p *player) manage(step int) {
	in := p.input()
	plan := rollout.Compute(in)
	if text := violation(in, plan); text != "" {
		p.fail(fmt.Sprintf("%s\ninput %+v\nplan  %+v", text, in, plan))
	}
	before := *p.world
	p.world.manage(plan)
	for i := range min(before.partition, before.replicas) {
		if before.pods[i].admitted() && before.pods[i] != p.pods[i] {
			p.fail(fmt.Sprintf("group %d below the partition changes", i))
		}
	}
	if *p.world == before {
		return
	}
	var acts []string
	for _, d := range plan.Delete {
		acts = append(acts, fmt.Sprintf("%d %s", d.Index, d.Cause))
	}
	for _, i := range plan.Release {
		acts = append(acts, fmt.Sprintf("%d released", i))
	}
	if p.sts != before.sts {
		acts = append(acts, "StatefulSet written")
	}
	p.note(step, strings.Join(acts, ", "))
}

func (p *player) note(step int, text string) {
	fmt.Fprintf(&p.log, "%4d  %s\n      %s\n", step, p.world, text)
}

func (p *player) fail(text string) {
	if p.wrong == "" {
		p.wrong = fmt.Sprintf("%s at %s", text, p.world)
	}
}

func TestGoldenSimulations(t *testing.T) {
	template := func(r revision) func(*world) { return func(w *world) { w.update = r } }
	for name, tc := range map[string]struct {
		world    *world
		failures int
		edits    map[int]func(*world)
	}{
		"surge": {
			newWorld(6, 0, 1, 2), 0,
			map[int]func(*world){0: template('B')},
		},
		"failures": {
			newWorld(8, 0, 2, 1), 6,
			map[int]func(*world){0: template('B')},
		},
		"partition": {
			newWorld(6, 3, 1, 1), 6,
			map[int]func(*world){
				0:   template('B'),
				400: func(w *world) { w.partition = 1 },
			},
		},
		"undone": {
			newWorld(6, 0, 2, 0), 2,
			map[int]func(*world){0: template('B'), 150: template('C'), 300: template('A')},
		},
		"scaled": {
			newWorld(6, 0, 1, 1), 2,
			map[int]func(*world){
				0:   func(w *world) { w.update, w.replicas = 'B', 9 },
				250: func(w *world) { w.replicas = 3 },
				400: func(w *world) { w.replicas, w.maxUnavailable = 5, 2 },
			},
		},
		"no room": {
			func() *world {
				w := newWorld(4, 0, 1, 1)
				w.size, w.room = [3]int{3, 2, 1}, 12
				return w
			}(), 0,
			map[int]func(*world){0: func(w *world) { w.update, w.replicas = 'B', 6 }},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := player{world: tc.world, random: rand.New(rand.NewPCG(1, 2)), failures: tc.failures}
			p.play(600, tc.edits)
			p.settle(600, 100)
			if p.wrong != "" {
				t.Fatalf("%s\n%s", p.wrong, p.log.String())
			}
			mustBeAtRest(t, tc.world, tc.world)
			golden(t, filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".log"), p.log.String())
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *rewrite {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got), -rewrite writes it anew:\n%s", path, diff)
	}
}
