package group

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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

func ended(code int32, reason string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: "long"}}
}

func rule(action corev1.ContainerRestartRuleAction, operator corev1.ContainerRestartRuleOnExitCodesOperator, codes ...int32) corev1.ContainerRestartRule {
	return corev1.ContainerRestartRule{
		Action: action, ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: operator, Values: codes},
	}
}

func TestRestartsOf(t *testing.T) {
	const (
		in    = corev1.ContainerRestartRuleOnExitCodesOpIn
		notIn = corev1.ContainerRestartRuleOnExitCodesOpNotIn
		one   = corev1.ContainerRestartRuleActionRestart
		every = corev1.ContainerRestartRuleActionRestartAllContainers
	)
	status := func(name string, count int32, last corev1.ContainerState) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, RestartCount: count, LastTerminationState: last}
	}
	tests := map[string]struct {
		containers, init []corev1.Container
		statuses, inits  []corev1.ContainerStatus
		want             []restarts
	}{
		"none": {statuses: []corev1.ContainerStatus{status("main", 0, corev1.ContainerState{})}},
		"containers and init containers": {
			statuses: []corev1.ContainerStatus{status("main", 2, ended(137, "OOMKilled"))},
			inits:    []corev1.ContainerStatus{status("init", 1, ended(1, ""))},
			want: []restarts{
				{Container: "init", Count: 1, Why: "exit code 1"},
				{Container: "main", Count: 2, Why: "OOMKilled, exit code 137"},
			},
		},
		"how it ended is not known": {
			statuses: []corev1.ContainerStatus{status("main", 1, corev1.ContainerState{})},
			want:     []restarts{{Container: "main", Count: 1}},
		},
		"waiting to start again": {
			statuses: []corev1.ContainerStatus{{Name: "main", RestartCount: 1, State: ended(2, "Error")}},
			want:     []restarts{{Container: "main", Count: 1, Why: "Error, exit code 2"}},
		},
		"by its rule": {
			containers: []corev1.Container{{Name: "main", RestartPolicyRules: []corev1.ContainerRestartRule{rule(one, in, 42, 43)}}},
			statuses:   []corev1.ContainerStatus{status("main", 1, ended(43, ""))},
			want:       []restarts{{Container: "main", Count: 1, ByRule: true, Why: "exit code 43"}},
		},
		"not as its rule says": {
			containers: []corev1.Container{{Name: "main", RestartPolicyRules: []corev1.ContainerRestartRule{rule(one, in, 42), rule(one, notIn, 1, 2)}}},
			statuses:   []corev1.ContainerStatus{status("main", 1, ended(2, ""))},
			want:       []restarts{{Container: "main", Count: 1, Why: "exit code 2"}},
		},
		"the rule of another container": {
			containers: []corev1.Container{{Name: "other", RestartPolicyRules: []corev1.ContainerRestartRule{rule(one, in, 42)}}, {Name: "main"}},
			statuses:   []corev1.ContainerStatus{status("main", 1, ended(42, ""))},
			want:       []restarts{{Container: "main", Count: 1, Why: "exit code 42"}},
		},
		"the rule of an init container": {
			init:  []corev1.Container{{Name: "init", RestartPolicyRules: []corev1.ContainerRestartRule{rule(one, notIn, 0)}}},
			inits: []corev1.ContainerStatus{status("init", 3, ended(7, ""))},
			want:  []restarts{{Container: "init", Count: 3, ByRule: true, Why: "exit code 7"}},
		},
		"all containers by the rule of one": {
			containers: []corev1.Container{{Name: "main", RestartPolicyRules: []corev1.ContainerRestartRule{rule(every, in, 88)}}, {Name: "helper"}},
			statuses:   []corev1.ContainerStatus{status("main", 1, ended(88, "")), status("helper", 1, ended(137, ""))},
			want: []restarts{
				{Container: "main", Count: 1, ByRule: true, Why: "exit code 88"},
				{Container: "helper", Count: 1, ByRule: true, Why: "exit code 137"},
			},
		},
		"the first rule that matches acts": {
			containers: []corev1.Container{
				{Name: "main", RestartPolicyRules: []corev1.ContainerRestartRule{rule(one, in, 88), rule(every, in, 88)}}, {Name: "helper"},
			},
			statuses: []corev1.ContainerStatus{status("main", 1, ended(88, "")), status("helper", 1, ended(137, ""))},
			want: []restarts{
				{Container: "main", Count: 1, ByRule: true, Why: "exit code 88"},
				{Container: "helper", Count: 1, Why: "exit code 137"},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := workerObject(func(p *corev1.Pod) {
				p.Spec.Containers, p.Spec.InitContainers = test.containers, test.init
				p.Status.ContainerStatuses, p.Status.InitContainerStatuses = test.statuses, test.inits
				// They never count.
				p.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{status("debug", 9, ended(1, ""))}
			})
			if diff := cmp.Diff(test.want, podOf(p, 1, newLedger()).Restarts); diff != "" {
				t.Errorf("restarts (-want +got):\n%s", diff)
			}
			if _, err := StripPod(p); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, podOf(p, 1, newLedger()).Restarts); diff != "" {
				t.Errorf("restarts of what the cache keeps (-want +got):\n%s", diff)
			}
		})
	}
}

