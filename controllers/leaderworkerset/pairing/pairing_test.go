package pairing

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var start = time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// newLeader waits at its gate.
func newLeader(key string, created int) Leader {
	return Leader{Key: key, Gated: true, Created: at(created)}
}

// goingLeader was admitted and goes.
func goingLeader(key string, requested, order int) Leader {
	return Leader{Key: key, Going: true, Requested: at(requested), Order: order}
}

func running(key, replaces string) Leader {
	return Leader{Key: key, Decided: replaces != "", Replaces: replaces}
}

// held is a leader at its gate of which is decided what it replaces.
func held(key, replaces string) Leader {
	return Leader{Key: key, Gated: true, Decided: true, Replaces: replaces, Created: start}
}

// heldAndGoing went while it was at its gate.
func heldAndGoing(key, replaces string, requested, order int) Leader {
	return Leader{Key: key, Gated: true, Going: true, Decided: true, Replaces: replaces, Requested: at(requested), Order: order}
}

func TestCompute(t *testing.T) {
	tests := map[string]struct {
		leaders   []Leader
		leftovers []string
		want      map[string]string
	}{
		"nobody waits": {leaders: []Leader{running("a", ""), goingLeader("x", 1, 1)}, want: map[string]string{}},
		"a first group replaces nobody": {
			leaders: []Leader{newLeader("a", 1), newLeader("b", 1)}, want: map[string]string{"a": "", "b": ""},
		},
		"the one that went": {
			leaders: []Leader{newLeader("a", 5), goingLeader("x", 5, 1)}, want: map[string]string{"a": "x"},
		},
		"a crash while others are scaled away": {
			leaders: []Leader{goingLeader("s", 1, 1), goingLeader("t", 1, 2), goingLeader("x", 7, 3), newLeader("a", 7)},
			want:    map[string]string{"a": "x"},
		},
		"in the same second by the order in which it was seen": {
			leaders: []Leader{goingLeader("x", 1, 2), goingLeader("s", 1, 1), newLeader("a", 1)},
			want:    map[string]string{"a": "x"},
		},
		"what went after the leader was created is not what it is for": {
			leaders: []Leader{newLeader("a", 3), goingLeader("x", 4, 1)}, want: map[string]string{"a": ""},
		},
		"one that was gone at once, which does not say when": {
			leaders: []Leader{goingLeader("s", 6, 1), {Key: "x", Going: true, Order: 2}, newLeader("a", 7)},
			want:    map[string]string{"a": "x"},
		},
		"of those that nobody saw go, the last": {
			leaders: []Leader{goingLeader("s", 1, 0), goingLeader("x", 6, 0), newLeader("a", 7)},
			want:    map[string]string{"a": "x"},
		},
		"each its own, the oldest first": {
			leaders: []Leader{newLeader("b", 8), goingLeader("y", 8, 2), newLeader("a", 5), goingLeader("x", 5, 1)},
			want:    map[string]string{"a": "x", "b": "y"},
		},
		"more leaders than groups that go": {
			leaders: []Leader{newLeader("a", 5), newLeader("b", 6), goingLeader("x", 4, 1)},
			want:    map[string]string{"a": "x", "b": ""},
		},
		"not one that is paired": {
			leaders: []Leader{newLeader("a", 5), held("h", "x"), goingLeader("x", 4, 1)}, want: map[string]string{"a": ""},
		},
		"not one that was replaced already": {
			leaders: []Leader{newLeader("a", 5), running("r", "x"), goingLeader("x", 4, 1)}, want: map[string]string{"a": ""},
		},
		"what a leader had that went at its gate": {
			leaders: []Leader{newLeader("a", 9), heldAndGoing("h", "x", 9, 3), goingLeader("x", 1, 1), goingLeader("s", 5, 2)},
			want:    map[string]string{"a": "x"},
		},
		"and not that leader, if it had nothing": {
			leaders: []Leader{newLeader("a", 9), heldAndGoing("h", "", 9, 1)}, want: map[string]string{"a": ""},
		},
		"a group of which only objects are left": {
			leaders: []Leader{newLeader("a", 9)}, leftovers: []string{"x", "x"}, want: map[string]string{"a": "x"},
		},
		"before that, one that is known to go": {
			leaders: []Leader{newLeader("a", 9), goingLeader("y", 2, 1)}, leftovers: []string{"x"}, want: map[string]string{"a": "y"},
		},
		"objects of a leader that stands are no leftovers": {
			leaders: []Leader{newLeader("a", 9), running("x", "")}, leftovers: []string{"x", "a"}, want: map[string]string{"a": ""},
		},
		"what is decided stays": {
			leaders: []Leader{held("a", ""), goingLeader("x", 1, 1)}, want: map[string]string{},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				if diff := cmp.Diff(tc.want, Compute(tc.leaders, tc.leftovers)); diff != "" {
					t.Errorf("pairs (-want +got):\n%s", diff)
				}
				slices.Reverse(tc.leaders)
			}
		})
	}
}

