package leaderworkerset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

func TestGroupReadiness(t *testing.T) {
	tests := map[string]struct {
		size   int
		change func(leader *corev1.Pod, worker *appsv1.StatefulSet)
		want   bool
	}{
		"leader and workers ready": {size: 3, want: true},
		"size 1 needs no workers": {size: 1, want: true, change: func(_ *corev1.Pod, w *appsv1.StatefulSet) {
			w.OwnerReferences = nil
		}},
		"leader not ready": {size: 3, change: func(l *corev1.Pod, _ *appsv1.StatefulSet) {
			l.Status.Conditions[0].Status = corev1.ConditionFalse
		}},
		"leader pending": {size: 3, change: func(l *corev1.Pod, _ *appsv1.StatefulSet) {
			l.Status.Phase = corev1.PodPending
		}},
		"leader terminating": {size: 3, change: func(l *corev1.Pod, _ *appsv1.StatefulSet) { deleting(l) }},
		"restart budget spent, the leader about to be deleted": {size: 3, change: func(l *corev1.Pod, _ *appsv1.StatefulSet) {
			l.Annotations[lwsv1.GroupRestartBudgetExhaustedAnnotationKey] = "true"
		}},
		"leader without a size": {size: 3, change: func(l *corev1.Pod, _ *appsv1.StatefulSet) {
			l.Annotations = nil
		}},
		"a worker runs but is not ready": {size: 3, change: func(_ *corev1.Pod, w *appsv1.StatefulSet) {
			w.Status.AvailableReplicas = 1
		}},
		"workers not observed yet": {size: 3, change: func(_ *corev1.Pod, w *appsv1.StatefulSet) {
			w.Generation = 2
		}},
		"workers scaled down by hand": {size: 4},
		"workers of another revision": {size: 3, change: func(_ *corev1.Pod, w *appsv1.StatefulSet) {
			w.Labels[lwsv1.RevisionLabelKey] = "other"
		}},
		"workers going": {size: 3, change: func(_ *corev1.Pod, w *appsv1.StatefulSet) { deleting(w) }},
		"workers of the leader before": {size: 3, change: func(_ *corev1.Pod, w *appsv1.StatefulSet) {
			w.OwnerReferences[0].UID = "before"
		}},
		"workers without an owner": {size: 3, change: func(_ *corev1.Pod, w *appsv1.StatefulSet) {
			w.OwnerReferences = nil
		}},
		"workers of the set, with restart policy None": {size: 3, want: true, change: func(_ *corev1.Pod, w *appsv1.StatefulSet) {
			w.OwnerReferences = []metav1.OwnerReference{setOwner("set")}
		}},
		"workers of a set of the name before": {size: 3, change: func(_ *corev1.Pod, w *appsv1.StatefulSet) {
			w.OwnerReferences = []metav1.OwnerReference{setOwner("before")}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			leader, worker := leaderPod(0, tc.size), workerStatefulSet(0, 2)
			if tc.change != nil {
				tc.change(leader, worker)
			}
			groups, _ := groupsOf(members{
				set: testSet().Obj(), statefulSet: leaderStatefulSet(1),
				leaders: []*corev1.Pod{leader}, workers: []*appsv1.StatefulSet{worker},
			})
			if len(groups) != 1 || groups[0].Ready != tc.want {
				t.Errorf("groups %+v, want one that is ready: %t", groups, tc.want)
			}
		})
	}
}

func TestGroups(t *testing.T) {
	gated := leaderPod(10, 1)
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: lwsv1.GroupReplacementSchedulingGate}}
	gated.Status = corev1.PodStatus{Phase: corev1.PodPending}
	gated.Labels[lwsv1.RevisionLabelKey] = "new"
	gated.Labels[appsv1.ControllerRevisionHashLabelKey] = "x-def"

	exhausted := leaderPod(2, 1)
	exhausted.Annotations[lwsv1.GroupRestartBudgetExhaustedAnnotationKey] = "true"
	exhausted.Annotations[lwsv1.SubdomainPolicyAnnotationKey] = string(lwsv1.SubdomainUniquePerReplica)
	deleting(exhausted)

	forged := leaderPod(3, 1)
	forged.OwnerReferences[0].UID = "somebody"
	unadmitted := leaderPod(4, 1)
	delete(unadmitted.Labels, lwsv1.GroupIndexLabelKey)

	got, _ := groupsOf(members{
		set: testSet().Obj(), statefulSet: leaderStatefulSet(3),
		leaders: []*corev1.Pod{gated, exhausted, forged, unadmitted},
	})
	want := []groupState{
		{
			Name: "2", Index: 2, Leader: objectRef{"x-2", "uid-x-2"}, Revision: "rev", PodRevision: "x-abc",
			Terminating: true, Exhausted: true,
		},
		{
			Name: "10", Index: 10, Leader: objectRef{"x-10", "uid-x-10"}, Revision: "new", PodRevision: "x-def",
			SharesService: true, Gated: true,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if groups, unplaced := groupsOf(members{set: testSet().Obj(), leaders: []*corev1.Pod{gated}}); groups != nil || unplaced != nil {
		t.Errorf("groups %v of no StatefulSet", groups)
	}
}

func TestUnplaced(t *testing.T) {
	forged := unplacedWorker(0, 1)
	forged.Name, forged.OwnerReferences[0].UID = "forged", "somebody"
	going := unplacedWorker(0, 2)
	deleting(going)
	leader := leaderPod(2, 1)
	leader.Status = unplacedWorker(2, 0).Status
	leader.Status.Conditions[0].Message = "no domain is free"

	tests := map[string]struct {
		pods       []*corev1.Pod
		wantGroups []int32
		want       *unplaced
	}{
		"none":                        {},
		"a pod with our labels":       {pods: []*corev1.Pod{forged}},
		"a pod that goes":             {pods: []*corev1.Pod{going}},
		"workers of one group":        {pods: []*corev1.Pod{unplacedWorker(0, 2), unplacedWorker(0, 1)}, wantGroups: []int32{0}, want: &unplaced{"x-0-1", "0/3 nodes are available"}},
		"a leader, and another group": {pods: []*corev1.Pod{leader, unplacedWorker(1, 1)}, wantGroups: []int32{1, 2}, want: &unplaced{"x-1-1", "0/3 nodes are available"}},
		"a leader":                    {pods: []*corev1.Pod{leader}, wantGroups: []int32{2}, want: &unplaced{"x-2", "no domain is free"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			groups, example := groupsOf(members{
				set: testSet().Obj(), statefulSet: leaderStatefulSet(3),
				leaders:       []*corev1.Pod{leaderPod(0, 3), leaderPod(1, 3), leaderPod(2, 1)},
				workers:       []*appsv1.StatefulSet{workerStatefulSet(0, 2), workerStatefulSet(1, 2)},
				unschedulable: tc.pods,
			})
			var unschedulable []int32
			for _, g := range groups {
				if g.Unschedulable {
					unschedulable = append(unschedulable, g.Index)
				}
			}
			if diff := cmp.Diff(tc.wantGroups, unschedulable); diff != "" {
				t.Errorf("unschedulable groups (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, example); diff != "" {
				t.Errorf("example (-want +got):\n%s", diff)
			}
		})
	}
}
