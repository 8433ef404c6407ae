package leaderworkerset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

func TestLeadersThatWereNotAdmitted(t *testing.T) {
	// bare is a leader as what makes it wants it, without what admission adds.
	bare := func(index int, change func(*corev1.Pod)) *corev1.Pod {
		leader := leaderPod(index, 1)
		delete(leader.Labels, lwsv1.GroupIndexLabelKey)
		if change != nil {
			change(leader)
		}
		return leader
	}
	tests := map[string]struct {
		leader *corev1.Pod
		want   bool
	}{
		"without labels of a group":    {bare(0, nil), true},
		"admitted":                     {leaderPod(0, 1), false},
		"its number lost, not its key": {bare(0, func(p *corev1.Pod) { p.Labels[lwsv1.GroupKeyLabelKey] = "key" }), false},
		"going":                        {bare(0, func(p *corev1.Pod) { deleting(p) }), false},
		"ended":                        {bare(0, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), false},
		"somebody else's":              {bare(0, func(p *corev1.Pod) { p.OwnerReferences[0].UID = "somebody" }), false},
		"nobody's":                     {bare(0, func(p *corev1.Pod) { p.OwnerReferences = nil }), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := unadmittedOf(members{set: testSet().Obj(), statefulSet: leaderStatefulSet(1), leaders: []*corev1.Pod{test.leader}})
			if (len(got) == 1) != test.want {
				t.Errorf("found %v, want one: %t", got, test.want)
			}
		})
	}
	t.Run("of a ReplicaSet", func(t *testing.T) {
		leader := bare(0, func(p *corev1.Pod) { p.OwnerReferences[0].UID = "replicas" })
		m := members{
			set: testSet().Obj(), deployment: &appsv1.Deployment{}, leaders: []*corev1.Pod{leader},
			replicaSets: []*appsv1.ReplicaSet{{ObjectMeta: metav1.ObjectMeta{UID: "replicas"}}},
		}
		if got := unadmittedOf(m); len(got) != 1 {
			t.Errorf("found %v, want one", got)
		}
	})
}

func TestPlanOfLeadersThatWereNotAdmitted(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	aged := func(name string, age time.Duration) unadmitted {
		return unadmitted{objectRef{Name: name}, now.Add(-age)}
	}
	const first = "Pod a was created while the webhook of lws-manager was not there, so it is in no group; it is deleted when it is 30s old"
	tests := map[string]struct {
		found []unadmitted
		want  unadmittedPlan
	}{
		"none":          {},
		"young":         {[]unadmitted{aged("a", 10*time.Second)}, unadmittedPlan{Message: first, Again: 20 * time.Second}},
		"old":           {[]unadmitted{aged("a", time.Hour)}, unadmittedPlan{Message: first, Delete: []objectRef{{Name: "a"}}}},
		"on the second": {[]unadmitted{aged("a", 30*time.Second)}, unadmittedPlan{Message: first, Delete: []objectRef{{Name: "a"}}}},
		"several": {
			[]unadmitted{aged("a", time.Second), aged("b", time.Minute), aged("c", 2*time.Second)},
			unadmittedPlan{Message: first + " (and 2 more)", Delete: []objectRef{{Name: "b"}}, Again: 28 * time.Second},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, planUnadmitted(test.found, now)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