// A container restarts in place when its resources change and it asks for that.
func TestRestartsByResize(t *testing.T) {
	resizable := func(p *corev1.Pod) {
		p.Spec.Containers = []corev1.Container{
			{Name: "main", ResizePolicy: []corev1.ContainerResizePolicy{{ResourceName: "cpu", RestartPolicy: corev1.RestartContainer}}},
			{Name: "helper", ResizePolicy: []corev1.ContainerResizePolicy{{ResourceName: "cpu", RestartPolicy: corev1.NotRequired}}},
		}
	}
	resizing := func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodResizeInProgress, Status: corev1.ConditionTrue})
	}
	counts := func(main, helper int32) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: main}, {Name: "helper", RestartCount: helper}}
		}
	}
	tests := map[string]struct {
		before, after []func(*corev1.Pod)
		want          map[string]bool
	}{
		"while it is being resized": {
			[]func(*corev1.Pod){resizing, counts(0, 0)}, []func(*corev1.Pod){resizing, counts(1, 0)}, map[string]bool{"main": true},
		},
		"when the resize is done": {
			[]func(*corev1.Pod){resizing, counts(0, 0)}, []func(*corev1.Pod){counts(1, 0)}, map[string]bool{"main": true},
		},
		"without a resize": {
			[]func(*corev1.Pod){counts(0, 0)}, []func(*corev1.Pod){counts(1, 0)}, map[string]bool{"main": false},
		},
		"more than once": {
			[]func(*corev1.Pod){resizing, counts(0, 0)}, []func(*corev1.Pod){resizing, counts(2, 0)}, map[string]bool{"main": false},
		},
		"a container that does not have to": {
			[]func(*corev1.Pod){resizing, counts(0, 0)}, []func(*corev1.Pod){resizing, counts(0, 1)}, map[string]bool{"helper": false},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := workerObject(append(test.before, resizable)...)
			after := workerObject(append(test.after, resizable)...)
			for _, p := range []*corev1.Pod{before, after} {
				if _, err := StripPod(p); err != nil {
					t.Fatal(err)
				}
			}
			seen := newLedger()
			seen.changed(before, after)
			got := map[string]bool{}
			for _, r := range podOf(after, 1, seen).Restarts {
				got[r.Container] = r.ByResize
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("excused (-want +got):\n%s", diff)
			}
			seen.deleted(after)
			if len(seen.resizes) != 0 {
				t.Errorf("kept of a pod that is gone: %v", seen.resizes)
			}
		})
	}
}

func TestStripPodKeepsWhatIsRead(t *testing.T) {
	p := leaderObject(func(p *corev1.Pod) {
		p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "x"}}
		p.Finalizers = []string{"example.com/x"}
		p.Spec.NodeName = "node"
		p.Spec.Containers = []corev1.Container{{Name: "main", Image: "i", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("1")},
		}}}
		p.Spec.Volumes = []corev1.Volume{{Name: "v"}}
		p.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes"},
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ContainersNotReady", Message: "dropped"},
		}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "i", ImageID: "long"}}
		p.Status.PodIPs = []corev1.PodIP{{IP: "10.0.0.1"}}
	})
	before := leaderOf(p.DeepCopy(), newLedger())
	got, err := StripPod(p)
	if err != nil {
		t.Fatal(err)
	}
	stripped := got.(*corev1.Pod)
	if diff := cmp.Diff(before, leaderOf(stripped, newLedger()), cmp.AllowUnexported(leader{})); diff != "" {
		t.Errorf("leader read from what the cache keeps (-want +got):\n%s", diff)
	}
	for what, kept := range map[string]bool{
		"managed fields":        stripped.ManagedFields != nil,
		"a label of the user's": stripped.Labels["app"] != "",
		"an annotation":         stripped.Annotations["note"] != "",
		"containers":            len(stripped.Spec.Containers) > 0,
		"volumes":               len(stripped.Spec.Volumes) > 0,
		"statuses":              len(stripped.Status.ContainerStatuses) > 0,
		"addresses":             len(stripped.Status.PodIPs) > 0,
		"a message":             stripped.Status.Conditions[1].Message != "",
	} {
		if kept {
			t.Errorf("%s kept", what)
		}
	}
	other := &corev1.Node{}
	if got, err := StripPod(other); err != nil || got != any(other) {
		t.Errorf("what is no pod is returned as %v, %v", got, err)
	}
}

func TestLedgerOfLosses(t *testing.T) {
	seen := newLedger()
	seen.deleted(leaderObject())
	seen.deleted(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "stranger"}})
	if got := seen.of(testGroup); got != nil {
		t.Errorf("losses of what is no worker: %v", got)
	}
	seen.deleted(workerObject())
	first := seen.of(testGroup)
	want := []loss{{Name: "set-3-1", UID: "worker", Controller: "workers", Index: 1}}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	// One more comes in while the first is looked at.
	seen.deleted(workerObject(func(p *corev1.Pod) { p.UID = "second" }))
	seen.keep(testGroup, first, nil)
	if got := seen.of(testGroup); len(got) != 1 || got[0].UID != "second" {
		t.Errorf("after the first was seen: %v", got)
	}
	seen.keep(testGroup, seen.of(testGroup), seen.of(testGroup))
	if got := seen.of(testGroup); len(got) != 1 {
		t.Errorf("what still matters is dropped: %v", got)
	}
	seen.keep(testGroup, seen.of(testGroup), nil)
	if len(seen.losses) != 0 {
		t.Errorf("kept nothing as %v", seen.losses)
	}
}
