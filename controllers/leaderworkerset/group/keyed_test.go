package group

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

func keyOf(letter string) string { return strings.Repeat(letter, 40) }

// keyed makes the group at rest one of a set with Hash identity.
func keyed(o *observation) {
	o.Group = identity.KeyGroup(testGroup.SetKey(), keyOf("a"))
	o.Leader.Name, o.Leader.Controller = "set-rs-a", owner{Kind: kindReplicaSet, Name: "set-rs", UID: "rs"}
	o.Leaders.ReplicaSet = "rs"
	o.Leader.HasReadinessGate, o.Leader.GroupReady = true, true
	o.Workers.Available = 2
}

func replaces(r replaced) func(*observation) {
	return func(o *observation) { r.Key = keyOf("b"); o.Replaced = r }
}

func marked(o *observation) { o.Leader.MarkedNone = true }

func immediate(o *observation) { o.Set.Immediate = true }

var releasedKeyed = []string{"releasePod set-3-1", "releasePod set-3-2", "releasePod set-rs-a"}

func TestPlanOfKeyedGroups(t *testing.T) {
	left := []pod{makePod("set-bbbbbbbb-1", 1, deleting)}
	ended := func(o *observation) { o.Leader.Phase = corev1.PodFailed }
	toldOf := func(reason string) []string { return []string{reason} }
	testPlans(t, map[string]planCase{
		"at rest": {change: keyed, steps: []string{"checkWorkers"}},
		"workers became ready": {
			change: also(keyed, func(o *observation) { o.Leader.GroupReady = false }),
			steps:  []string{"checkWorkers", "setReadiness true"},
		},
		"a worker is not ready any more": {
			change: also(keyed, func(o *observation) { o.Workers.Available = 1 }),
			steps:  []string{"checkWorkers", "setReadiness false"},
		},
		"a group of one pod with the gate": {
			change: also(keyed, func(o *observation) {
				o.Leader.Size, o.Leader.GroupReady, o.Leader.Memory = 1, false, nil
				o.Workers, o.Living.Workers = nil, nil
			}),
			steps: []string{"setReadiness true", "annotateLeader group-members"},
		},
		"a first group": {change: also(keyed, fresh), steps: []string{"liftGate", "createWorkers"}, held: gateOpen},
		"of an older revision, as its Deployment made it": {
			change: also(keyed, fresh, func(o *observation) { o.Leader.Revision = "old" }),
			steps:  []string{"liftGate", "createWorkers"}, held: gateOpen,
		},
		"a group that would be called like another one": {
			change: also(keyed, fresh, replaces(replaced{Left: left}), func(o *observation) { o.Namesake = "that of leader set-rs-b" }),
			steps:  []string{"deleteLeader leader"}, told: toldOf(lwsv1.ReasonNameConflict), held: gateConflict,
		},
		"a replacement waits": {
			change: also(keyed, fresh, replaces(replaced{Left: left}), func(o *observation) { o.Now = testStart }),
			steps:  []string{"annotateLeader replaces"}, held: gatePredecessor, after: 30*time.Second + slack,
		},
		"a replacement whose pair is stored waits": {
			change: also(keyed, fresh, replaces(replaced{Left: left, Stored: true}), func(o *observation) { o.Now = testStart }),
			held:   gatePredecessor, after: 30*time.Second + slack,
		},
		"what it waits for is overdue": {
			change: also(keyed, fresh, replaces(replaced{Left: left, Stored: true})),
			held:   gatePredecessor, told: toldOf(lwsv1.ReasonGroupReplacementDeferred),
			report: Report{Problem: &Problem{
				Reason: lwsv1.ReasonPredecessorTerminating,
				Message: "Leader set-rs-a waits for pod set-bbbbbbbb-1 on node node, which has not terminated in its grace period: " +
					"it goes when the node answers, when Node node is deleted, or when it gets the taint node.kubernetes.io/out-of-service",
			}},
		},
		"a replacement waits for what is left beside pods": {
			change: also(keyed, fresh, replaces(replaced{Object: "StatefulSet set-bbbbbbbb", Stored: true})), held: gatePredecessor,
		},
		"nothing is left": {
			change: also(keyed, fresh, replaces(replaced{Stored: true})),
			steps:  []string{"liftGate", "createWorkers"}, held: gateOpen,
		},
		"Immediate waits for nothing": {
			change: also(keyed, fresh, immediate, replaces(replaced{Left: left, Object: "StatefulSet x"})),
			steps:  []string{"annotateLeader replaces", "liftGate", "createWorkers"}, held: gateOpen,
		},
		"but for a group that is exhausted": {
			change: also(keyed, fresh, immediate, replaces(replaced{Retained: "set-rs-b", Stored: true})), held: gatePredecessor,
		},
		"a leader of somebody else's ReplicaSet is not paired": {
			change: also(keyed, fresh, replaces(replaced{}), func(o *observation) { o.Leader.Controlled = false }),
		},
		"its leader ended": {
			change: also(keyed, ended),
			steps:  []string{"deleteLeader leader"}, told: toldOf(lwsv1.ReasonRecreateGroup),
		},
		"its leader ended, with None": {
			change: also(keyed, ended, policy(lwsv1.NoneRestartPolicy), marked), steps: []string{"deleteLeader leader"},
		},
		"its leader ended before the group had started": {
			change: also(keyed, ended, policy(lwsv1.RecreateGroupAfterStart), func(o *observation) {
				o.Leader.Memory, o.Living.Workers = nil, o.Living.Workers[:1]
			}),
			steps: []string{"deleteLeader leader"},
		},
		"its leader ended with the budget spent": {
			change: also(keyed, ended, limited(1, 1, "other")),
			steps:  []string{"exhaustLeader", "retainPod set-3-1", "retainPod set-3-2", "deleteLeader leader"},
			told:   toldOf(lwsv1.ReasonReplicaRestartBudgetExceeded),
		},
		"exhausted, its place is to be filled": {
			change: also(keyed, isExhausted, func(o *observation) { o.Expected = true }),
		},
		"exhausted and scaled away": {change: also(keyed, isExhausted), steps: releasedKeyed},
		"exhausted and of an older revision": {
			change: also(keyed, isExhausted, func(o *observation) { o.Expected, o.Leaders.UpdateRevision = true, "newer" }),
			steps:  releasedKeyed,
		},
		"with None its workers belong to the leader": {
			change: also(keyed, policy(lwsv1.NoneRestartPolicy), marked, func(o *observation) { o.Leader.Memory = nil }),
			steps:  []string{"checkWorkers"},
		},
		"the policy becomes None": {
			change: also(keyed, policy(lwsv1.NoneRestartPolicy)),
			steps:  []string{"annotateLeader restart-policy", "checkWorkers", "annotateLeader group-members remove"},
		},
		"None until a manager started: what happened before is no failure": {
			change: also(keyed, marked, func(o *observation) {
				o.Leader.Memory = nil
				restarted("main", 5)(&o.Living.Workers[0])
			}),
			steps: []string{"annotateLeader group-members", "annotateLeader restart-policy remove", "checkWorkers"},
		},
		"None until a manager started: a pod that has ended is": {
			change: also(keyed, marked, func(o *observation) {
				o.Leader.Memory = nil
				o.Living.Workers[0].Phase = corev1.PodFailed
			}),
			steps: []string{"annotateLeader group-members", "annotateLeader restart-policy remove", "deleteLeader leader"},
			told:  toldOf(lwsv1.ReasonRecreateGroup),
		},
		"None some time ago, and the cache still shows the mark": {
			change: also(keyed, marked, func(o *observation) {
				o.Noted.policy = lwsv1.RecreateGroupOnPodRestart
				restarted("main", 5)(&o.Living.Workers[0])
			}),
			steps: []string{"annotateLeader restart-policy remove", "deleteLeader leader"},
			told:  toldOf(lwsv1.ReasonRecreateGroup),
		},
	})
}

