package group

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// leaderObject is a leader pod as admission leaves it.
func leaderObject(change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: testName, UID: "leader", CreationTimestamp: metav1.NewTime(testStart),
		Labels: map[string]string{
			lwsv1.SetNameLabelKey: "set", lwsv1.GroupIndexLabelKey: "3", lwsv1.WorkerIndexLabelKey: "0",
			lwsv1.GroupKeyLabelKey: "key", lwsv1.RevisionLabelKey: "rev",
			appsv1.ControllerRevisionHashLabelKey: "set-abc", "app": "x",
		},
		Annotations:     map[string]string{lwsv1.SizeAnnotationKey: "3", "note": "y"},
		OwnerReferences: []metav1.OwnerReference{controllerReference("apps/v1", kindStatefulSet, "set", "leaders")},
	}}
	p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}, {Name: lwsv1.GroupReplacementSchedulingGate}}
	p.Status.Phase = corev1.PodPending
	for _, c := range change {
		c(p)
	}
	return p
}

func workerObject(change ...func(*corev1.Pod)) *corev1.Pod {
	p := leaderObject()
	p.Name, p.UID = "set-3-1", "worker"
	p.Labels[lwsv1.WorkerIndexLabelKey] = "1"
	p.OwnerReferences = []metav1.OwnerReference{controllerReference("apps/v1", kindStatefulSet, testName, "workers")}
	p.Spec.SchedulingGates = nil
	p.Status.Phase = corev1.PodRunning
	for _, c := range change {
		c(p)
	}
	return p
}

func controllerReference(version, kind, name string, uid types.UID) metav1.OwnerReference {
	is := true
	return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, UID: uid, Controller: &is, BlockOwnerDeletion: &is}
}

func ownedAs(refs ...metav1.OwnerReference) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.OwnerReferences = refs }
}

func TestLeaderOf(t *testing.T) {
	got := leaderOf(leaderObject(), newLedger())
	want := &leader{
		pod: pod{
			Name: testName, UID: "leader", Controller: owner{kindStatefulSet, "set", "leaders"},
			Phase: corev1.PodPending, Created: testStart,
		},
		Revision: "rev", PodRevision: "set-abc", GroupKey: "key", Size: 3, Gated: true,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(leader{})); diff != "" {
		t.Errorf("leader (-want +got):\n%s", diff)
	}

	got = leaderOf(leaderObject(func(p *corev1.Pod) {
		p.Annotations[lwsv1.SubdomainPolicyAnnotationKey] = "UniquePerReplica"
		p.Annotations[lwsv1.GroupRestartBudgetExhaustedAnnotationKey] = "true"
		p.Annotations[lwsv1.RecoverAnnotationKey] = "true"
		p.Annotations[lwsv1.PodTerminationPolicyAnnotationKey] = "Parallel"
		p.Annotations[lwsv1.GroupMembersAnnotationKey] = `{"members":"x"}`
		p.Annotations[lwsv1.SizeAnnotationKey] = "many"
		p.Finalizers = []string{"example.com/x", metav1.FinalizerDeleteDependents, lwsv1.GroupRestartBudgetCleanupFinalizer}
		deleted := metav1.NewTime(testStart.Add(time.Minute))
		p.DeletionTimestamp = &deleted
		p.Spec.SchedulingGates = nil
		p.Spec.NodeName = "node"
		p.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
		}}
	}), newLedger())
	want = &leader{
		pod: pod{
			Name: testName, UID: "leader", Controller: owner{kindStatefulSet, "set", "leaders"}, Node: "node",
			Phase: corev1.PodFailed, Why: "Evicted", Created: testStart, Deleting: true, Deadline: testStart.Add(time.Minute),
			Retained: true, HeldBy: []string{"example.com/x"}, Scheduling: placed,
		},
		Revision: "rev", PodRevision: "set-abc", GroupKey: "key", Size: 1, OwnService: true, Exhausted: true, Recover: true,
		Parallel: true, Foreground: true, Ready: true, Memory: &memory{Members: "x"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(leader{})); diff != "" {
		t.Errorf("leader (-want +got):\n%s", diff)
	}
}

