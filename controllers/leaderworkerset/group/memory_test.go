package group

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

func TestRemember(t *testing.T) {
	tests := map[string]struct {
		g    *generation
		want string
	}{
		"at rest": {
			group(with(), with(createdAfter(time.Minute))),
			`{"members":"8e844a1454444198fd3d","newest":1735787105}`,
		},
		"restarts that were there": {
			group(with(restarted("main", 2)), with(restarted("init", 1), restarted("main", 3))),
			`{"members":"8e844a1454444198fd3d","newest":1735787045,"restarts":{"0/main":2,"1/init":1,"1/main":3}}`,
		},
		"not whole": {
			group(with(restarted("main", 2)), with(phase(corev1.PodPending))),
			`{"restarts":{"0/main":2}}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := remember(test.g)
			if got := m.String(); got != test.want {
				t.Errorf("memory %s, want %s", got, test.want)
			}
			if diff := cmp.Diff(m, parseMemory(m.String())); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseMemoryOfSpoiltText(t *testing.T) {
	for _, text := range []string{"", "oops", `{"members":7}`, "[]"} {
		if m := parseMemory(text); m != nil {
			t.Errorf("%q is read as %v", text, m)
		}
	}
}

// The same members hash the same in any order; other members never do.
func TestHashOfMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		uids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-f0-9]{8}`), 2, 6, rapid.ID).Draw(t, "uids")
		build := func(uids []string) *generation {
			g := &generation{Leader: makeLeader(int32(len(uids)))}
			for i, uid := range uids[1:] {
				g.Workers = append(g.Workers, worker(int32(i+1)))
				g.Workers[i].UID = corePodUID(uid)
			}
			g.Leader.UID = corePodUID(uids[0])
			return g
		}
		m := remember(build(uids))
		shuffled := append([]string{uids[0]}, rapid.Permutation(uids[1:]).Draw(t, "order")...)
		if !m.holds(build(shuffled)) {
			t.Fatalf("%v is not held to be %v", shuffled, uids)
		}
		replaced := slices.Clone(uids)
		at := rapid.IntRange(0, len(uids)-1).Draw(t, "at")
		replaced[at] = "new-" + uids[at]
		if m.holds(build(replaced)) {
			t.Fatalf("%v is held to be %v", replaced, uids)
		}
		if m.holds(build(uids[:len(uids)-1])) {
			t.Fatalf("without its last member held to be whole")
		}
	})
}

func TestResized(t *testing.T) {
	g := group(with(), with(restarted("main", 1)))
	m := remember(g)
	if _, changed := m.resized(g); changed {
		t.Error("nothing was resized")
	}
	g.Workers[0].Restarts = []restarts{{Container: "main", Count: 2, ByResize: true}}
	raised, changed := m.resized(g)
	if !changed || raised.Restarts["1/main"] != 2 || m.Restarts["1/main"] != 1 {
		t.Errorf("raised %v to %v, changed %v", m, raised, changed)
	}
	if _, changed := raised.resized(g); changed {
		t.Error("raised twice")
	}
}
