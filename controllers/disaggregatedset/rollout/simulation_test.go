package rollout

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden logs anew")

// never is when a replica of a broken revision becomes ready.
const never = 1 << 30

// simulation runs plans against replicas that take their time to become ready.
type simulation struct {
	t     *testing.T
	rand  *rand.Rand
	start func(*rand.Rand) int
	// ordinal roles lose their highest index, others what is not ready.
	ordinal bool

	now   int
	in    Input
	fresh [][]int   // per role: when each replica of the new side is ready
	old   [][][]int // per old revision and role
	log   strings.Builder
}

// simulate starts at rest: everything ready, of one revision that is old now.
func simulate(t *testing.T, seed int64, start func(*rand.Rand) int, roles ...Role) *simulation {
	t.Helper()
	s := &simulation{t: t, rand: rand.New(rand.NewSource(seed)), start: start}
	s.in = Input{Roles: roles, New: make([]Count, len(roles))}
	s.fresh = make([][]int, len(roles))
	for i, r := range roles {
		s.in.New[i] = has(r.Target, r.Target)
		s.fresh[i] = make([]int, r.Target)
	}
	s.supersede()
	return s
}

// supersede gives the set a new template.
func (s *simulation) supersede() {
	fmt.Fprintf(&s.log, "t=%-3d a new revision\n", s.now)
	supersede(&s.in)
	s.old = append([][][]int{s.fresh}, s.old...)
	s.fresh = make([][]int, len(s.in.Roles))
}

func (s *simulation) scale(role, target int) {
	fmt.Fprintf(&s.log, "t=%-3d %s to %d\n", s.now, s.in.Roles[role].Name, target)
	s.in.Roles[role].Target = target
}

// run plans and lets time pass until the given time, or until all is done.
func (s *simulation) run(until int) {
	s.t.Helper()
	for plans := 0; ; plans++ {
		s.observe()
		p := Compute(s.in)
		if !s.ordinal {
			if err := violation(s.in, p); err != nil {
				s.t.Fatalf("%v\n%s", err, s.log.String())
			}
		}
		if plans > 500 {
			s.t.Fatalf("no end:\n%s", s.log.String())
		}
		if p.Verdict == Act {
			s.apply(p)
			continue
		}
		next := s.nextReady()
		if p.Verdict == Done || next > until || next == never {
			fmt.Fprintf(&s.log, "t=%-3d %s\n", s.now, text(s.in, p))
			if until != never {
				s.now = max(s.now, until)
			}
			return
		}
		s.now = next
	}
}

func (s *simulation) observe() {
	count := func(replicas []int) int {
		n := 0
		for _, at := range replicas {
			if at <= s.now {
				n++
			}
		}
		return n
	}
	for i := range s.in.Roles {
		s.in.New[i].Ready = count(s.fresh[i])
		for k := range s.old {
			s.in.Old[k][i].Ready = count(s.old[k][i])
		}
	}
}

func (s *simulation) apply(p Plan) {
	for _, step := range p.Steps {
		side, counts := s.fresh, s.in.New
		if step.Revision != Current {
			side, counts = s.old[step.Revision], s.in.Old[step.Revision]
		}
		counts[step.Role].Spec = step.To
		replicas := side[step.Role]
		for len(replicas) < step.To {
			replicas = append(replicas, s.now+s.start(s.rand))
		}
		if !s.ordinal {
			slices.Sort(replicas)
		}
		side[step.Role] = replicas[:step.To]
	}
	s.observe()
	fmt.Fprintf(&s.log, "t=%-3d %s| %s\n", s.now, s.counts(), text(s.in, p))
}

// counts writes ready/replicas of every role: the new side, then old ones.
func (s *simulation) counts() string {
	var out strings.Builder
	for i, r := range s.in.Roles {
		fmt.Fprintf(&out, "%s %d/%d", r.Name, s.in.New[i].Ready, s.in.New[i].Spec)
		for k := range s.in.Old {
			fmt.Fprintf(&out, "+%d/%d", s.in.Old[k][i].Ready, s.in.Old[k][i].Spec)
		}
		out.WriteString(" ")
	}
	return out.String()
}

func (s *simulation) nextReady() int {
	next := never
	for _, side := range append([][][]int{s.fresh}, s.old...) {
		for _, replicas := range side {
			for _, at := range replicas {
				if at > s.now {
					next = min(next, at)
				}
			}
		}
	}
	return next
}

func steady(*rand.Rand) int   { return 10 }
func random(r *rand.Rand) int { return 5 + r.Intn(26) }
func stuck(*rand.Rand) int    { return never }