func TestOnlyTrueAsksForRecovery(t *testing.T) {
	for _, value := range []string{"", "True", "1", "yes", "false"} {
		l := leaderOf(leaderObject(func(p *corev1.Pod) { p.Annotations[lwsv1.RecoverAnnotationKey] = value }), newLedger())
		if l.Recover {
			t.Errorf("%q asks for recovery", value)
		}
	}
}

func TestSchedulingOf(t *testing.T) {
	tests := map[string]struct {
		conditions []corev1.PodCondition
		want       schedulingState
		text       string
	}{
		"nothing reported yet": {nil, starting, ""},
		"another condition":    {[]corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}, starting, ""},
		"placed":               {[]corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}, placed, ""},
		"gated": {
			[]corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated, Message: "x"}},
			heldByGate, "",
		},
		"unschedulable": {
			[]corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3"}},
			unschedulable, "0/3",
		},
		"any other reason": {
			[]corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "SchedulerError", Message: "oops"}},
			unschedulable, "oops",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := podOf(workerObject(func(p *corev1.Pod) { p.Status.Conditions = test.conditions }), 1, newLedger())
			if got.Scheduling != test.want || got.Scheduler != test.text {
				t.Errorf("%v %q, want %v %q", got.Scheduling, got.Scheduler, test.want, test.text)
			}
		})
	}
}

// Who may create pods gains nothing by our labels: name and controller have to be
// those of a member as well.
func TestForgedPodsAreNothing(t *testing.T) {
	forgedWorkers := map[string]func(*corev1.Pod){
		"of another name":                 func(p *corev1.Pod) { p.Name = "mine" },
		"of another StatefulSet":          ownedAs(controllerReference("apps/v1", kindStatefulSet, "mine", "x")),
		"of a ReplicaSet":                 ownedAs(controllerReference("apps/v1", "ReplicaSet", testName, "x")),
		"of another group's StatefulSet":  ownedAs(controllerReference("example.com/v1", kindStatefulSet, testName, "x")),
		"with an index that is none":      func(p *corev1.Pod) { p.Labels[lwsv1.WorkerIndexLabelKey] = "one" },
		"with the index of another":       func(p *corev1.Pod) { p.Labels[lwsv1.WorkerIndexLabelKey] = "2" },
		"with an index and leading zeros": func(p *corev1.Pod) { p.Name, p.Labels[lwsv1.WorkerIndexLabelKey] = "set-3-01", "01" },
	}
	for name, change := range forgedWorkers {
		if _, ok := workerOf(testGroup, workerObject(change), newLedger()); ok {
			t.Errorf("a worker %s is taken for one", name)
		}
	}
	if _, ok := workerOf(testGroup, workerObject(), newLedger()); !ok {
		t.Error("a worker is not taken for one")
	}
	if _, ok := workerOf(testGroup, workerObject(ownedAs()), newLedger()); !ok {
		t.Error("a worker that lost its controller is not taken for one")
	}
	forgedLeaders := map[string]func(*corev1.Pod){
		"of another name":        func(p *corev1.Pod) { p.Name = "mine" },
		"of another StatefulSet": ownedAs(controllerReference("apps/v1", kindStatefulSet, "mine", "x")),
		"of a Job":               ownedAs(controllerReference("batch/v1", "Job", "set", "x")),
	}
	for name, change := range forgedLeaders {
		if isLeaderOf(testGroup, leaderObject(change)) {
			t.Errorf("a leader %s is taken for one", name)
		}
	}
	if !isLeaderOf(testGroup, leaderObject()) || !isLeaderOf(testGroup, leaderObject(ownedAs())) {
		t.Error("a leader is not taken for one")
	}
}
