package harness

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// pod is a state of a pod of the set "s" with groups of two.
func pod(name, uid, group string, worker int, change ...func(*PodState)) PodState {
	state := PodState{Name: name, UID: types.UID(uid), Set: "s", Group: group, Worker: worker, Size: 2, Revision: "r1", Phase: corev1.PodRunning}
	for _, apply := range change {
		apply(&state)
	}
	return state
}

func isReadyNow(p *PodState) { p.Ready = true }
func isEnding(p *PodState)   { p.Ending = true }
func isGone(p *PodState)     { p.Gone = true }
func isGated(p *PodState)    { p.Gated = true }
func isNewer(p *PodState)    { p.Revision = "r2" }

func TestExtremes(t *testing.T) {
	up := []PodState{
		pod("s-0", "a", "0", 0, isReadyNow), pod("s-0-1", "b", "0", 1, isReadyNow),
		pod("s-1", "c", "1", 0, isReadyNow), pod("s-1-1", "d", "1", 1, isReadyNow),
	}
	for name, test := range map[string]struct {
		since int
		then  []PodState
		want  Extremes
	}{
		"coming up": {want: Extremes{MinReady: 0, MaxExisting: 2, Readies: []int{0, 1, 2}}},
		"nothing happens": {
			since: 4, want: Extremes{MinReady: 2, MaxExisting: 2, Readies: []int{2}},
		},
		"a leader that ends serves nobody": {
			since: 4, then: []PodState{pod("s-1", "c", "1", 0, isReadyNow, isEnding)},
			want: Extremes{MinReady: 1, MaxExisting: 2, Readies: []int{2, 1}},
		},
		"neither does a group without a worker": {
			since: 4, then: []PodState{pod("s-1-1", "d", "1", 1, isReadyNow, isGone)},
			want: Extremes{MinReady: 1, MaxExisting: 2, Readies: []int{2, 1}},
		},
		"nor one whose worker is of another revision": {
			since: 4, then: []PodState{pod("s-1-1", "e", "1", 1, isReadyNow, isNewer)},
			want: Extremes{MinReady: 1, MaxExisting: 2, Readies: []int{2, 1}},
		},
		"surge exists, and serves when it is ready": {
			since: 4, then: []PodState{pod("s-2", "e", "2", 0), pod("s-2-1", "f", "2", 1, isReadyNow), pod("s-2", "e", "2", 0, isReadyNow)},
			want: Extremes{MinReady: 2, MaxExisting: 3, Readies: []int{2, 3}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := History{Pods: append(append([]PodState{}, up...), test.then...)}
			if diff := cmp.Diff(test.want, h.Extremes("s", Mark{pods: test.since})); diff != "" {
				t.Errorf("extremes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMixedGroups(t *testing.T) {
	for name, test := range map[string]struct {
		pods []PodState
		want int
	}{
		"one revision":                             {[]PodState{pod("s-0", "a", "0", 0), pod("s-0-1", "b", "0", 1)}, 0},
		"a worker of another":                      {[]PodState{pod("s-0", "a", "0", 0), pod("s-0-1", "b", "0", 1, isNewer)}, 1},
		"told once":                                {[]PodState{pod("s-0", "a", "0", 0), pod("s-0-1", "b", "0", 1, isNewer), pod("s-0-1", "b", "0", 1, isNewer, isReadyNow)}, 1},
		"a gated leader beside the old workers":    {[]PodState{pod("s-0-1", "b", "0", 1), pod("s-0", "c", "0", 0, isNewer, isGated)}, 0},
		"an admitted leader beside workers ending": {[]PodState{pod("s-0-1", "b", "0", 1, isEnding), pod("s-0", "c", "0", 0, isNewer)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (History{Pods: test.pods}).MixedGroups("s"); len(got) != test.want {
				t.Errorf("got %q, want %d", got, test.want)
			}
		})
	}
}

func TestReplacedNamesLeadersInTheOrderOfTheirEnd(t *testing.T) {
	h := History{Pods: []PodState{
		pod("s-0", "a", "0", 0), pod("s-1", "b", "1", 0), pod("s-2", "z", "2", 0, isEnding),
		pod("s-1", "b", "1", 0, isEnding), pod("s-1", "b", "1", 0, isEnding, isGone), pod("s-2", "z", "2", 0, isGone),
		pod("s-0", "a", "0", 0, isGone), pod("s-1", "c", "1", 0), pod("s-1", "c", "1", 0, isGone),
		pod("s-1", "d", "1", 0, isGated, isEnding), pod("s-1", "d", "1", 0, isGated, isGone),
	}}
	if diff := cmp.Diff([]string{"s-1", "s-0", "s-1"}, h.Replaced("s", Mark{pods: 3})); diff != "" {
		t.Errorf("replaced (-want +got):\n%s", diff)
	}
}

func TestUIDsAreInTheirOrder(t *testing.T) {
	h := History{Pods: []PodState{
		pod("s-0", "a", "0", 0), pod("s-0", "a", "0", 0, isReadyNow), pod("s-0", "a", "0", 0, isGone), pod("s-0", "b", "0", 0),
		{Name: "t-0", UID: "c", Set: "t"},
	}}
	if diff := cmp.Diff(map[string][]types.UID{"s-0": {"a", "b"}}, h.UIDs("s")); diff != "" {
		t.Errorf("UIDs (-want +got):\n%s", diff)
	}
}
