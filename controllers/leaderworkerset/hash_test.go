package leaderworkerset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
)

func hashSet() *lwstest.Builder { return testSet().Hash() }

// leaderDeployment has been observed.
func leaderDeployment(replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: lwstest.Namespace, Name: "x", UID: "leaders", Generation: 2,
			Labels:          map[string]string{lwsv1.SetNameLabelKey: "x", lwsv1.RevisionLabelKey: "rev"},
			OwnerReferences: []metav1.OwnerReference{setOwner("set")},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{
				lwsv1.SetNameLabelKey: "x", lwsv1.WorkerIndexLabelKey: "0",
			}},
		},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 2},
	}
}

func replicaSet(name string) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: lwstest.Namespace, Name: name, UID: types.UID("uid-" + name),
		Labels:          map[string]string{lwsv1.SetNameLabelKey: "x"},
		OwnerReferences: []metav1.OwnerReference{ownerOf(schemaKind{"apps/v1", "Deployment"}, "x", "leaders")},
	}}
}

func keyOf(letter string) string { return strings.Repeat(letter, 40) }

// keyedLeader is the running and ready leader of the group with the key of a letter.
func keyedLeader(letter string, size int, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := leaderPod(0, size)
	pod.Name, pod.UID = "x-rs-"+letter, types.UID("uid-"+letter)
	pod.Labels[lwsv1.GroupIndexLabelKey] = keyOf(letter)
	pod.OwnerReferences = []metav1.OwnerReference{ownerOf(schemaKind{"apps/v1", "ReplicaSet"}, "x-rs", "uid-x-rs")}
	for _, c := range change {
		c(pod)
	}
	return pod
}

