package group

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// objectOf is the object behind a pod of a test, ready.
func objectOf(p *pod, change ...func(*corev1.Pod)) *corev1.Pod {
	object := &corev1.Pod{Status: corev1.PodStatus{Phase: p.Phase, Conditions: []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: p.Created.Add(time.Minute)}},
	}}}
	object.UID = p.UID
	for _, c := range change {
		c(object)
	}
	return object
}

// withObjects puts objects behind all pods; change is made to that of worker 1.
func withObjects(change ...func(*corev1.Pod)) func(*observation) {
	return func(o *observation) {
		o.pods = map[types.UID]*corev1.Pod{o.Leader.UID: objectOf(&o.Leader.pod)}
		for i := range o.Living.Workers {
			p := &o.Living.Workers[i]
			if p.Index == 1 {
				o.pods[p.UID] = objectOf(p, change...)
				continue
			}
			o.pods[p.UID] = objectOf(p)
		}
	}
}

func notReady(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }

func waits(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		notReady(p)
		p.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: "idle", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			{Name: "serve", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}},
		}
	}
}

func TestExplanation(t *testing.T) {
	backoff := func(o *observation) {
		o.Now = testStart.Add(4 * time.Second)
		o.Set.Budget.BacksOff, o.Set.Budget.Base, o.Set.Budget.Cap = true, 10*time.Second, 300*time.Second
	}
	heldBy := func(p *pod) { p.HeldBy, p.Phase = []string{"example.com/keep"}, corev1.PodFailed }
	left := func(options ...podOption) func(*observation) {
		return func(o *observation) { o.Living.Predecessors = []pod{worker(1, options...)} }
	}
	tests := map[string]struct {
		change func(*observation)
		ready  bool
		state  State
		why    string
	}{
		"ready": {func(*observation) {}, true, Ready, ""},
		"gated for a pod of its predecessor": {
			also(fresh, left(deleting), func(o *observation) { o.Now = testStart }), false, Gated,
			"waits for pod set-3-1 on node node, which is terminating",
		},
		"gated for a pod with a foreign finalizer": {
			also(fresh, left(deleting, heldBy)), false, Gated,
			"waits for pod set-3-1 on node node, which is held by the finalizer example.com/keep",
		},
		"gated for a node that does not answer": {
			also(fresh, left(deleting)), false, Gated,
			"waits for pod set-3-1 on node node, which has not terminated in its grace period: it goes when the node answers, " +
				"when Node node is deleted, or when it gets the taint node.kubernetes.io/out-of-service",
		},
		"gated for scheduling objects": {
			also(fresh, func(o *observation) { o.Gang = gang{Used: true, Admitted: true, Awaited: []string{"Workload set"}} }), false, Gated,
			"Workload set is not there yet",
		},
		"gated for a stopped group that it replaces": {
			also(fresh, func(o *observation) { o.Replaced = replaced{Key: "abc", Stored: true, Retained: "set-xyz"} }), false, Gated,
			"waits for group abc, whose restart budget is spent: the annotation leaderworkerset.sigs.k8s.io/recover=true on its leader set-xyz starts it again",
		},
		"gated with a revision that goes": {
			also(fresh, func(o *observation) { o.Leaders.UpdateRevision = "new" }), false, Gated,
			"the set does not want the revision of its leader at this index; a leader of the right one replaces it",
		},
		"gated by nothing": {
			fresh, false, Gated, "nothing holds its leader back: lws-manager lifts the gate, if it runs",
		},
		"gated while its StatefulSet is another": {
			also(fresh, func(o *observation) { o.Leader.Controlled = false }), false, Gated,
			"the object that makes its leader is gone, or without an owner",
		},
		"gated while the set goes": {
			also(fresh, func(o *observation) { o.Set.Deleting = true }), false, Gated, "the set is being deleted",
		},
		"exhausted": {
			also(limited(1, 1, "before"), isExhausted), false, Exhausted,
			"its restart budget is spent, it was recreated once; to start it again: kubectl annotate pod set-3 -n ns leaderworkerset.sigs.k8s.io/recover=true",
		},
		"about to be exhausted": {
			also(lostWorker, limited(1, 1, "before")), true, Exhausted,
			"pod set-3-1 was deleted, and the group was recreated 1 times with a maximum of 1; lws-manager stops it now",
		},
		"exhausted and asked for": {
			also(limited(1, 1, "before"), isExhausted, func(o *observation) { o.Leader.Recover = true }), false, Exhausted,
			"lws-manager starts it again, as asked for on its leader set-3",
		},
		"exhausted and not wanted any more": {
			also(limited(1, 1, "before"), isExhausted, func(o *observation) { o.Leaders.UpdateRevision = "new" }), false, Exhausted,
			"the set has no use for it any more: lws-manager lets go of its pods",
		},
		"failed, in its backoff": {
			also(lostWorker, backoff), true, Failed,
			"pod set-3-1 was deleted; it was recreated 0 times, and its backoff ends in 6s, at 2025-01-02T03:04:15Z",
		},
		"failed": {
			lostWorker, true, Failed, "pod set-3-1 was deleted; lws-manager recreates the group now",
		},
		"failed, and left to its StatefulSet": {
			func(o *observation) { o.Leader.Phase = corev1.PodFailed }, false, Failed,
			"its leader set-3 has ended (Failed), and is replaced",
		},
		"terminating": {
			func(o *observation) { deleting(&o.Leader.pod); o.Now = testStart }, false, Terminating,
			"waits for pod set-3 on node node, which is terminating",
		},
		"terminating on a node that does not answer": {
			func(o *observation) {
				deleting(&o.Leader.pod)
				deleting(&o.Living.Workers[0])
				o.Living.Workers[0].Deadline = o.Now
			}, false, Terminating,
			"waits for pod set-3 on node node, which has not terminated in its grace period: it goes when the node answers, " +
				"when Node node is deleted, or when it gets the taint node.kubernetes.io/out-of-service",
		},
		"terminated": {
			func(o *observation) { deleting(&o.Leader.pod); o.Leader.Phase = corev1.PodSucceeded }, false, Terminating,
			"its pods have terminated, and are about to go",
		},
		"a worker cannot be scheduled": {
			func(o *observation) { unplaced(&o.Living.Workers[1]) }, false, Unschedulable,
			"pod set-3-2 cannot be scheduled: 0/3 nodes are available",
		},
		"a worker waits for its image": {
			withObjects(waits("ImagePullBackOff", "no such image")), false, Starting,
			"pod set-3-1 on node node is not ready: container serve is in ImagePullBackOff: no such image",
		},
		"a worker runs": {withObjects(notReady), false, Starting, "pod set-3-1 on node node runs and is not ready"},
		"a worker starts": {
			also(func(o *observation) { o.Living.Workers[0].Phase = corev1.PodPending }, withObjects(notReady)), false, Starting,
			"pod set-3-1 on node node is starting",
		},
		"a worker is held by another gate": {
			also(func(o *observation) {
				p := &o.Living.Workers[0]
				p.Phase, p.Scheduling, p.Node = corev1.PodPending, heldByGate, ""
			}, withObjects(notReady, func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}} })),
			false, Starting, "pod set-3-1 is held by the scheduling gate example.com/quota",
		},
		"a worker has no node": {
			also(func(o *observation) { p := &o.Living.Workers[0]; p.Phase, p.Node = corev1.PodPending, "" }, withObjects(notReady)),
			false, Starting, "pod set-3-1 has no node yet",
		},
		"workers do not exist": {
			also(func(o *observation) { o.Living.Workers, o.Leader.Memory = nil, nil }, withObjects()), false, Starting,
			"2 of its 3 pods do not exist yet",
		},
		"workers that start later": {
			also(fresh, func(o *observation) {
				o.Leader.Gated, o.Leader.Phase, o.Leader.Node, o.Set.OnReady = false, corev1.PodRunning, "node", true
			}, withObjects()),
			false, Starting, "workers start when the leader is ready",
		},
		"workers that are not counted": {
			withObjects(), false, Starting, "its worker StatefulSet does not yet count all workers as available",
		},
		"a node without its topology": {
			also(fresh, func(o *observation) { o.Leader.Gated, o.Leader.Node, o.Topology = false, "node", "zone" }), false, Starting,
			"node node of leader set-3 does not have the label zone, whose value its workers are to share",
		},
		"without a leader": {
			func(o *observation) { o.Leader, o.Workers, o.Living = nil, nil, generation{} }, false, Missing,
			"its leader does not exist yet",
		},
		"without a leader, with workers": {
			func(o *observation) {
				o.Leader, o.Workers = nil, nil
				o.Living = generation{Predecessors: []pod{worker(1, deleting)}}
				o.Now = testStart
			}, false, Missing,
			"its leader is gone; left are pod set-3-1 on node node, which is terminating",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := observed(test.change)
			got := explanationOf(o, planFor(o), test.ready)
			if got.State != test.state {
				t.Errorf("it is %s, want %s", got.State, test.state)
			}
			if diff := cmp.Diff(test.why, got.Why); diff != "" {
				t.Errorf("why (-want +got)\n%s", diff)
			}
		})
	}
}

func TestExplanationCounts(t *testing.T) {
	o := observed(limited(3, 2, "before"), withObjects(notReady))
	o.Workers.Available = 1
	got := explanationOf(o, planFor(o), false)
	got.Why = ""
	want := &Explanation{
		Group: testGroup, State: Starting, Leader: "set-3", Node: "node", Revision: "rev", Created: testStart,
		NotReadySince: testStart.Add(time.Minute), Workers: 2, Available: 1, Restarts: 2, Limit: 3, Limited: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("explanation (-want +got)\n%s", diff)
	}
}

// TestLeaderWithReadinessGate: what it waits for are its workers, not itself.
func TestLeaderWithReadinessGate(t *testing.T) {
	o := observed(withObjects(notReady))
	o.Leader.HasReadinessGate = true
	object := o.pods[o.Leader.UID]
	notReady(object)
	object.Status.Conditions = append(object.Status.Conditions, corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionTrue})
	if got := explanationOf(o, planFor(o), false).Why; got != "pod set-3-1 on node node runs and is not ready" {
		t.Errorf("why is %q", got)
	}
}
