package scaler

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

func TestTargets(t *testing.T) {
	followed := func(n int) State { return State{Exists: true, Replicas: n, Followed: true} }
	tests := map[string]struct {
		role   Role
		slices int
		want   []int
		seed   bool
	}{
		"static":                      {Role{Replicas: 4}, 2, []int{4, 4}, false},
		"static and paused":           {Role{Replicas: 0}, 1, []int{0}, false},
		"static, what runs is no say": {Role{Replicas: 4, Running: []int{7}}, 1, []int{4}, false},
		"external":                    {Role{External: true, Replicas: 4, Scaler: followed(7)}, 3, []int{3, 2, 2}, false},
		"external to zero":            {Role{External: true, Scaler: followed(0)}, 2, []int{0, 0}, false},
		"fewer than slices":           {Role{External: true, Scaler: followed(2)}, 3, []int{1, 1, 1}, false},
		"a new external role":         {Role{External: true, Replicas: 4, Running: []int{-1, -1}}, 2, []int{1, 1}, false},
		"from static to external":     {Role{External: true, Replicas: 1, Running: []int{5, 5}}, 2, []int{5, 5}, false},
		"a deleted scaler":            {Role{External: true, Running: []int{3, 2}}, 2, []int{3, 2}, false},
		"a scaler with the default that nobody followed": {
			Role{External: true, Running: []int{5}, Scaler: State{Exists: true}}, 1, []int{5}, true,
		},
		"a scaler that somebody made with a number": {
			Role{External: true, Running: []int{5}, Scaler: State{Exists: true, Replicas: 2}}, 1, []int{2}, false,
		},
		"back to static":            {Role{Replicas: 1, Ignored: ptr.To(1), Running: []int{5, 4}}, 2, []int{5, 4}, false},
		"back to static, new slice": {Role{Replicas: 1, Ignored: ptr.To(1), Running: []int{5, -1}}, 2, []int{5, 5}, false},
		"back to static with a say": {Role{Replicas: 3, Ignored: ptr.To(1), Running: []int{5}}, 1, []int{3}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Targets(tc.role, tc.slices)); diff != "" {
				t.Errorf("targets (-want +got):\n%s", diff)
			}
			if got := NeedsSeed(tc.role, tc.slices); got != tc.seed {
				t.Errorf("needs a seed: %v, want %v", got, tc.seed)
			}
		})
	}
}

func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, slices := rapid.IntRange(0, 1000).Draw(t, "total"), rapid.IntRange(1, 100).Draw(t, "slices")
		sum, spread := 0, Spread(total, slices)
		for i, n := range spread {
			sum += n
			if i > 0 && n > spread[i-1] || spread[0]-n > 1 {
				t.Fatalf("uneven: %v", spread)
			}
		}
		want := total
		if SpreadsThin(total, slices) {
			want = slices
		}
		if sum != want {
			t.Fatalf("%d over %d is %v", total, slices, spread)
		}
	})
}
