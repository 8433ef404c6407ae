package group

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func podNames(pods []pod) []string {
	var names []string
	for _, p := range pods {
		names = append(names, string(p.UID))
	}
	return names
}

func TestGenerationOf(t *testing.T) {
	living := &workerSet{UID: "workers", Owner: byLeader, Revision: "rev"}
	gated := makeLeader(3)
	gated.Gated = true
	whole := makeLeader(3)
	whole.Memory = remembered("set-3-1", "set-3-2")

	tests := map[string]struct {
		leader                         *leader
		workers                        *workerSet
		pods                           []pod
		members, predecessors, orphans []string
	}{
		"workers of the living StatefulSet": {
			leader: makeLeader(3), workers: living, pods: []pod{worker(1), worker(2)},
			members: []string{"set-3-1", "set-3-2"},
		},
		"what a StatefulSet scaled by hand has too much is no member": {
			leader: makeLeader(3), workers: living, pods: []pod{worker(1), worker(2), worker(3)},
			members: []string{"set-3-1", "set-3-2"},
		},
		"pods of another StatefulSet of the name are a predecessor's": {
			leader: makeLeader(3), workers: living, pods: []pod{worker(1), worker(2, by(byOldSet))},
			members: []string{"set-3-1"}, predecessors: []string{"set-3-2"},
		},
		"pods whose StatefulSet is gone are a predecessor's": {
			leader: gated, pods: []pod{worker(1, by(byOldSet)), worker(2, by(byOldSet))},
			predecessors: []string{"set-3-1", "set-3-2"},
		},
		"pods of somebody else's controller are nothing": {
			leader: makeLeader(3), workers: living, pods: []pod{worker(1, by(byOther))},
		},
		"pods without a controller belong to a leader past its gate": {
			leader: makeLeader(3), pods: []pod{worker(1, by(owner{})), worker(7, by(owner{}))},
			members: []string{"set-3-1"},
		},
		"pods without a controller hold a gated leader back": {
			leader: gated, pods: []pod{worker(1, by(owner{}))}, orphans: []string{"set-3-1"},
		},
		"exactly those of the memory are members though the cache lacks their StatefulSet": {
			leader: whole, pods: []pod{worker(1), worker(2)}, members: []string{"set-3-1", "set-3-2"},
		},
		"some of those of the memory are not": {
			leader: whole, pods: []pod{worker(1)}, predecessors: []string{"set-3-1"},
		},
		"without a leader": {
			pods: []pod{worker(1), worker(2, by(owner{}))}, predecessors: []string{"set-3-1"}, orphans: []string{"set-3-2"},
		},
		"without a leader, with workers that stay": {
			workers: living, pods: []pod{worker(1)}, members: []string{"set-3-1"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := generationOf(test.leader, test.workers, testName, test.pods)
			if diff := cmp.Diff(test.members, podNames(g.Workers)); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.predecessors, podNames(g.Predecessors)); diff != "" {
				t.Errorf("predecessors (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.orphans, podNames(g.Orphans)); diff != "" {
				t.Errorf("orphans (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIsWhole(t *testing.T) {
	short := group(with(), with())
	short.Leader.Size = 3
	tests := map[string]struct {
		g    *generation
		want bool
	}{
		"all run":               {group(with(), with(), with()), true},
		"size 1":                {group(with()), true},
		"leader pending":        {group(with(phase(corev1.PodPending)), with()), false},
		"worker pending":        {group(with(), with(), with(phase(corev1.PodPending))), false},
		"worker without status": {group(with(), with(phase(""))), false},
		"worker missing":        {short, false},
		"one failed already":    {group(with(), with(phase(corev1.PodFailed))), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.g.isWhole(); got != test.want {
				t.Errorf("isWhole = %v, want %v", got, test.want)
			}
		})
	}
}

func TestPodsAreInTheOrderOfTheirIndices(t *testing.T) {
	pods := []pod{{Name: "x-0-10", Index: 10}, {Name: "x-0-2", Index: 2}, {Name: "y", Index: 2}, {Name: "x-0"}}
	sortPods(pods)
	var got []string
	for _, p := range pods {
		got = append(got, p.Name)
	}
	if diff := cmp.Diff([]string{"x-0", "x-0-2", "y", "x-0-10"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}