func TestCountOfWhatIsReplaced(t *testing.T) {
	o := observed(keyed, func(o *observation) { o.Leader.Replaces = keyOf("b") })
	theirs := Counts{counts: map[Entry]Count{{Revision: "rev", Index: keyOf("b")}: {Restarts: 2}}}
	if count, found := o.countOf(&theirs); !found || count.Restarts != 2 {
		t.Errorf("count %+v, %t", count, found)
	}
	own := Counts{counts: map[Entry]Count{
		{Revision: "rev", Index: keyOf("b")}: {Restarts: 2}, {Revision: "rev", Index: keyOf("a")}: {Restarts: 3},
	}}
	if count, _ := o.countOf(&own); count.Restarts != 5 {
		t.Errorf("count %+v", count)
	}
}

func TestMoveCounts(t *testing.T) {
	a, b := Entry{"rev", "a"}, Entry{"rev", "b"}
	tests := map[string]struct {
		from, want map[Entry]Count
		moved      bool
	}{
		"nothing to move": {map[Entry]Count{}, map[Entry]Count{}, false},
		"moves":           {map[Entry]Count{a: {2, "x"}}, map[Entry]Count{b: {2, "x"}}, true},
		"adds up with what was counted before it moved": {
			map[Entry]Count{a: {2, "x"}, b: {1, "y"}}, map[Entry]Count{b: {3, "y"}}, true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			counts := Counts{counts: tc.from}
			if moved := counts.Move(a, b); moved != tc.moved {
				t.Errorf("moved: %t", moved)
			}
			if diff := cmp.Diff(tc.want, counts.counts); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGatePatchTakesTheDeletionCost(t *testing.T) {
	cost := func(value string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Annotations[corev1.PodDeletionCost] = value }
	}
	for value, want := range map[string]string{"-100": "", "7": "7"} {
		p := keyedPod("a", atGate, cost(value))
		got, err := patched(t, p, gatePatch(p))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Spec.SchedulingGates) != 0 || got.Annotations[corev1.PodDeletionCost] != want {
			t.Errorf("cost %q: gates %v, annotations %v", value, got.Spec.SchedulingGates, got.Annotations)
		}
	}
}

func TestPlaceOfAnExhaustedGroup(t *testing.T) {
	maker := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "set-rs", UID: "rs"}, Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(2))}}
	leader := func(letter string, change ...func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: testGroup.Namespace, Name: "set-rs-" + letter, UID: types.UID(letter),
			Labels: map[string]string{
				lwsv1.SetNameLabelKey: testGroup.Set, lwsv1.WorkerIndexLabelKey: "0",
				lwsv1.GroupIndexLabelKey: keyOf(letter), lwsv1.GroupKeyLabelKey: keyOf(letter),
			},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kindReplicaSet, Name: "set-rs", UID: "rs", Controller: new(true)}},
		}}
		for _, c := range change {
			c(p)
		}
		return p
	}
	going := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: testStart} }
	gated := func(p *corev1.Pod) {
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: lwsv1.GroupReplacementSchedulingGate}}
	}
	others := func(p *corev1.Pod) { p.OwnerReferences[0].UID = "other" }
	for name, tc := range map[string]struct {
		leaders []*corev1.Pod
		pairs   map[string]string
		want    bool
	}{
		"its ReplicaSet is about to fill it":       {leaders: []*corev1.Pod{leader("a", going), leader("b")}, want: true},
		"its own deletion is not in the cache yet": {leaders: []*corev1.Pod{leader("a"), leader("b")}, want: true},
		"a leader is held for it": {
			leaders: []*corev1.Pod{leader("a", going), leader("b"), leader("c", gated)},
			pairs:   map[string]string{keyOf("c"): keyOf("a")}, want: true,
		},
		"a leader is held for another": {
			leaders: []*corev1.Pod{leader("a", going), leader("b"), leader("c", gated)},
			pairs:   map[string]string{keyOf("c"): keyOf("d")},
		},
		"scaled away":                   {leaders: []*corev1.Pod{leader("a", going), leader("b"), leader("c")}},
		"another that is going as well": {leaders: []*corev1.Pod{leader("a", going), leader("b"), leader("c", going)}, want: true},
		"leaders of another ReplicaSet": {leaders: []*corev1.Pod{leader("a", going), leader("b"), leader("c", others)}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isPlaceOpen("a", keyOf("a"), maker, tc.leaders, tc.pairs); got != tc.want {
				t.Errorf("isPlaceOpen = %v, want %v", got, tc.want)
			}
		})
	}
}