func TestGoldenLogs(t *testing.T) {
	tests := map[string]func(*testing.T) *simulation{
		"eight-and-four": func(t *testing.T) *simulation {
			t.Helper()
			s := simulate(t, 1, steady, role2("prefill", 8, 1, 0), role2("decode", 4, 1, 0))
			s.run(never)
			return s
		},
		"eight-and-four-random": func(t *testing.T) *simulation {
			t.Helper()
			s := simulate(t, 7, random, role2("prefill", 8, 2, 0), role2("decode", 4, 1, 1))
			s.run(never)
			return s
		},
		"without-surge": func(t *testing.T) *simulation {
			t.Helper()
			s := simulate(t, 1, steady, role2("prefill", 6, 0, 2), role2("decode", 3, 0, 1))
			s.run(never)
			return s
		},
		"one-of-each-with-a-loan": func(t *testing.T) *simulation {
			t.Helper()
			s := simulate(t, 1, steady, role2("a", 1, 0, 1), role2("b", 1, 1, 0))
			s.run(never)
			return s
		},
		"from-one-and-one-to-one-and-two": func(t *testing.T) *simulation {
			t.Helper()
			s := simulate(t, 1, steady, role2("a", 1, 1, 0), role2("b", 1, 1, 0))
			s.scale(1, 2)
			s.run(never)
			return s
		},
		"broken-revision-in-between": func(t *testing.T) *simulation {
			t.Helper()
			s := simulate(t, 1, stuck, role2("prefill", 4, 1, 0), role2("decode", 2, 1, 0))
			s.run(20)
			s.supersede()
			s.start = steady
			s.run(never)
			return s
		},
		"back-and-forth-half-way": func(t *testing.T) *simulation {
			t.Helper()
			s := simulate(t, 3, random, role2("prefill", 4, 1, 0), role2("decode", 2, 1, 0))
			s.run(30)
			s.supersede()
			s.run(never)
			return s
		},
		"autoscaled-while-rolling": func(t *testing.T) *simulation {
			t.Helper()
			s := simulate(t, 5, random, role2("prefill", 8, 1, 0), role2("decode", 4, 1, 1))
			s.run(40)
			s.scale(0, 12)
			s.run(80)
			s.scale(0, 5)
			s.run(120)
			s.scale(0, 9)
			s.run(never)
			return s
		},
		"role-renamed": func(t *testing.T) *simulation {
			t.Helper()
			s := simulate(t, 1, steady, role2("prefill", 3, 1, 0), role2("decode", 2, 1, 0))
			s.in.Roles = []Role{removed("prefill"), role2("decode", 2, 1, 0), role2("context", 3, 1, 0)}
			s.in.New = make([]Count, 3)
			s.fresh = make([][]int, 3)
			s.in.Old[0] = append(s.in.Old[0], Count{})
			s.old[0] = append(s.old[0], nil)
			s.run(never)
			return s
		},
	}
	for name, scenario := range tests {
		t.Run(name, func(t *testing.T) {
			s := scenario(t)
			if err := ended(s.in); err != nil {
				t.Error(err)
			}
			golden(t, name, s.log.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestSeededSimulations runs rollouts of random roles with random start times,
// targets that change and revisions that are superseded, in fixed and in random
// order of becoming ready.
func TestSeededSimulations(t *testing.T) {
	for seed := range int64(300) {
		r := rand.New(rand.NewSource(seed))
		var roles []Role
		for i := range 2 + r.Intn(9) {
			roles = append(roles, role2(fmt.Sprint("r", i), 1+r.Intn(20), r.Intn(3), r.Intn(3)))
			if last := &roles[i]; last.Surge+last.Unavailable == 0 {
				last.Surge = 1
			}
		}
		s := simulate(t, seed, []func(*rand.Rand) int{steady, random}[seed%2], roles...)
		s.ordinal = seed%3 == 0
		for range r.Intn(4) {
			s.run(s.now + r.Intn(60))
			if r.Intn(2) == 0 {
				s.scale(r.Intn(len(roles)), 1+r.Intn(20))
			} else {
				s.supersede()
			}
		}
		s.run(never)
		if err := ended(s.in); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, s.log.String())
		}
	}
}

// TestMakespan: a slow replica holds nobody up. With 2 and 1 replicas at a time
// the roles of 8 and 4 take 4 waves, here of 30 at most.
func TestMakespan(t *testing.T) {
	for seed := range int64(50) {
		s := simulate(t, seed, random, role2("prefill", 8, 2, 0), role2("decode", 4, 1, 0))
		s.run(never)
		if limit := 4 * 30; s.now > limit {
			t.Errorf("seed %d: %d, want at most %d\n%s", seed, s.now, limit, s.log.String())
		}
	}
}
