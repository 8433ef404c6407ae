package identity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

func TestIndexes(t *testing.T) {
	type values struct{ PodsByGroup, Leaders, Unschedulable, Workers, Revisions, Services []string }
	read := func(pod *corev1.Pod) values {
		return values{
			PodsByGroup: PodsByGroup(pod), Leaders: LeadersBySet(pod), Unschedulable: UnschedulableBySet(pod),
			Workers: WorkerStatefulSetsBySet(pod), Revisions: RevisionsBySet(pod), Services: ServicesBySet(pod),
		}
	}
	set, group := []string{"ns/a"}, []string{"ns/a/1"}
	leader := map[string]string{
		lwsv1.SetNameLabelKey: "a", lwsv1.GroupIndexLabelKey: "1", lwsv1.WorkerIndexLabelKey: "0", lwsv1.RevisionLabelKey: "r",
	}
	scheduled := func(status corev1.ConditionStatus, reason string) []corev1.PodCondition {
		return []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "x"},
			{Type: corev1.PodScheduled, Status: status, Reason: reason},
		}
	}
	tests := map[string]struct {
		labels     map[string]string
		conditions []corev1.PodCondition
		want       values
	}{
		"leader": {leader, nil, values{PodsByGroup: group, Leaders: set, Workers: set, Services: set}},
		"gated":  {leader, scheduled(corev1.ConditionFalse, "SchedulingGated"), values{PodsByGroup: group, Leaders: set, Workers: set, Services: set}},
		"placed": {leader, scheduled(corev1.ConditionTrue, ""), values{PodsByGroup: group, Leaders: set, Workers: set, Services: set}},
		"unschedulable": {
			leader, scheduled(corev1.ConditionFalse, "Unschedulable"),
			values{PodsByGroup: group, Leaders: set, Unschedulable: set, Workers: set, Services: set},
		},
		"unschedulable, foreign": {map[string]string{"app": "x"}, scheduled(corev1.ConditionFalse, "Unschedulable"), values{}},
		"worker": {
			map[string]string{lwsv1.SetNameLabelKey: "a", lwsv1.GroupIndexLabelKey: "1", lwsv1.WorkerIndexLabelKey: "2"},
			nil,
			values{PodsByGroup: group, Workers: set, Services: set},
		},
		"leader, not admitted": {
			map[string]string{lwsv1.SetNameLabelKey: "a", lwsv1.WorkerIndexLabelKey: "0"}, nil, values{Leaders: set, Services: set},
		},
		"revision of a set": {RevisionLabels("a", "r"), nil, values{Revisions: set, Services: set}},
		"revision of a leader StatefulSet": {
			LeaderTemplateLabels("a", "r"), nil, values{Leaders: set, Services: set},
		},
		"revision of a worker StatefulSet": {
			WorkerLabels("a", "1", "k", "r"), nil, values{PodsByGroup: group, Workers: set, Services: set},
		},
		"no labels": {nil, nil, values{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", Labels: test.labels},
				Status:     corev1.PodStatus{Conditions: test.conditions},
			}
			if diff := cmp.Diff(test.want, read(pod)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