// states are all that a leader can be, but for its key and whom it replaces.
func states() []Leader {
	var all []Leader
	for _, gated := range []bool{false, true} {
		for _, decided := range []bool{false, true} {
			for created := range 2 {
				all = append(all, Leader{Gated: gated, Decided: decided, Created: at(created)})
			}
			for requested := range 2 {
				all = append(all, Leader{Gated: gated, Decided: decided, Going: true, Requested: at(requested)})
			}
		}
	}
	return all
}

// TestEveryInput checks the rules on every input of three leaders, each of which may
// replace another or a group without a leader.
func TestEveryInput(t *testing.T) {
	keys := []string{"a", "b", "c"}
	inputs := 0
	var leaders []Leader
	var fill func(int)
	fill = func(i int) {
		if i == len(keys) {
			inputs++
			checkRules(t, leaders, []string{"l"})
			return
		}
		for _, state := range states() {
			state.Key, state.Order = keys[i], i
			targets := []string{""}
			if state.Decided {
				targets = append(targets, "l", keys[(i+1)%len(keys)])
			}
			for _, target := range targets {
				state.Replaces = target
				leaders = append(leaders, state)
				fill(i + 1)
				leaders = leaders[:i]
			}
		}
	}
	fill(0)
	if inputs < 10_000 {
		t.Errorf("only %d inputs", inputs)
	}
}

func checkRules(t *testing.T, leaders []Leader, leftovers []string) {
	t.Helper()
	pairs := Compute(leaders, leftovers)
	byKey := map[string]Leader{}
	for _, l := range leaders {
		byKey[l.Key] = l
	}
	fail := func(text string) { t.Fatalf("%s: %v of %s", text, pairs, fmt.Sprintf("%+v", leaders)) }
	taken := map[string]bool{}
	for _, l := range leaders {
		isWaiting := l.Gated && !l.Going && !l.Decided
		replaced, paired := pairs[l.Key]
		if paired != isWaiting {
			fail("decided about " + l.Key)
		}
		if !(l.Gated && l.Going) && l.Replaces != "" {
			taken[l.Replaces] = true
		}
		if replaced == "" {
			continue
		}
		target, isLeader := byKey[replaced]
		if isLeader && (!target.Going || target.Gated || target.Requested.After(l.Created)) {
			fail(l.Key + " cannot replace " + replaced)
		}
	}
	for key, replaced := range pairs {
		if replaced != "" && taken[replaced] {
			fail(replaced + " is replaced twice, by " + key)
		}
		taken[replaced] = replaced != ""
	}
	// Nobody waits for nothing while a group that could be its own is left over.
	for key, replaced := range pairs {
		if replaced != "" {
			continue
		}
		for _, l := range leaders {
			if l.Going && !l.Gated && !taken[l.Key] && !l.Requested.After(byKey[key].Created) {
				fail(key + " could replace " + l.Key)
			}
		}
	}
	reversed := slices.Clone(leaders)
	slices.Reverse(reversed)
	if !maps.Equal(pairs, Compute(reversed, leftovers)) {
		fail("the order of the input matters")
	}
}