func TestKeyedGroups(t *testing.T) {
	stranger := keyedLeader("d", 1)
	stranger.OwnerReferences[0].UID = "another"
	numbered := leaderPod(0, 1)
	numbered.OwnerReferences = keyedLeader("a", 1).OwnerReferences
	workers := workerStatefulSet(0, 1)
	workers.Labels[lwsv1.GroupIndexLabelKey] = keyOf("b")
	workers.OwnerReferences[0].UID = "uid-b"
	got, _ := groupsOf(members{
		set: hashSet().Obj(), deployment: leaderDeployment(2), replicaSets: []*appsv1.ReplicaSet{replicaSet("x-rs")},
		leaders: []*corev1.Pod{
			keyedLeader("b", 2, func(p *corev1.Pod) {
				p.Annotations[lwsv1.ReplacesAnnotationKey] = keyOf("c")
			}),
			keyedLeader("a", 1, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
			stranger, numbered,
		},
		workers: []*appsv1.StatefulSet{workers},
	})
	want := []groupState{
		{
			Name: keyOf("a"), Leader: objectRef{"x-rs-a", "uid-a"}, Revision: "rev", PodRevision: "x-abc",
			SharesService: true, Ended: true,
		},
		{
			Name: keyOf("b"), Leader: objectRef{"x-rs-b", "uid-b"}, Revision: "rev", PodRevision: "x-abc",
			SharesService: true, Ready: true, Replaces: keyOf("c"),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

// Groups of the revision "new", but for those called old.
var (
	isReadyNew = groupState{Name: "r", Revision: "new", Ready: true}
	isNew      = groupState{Name: "n", Revision: "new"}
	isReadyOld = groupState{Name: "R", Revision: "old", Ready: true}
	isOld      = groupState{Name: "O", Revision: "old"}
	isLeaving  = groupState{Name: "t", Revision: "new", Terminating: true}
	hasEnded   = groupState{Name: "e", Revision: "new", Ended: true}
	isRetained = groupState{Name: "x", Revision: "new", Terminating: true, Exhausted: true, Leader: objectRef{Name: "x-rs-x"}}
)

func TestTallyOfKeyedGroups(t *testing.T) {
	tests := map[string]struct {
		replicas int32
		stored   string // current revision
		stale    bool   // the Deployment has not observed its spec
		groups   []groupState
		want     tally
		current  string
	}{
		"first status": {replicas: 2, want: tally{Desired: 2}, current: "new"},
		"at rest": {
			replicas: 2, stored: "new", groups: []groupState{isReadyNew, isReadyNew},
			want: tally{Desired: 2, Existing: 2, Ready: 2, Updated: 2, Settled: 2}, current: "new",
		},
		"one failed, nothing rolls out": {
			replicas: 2, stored: "new", groups: []groupState{isReadyNew, isNew, isLeaving},
			want: tally{Desired: 2, Existing: 2, Ready: 1, Updated: 2, Settled: 1}, current: "new",
		},
		"what is going does not count": {
			replicas: 1, stored: "new", groups: []groupState{isLeaving, hasEnded},
			want: tally{Desired: 1}, current: "new",
		},
		"a rollout with surge": {
			replicas: 2, stored: "old", groups: []groupState{isReadyOld, isOld, isNew},
			want: tally{Desired: 2, Existing: 3, Ready: 1, Updated: 1, Outdated: 2, Unfinished: true}, current: "old",
		},
		"the only group was replaced and is not ready": {
			replicas: 1, stored: "old", groups: []groupState{isNew},
			want: tally{Desired: 1, Existing: 1, Updated: 1, Unfinished: true}, current: "old",
		},
		"surplus of the old revision": {
			replicas: 2, stored: "old", groups: []groupState{isReadyNew, isReadyNew, isReadyOld},
			want: tally{Desired: 2, Existing: 3, Ready: 3, Updated: 2, Settled: 2}, current: "old",
		},
		"complete": {
			replicas: 1, stored: "old", groups: []groupState{isReadyNew},
			want: tally{Desired: 1, Existing: 1, Ready: 1, Updated: 1, Settled: 1}, current: "new",
		},
		"not complete as far as the Deployment says": {
			replicas: 1, stored: "old", stale: true, groups: []groupState{isReadyNew},
			want: tally{Desired: 1, Existing: 1, Ready: 1, Updated: 1, Settled: 1}, current: "old",
		},
		"more than is asked for": {
			replicas: 1, stored: "new", groups: []groupState{isReadyNew, isReadyNew},
			want: tally{Desired: 1, Existing: 2, Ready: 2, Updated: 2, Settled: 1}, current: "new",
		},
		"a group is exhausted": {
			replicas: 2, stored: "new", groups: []groupState{isReadyNew, isNew, isRetained},
			want: tally{
				Desired: 2, Existing: 2, Ready: 1, Updated: 2, Settled: 1,
				Exhausted: 1, DesiredExhausted: 1, ExhaustedLeader: "x-rs-x",
			},
			current: "new",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set := hashSet().Replicas(tc.replicas).Obj()
			set.Status.CurrentRevision = tc.stored
			seen := &observation{Set: set, Groups: tc.groups, Deployment: leaderDeployment(tc.replicas), Claim: claimOurs}
			if tc.stale {
				seen.Deployment.Generation++
			}
			current := hash{}.current(seen, "new")
			if current != tc.current {
				t.Errorf("current revision %q, want %q", current, tc.current)
			}
			if diff := cmp.Diff(tc.want, hash{}.tally(seen, "new", current)); diff != "" {
				t.Errorf("tally (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCountsOfKeyedGroups(t *testing.T) {
	of := func(revision, index string) group.Entry { return group.Entry{Revision: revision, Index: index} }
	gated := groupState{Name: "b", Revision: "rev", Gated: true, Replaces: "a"}
	tests := map[string]struct {
		replicas int32
		groups   []groupState
		moves    map[group.Entry]group.Entry
		alive    map[group.Entry]bool
	}{
		"moves to the leader that replaces it": {
			replicas: 1, groups: []groupState{{Name: "a", Revision: "rev", Terminating: true}, gated},
			moves: map[group.Entry]group.Entry{of("rev", "a"): of("rev", "b")},
			alive: map[group.Entry]bool{of("rev", "a"): true, of("rev", "b"): true, of("old", "b"): false},
		},
		"stays with an exhausted group": {
			replicas: 1, groups: []groupState{{Name: "a", Revision: "rev", Terminating: true, Exhausted: true}, gated},
			moves: map[group.Entry]group.Entry{},
			alive: map[group.Entry]bool{of("rev", "a"): true},
		},
		"stays with a group that has ended and is still to be counted": {
			replicas: 1, groups: []groupState{{Name: "a", Revision: "rev", Ended: true}, gated},
			moves: map[group.Entry]group.Entry{},
			alive: map[group.Entry]bool{of("rev", "a"): true},
		},
		"of what is gone is kept while a replacement is to come": {
			replicas: 2, groups: []groupState{{Name: "c", Revision: "rev"}},
			alive: map[group.Entry]bool{of("rev", "a"): true, of("rev", "c"): true},
		},
		"or is there and waits": {
			replicas: 1, groups: []groupState{{Name: "c", Revision: "rev", Gated: true}},
			alive: map[group.Entry]bool{of("rev", "a"): true},
		},
		"and no longer": {
			replicas: 1, groups: []groupState{{Name: "c", Revision: "rev"}},
			alive: map[group.Entry]bool{of("rev", "a"): false, of("rev", "c"): true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rule := hash{}.counts(&observation{Set: hashSet().Replicas(tc.replicas).Obj(), Groups: tc.groups}, "", "")
			if diff := cmp.Diff(tc.moves, rule.Moves); diff != "" && len(tc.moves)+len(rule.Moves) > 0 {
				t.Errorf("moves (-want +got):\n%s", diff)
			}
			for entry, want := range tc.alive {
				if got := rule.Alive(entry); got != want {
					t.Errorf("%s is alive: %t", entry, got)
				}
			}
		})
	}
}

func TestCountFollowsTheGroup(t *testing.T) {
	set := hashSet().Replicas(1).Annotation(lwsv1.GroupRestartCountsAnnotationKey, `{"rev/a":2}`).Obj()
	seen := &observation{Set: set, Groups: []groupState{{Name: "b", Revision: "rev", Replaces: "a"}}}
	got := planCounts(seen, hash{}.counts(seen, "rev", "rev"))
	if got.Restarts != `{"rev/b":2}` || !got.Changed || got.Sum != 2 {
		t.Errorf("counts %+v", got)
	}
}

func TestDesiredDeployment(t *testing.T) {
	set := hashSet().Replicas(5).MaxUnavailable("10%").MaxSurge("0").Label("team", "a").Obj()
	template, err := leaderTemplate(set, "rev")
	if err != nil {
		t.Fatal(err)
	}
	desired := desiredDeployment(set, "rev", template)
	live := &appsv1.Deployment{}
	if err := toObject(desired, live); err != nil {
		t.Fatal(err)
	}
	rolling := live.Spec.Strategy.RollingUpdate
	if rolling.MaxUnavailable.IntValue() != 1 || rolling.MaxSurge.IntValue() != 0 {
		t.Errorf("budgets %s and %s", rolling.MaxUnavailable, rolling.MaxSurge)
	}
	if *live.Spec.Replicas != 5 || *live.Spec.ProgressDeadlineSeconds != 2147483647 || live.Labels["team"] != "a" {
		t.Errorf("Deployment %+v", live)
	}
	if differs, err := deploymentDiffers(desired, live); differs || err != nil {
		t.Errorf("it differs from itself: %t, %v", differs, err)
	}
	*live.Spec.Replicas = 4
	if differs, err := deploymentDiffers(desired, live); !differs || err != nil {
		t.Errorf("it does not differ with other replicas: %t, %v", differs, err)
	}
}
