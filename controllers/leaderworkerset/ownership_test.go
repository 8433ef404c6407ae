package leaderworkerset

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

func TestClaims(t *testing.T) {
	tests := map[string]struct {
		change func(*appsv1.StatefulSet)
		want   claim
	}{
		"ours":               {func(*appsv1.StatefulSet) {}, claimOurs},
		"ours, and it goes":  {func(s *appsv1.StatefulSet) { deleting(s) }, claimLeaving},
		"of a deleted set":   {func(s *appsv1.StatefulSet) { s.OwnerReferences[0].UID = "before" }, claimLeaving},
		"orphaned":           {func(s *appsv1.StatefulSet) { s.OwnerReferences = nil }, claimLeftover},
		"orphaned and going": {func(s *appsv1.StatefulSet) { s.OwnerReferences = nil; deleting(s) }, claimLeaving},
		"another owner that is no controller": {func(s *appsv1.StatefulSet) {
			s.OwnerReferences[0] = metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "c", UID: "c"}
		}, claimLeftover},
		"without our label": {func(s *appsv1.StatefulSet) {
			s.OwnerReferences = nil
			delete(s.Labels, lwsv1.SetNameLabelKey)
		}, claimForeign},
		"ours, label removed by hand": {func(s *appsv1.StatefulSet) {
			delete(s.Labels, lwsv1.SetNameLabelKey)
		}, claimOurs},
		"another controller": {func(s *appsv1.StatefulSet) {
			s.OwnerReferences[0] = ownerOf(kindStatefulSet, "x", "other")
		}, claimForeign},
		"a set of another name": {func(s *appsv1.StatefulSet) { s.OwnerReferences[0].Name = "y" }, claimForeign},
		"a kind of our name in another group": {func(s *appsv1.StatefulSet) {
			s.OwnerReferences[0].APIVersion = "example.com/v1"
		}, claimForeign},
		"a set of a later version": {func(s *appsv1.StatefulSet) {
			s.OwnerReferences[0].APIVersion = "leaderworkerset.x-k8s.io/v2"
		}, claimOurs},
		"orphaned with a selector that cannot be ours": {func(s *appsv1.StatefulSet) {
			s.OwnerReferences = nil
			s.Spec.Selector.MatchLabels["app"] = "y"
		}, claimForeign},
		"orphaned with expressions": {func(s *appsv1.StatefulSet) {
			s.OwnerReferences = nil
			s.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpExists}}
		}, claimForeign},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			statefulSet := leaderStatefulSet(1)
			tc.change(statefulSet)
			if got := claimOfStatefulSet(testSet().Obj(), statefulSet); got != tc.want {
				t.Errorf("claim %d, want %d", got, tc.want)
			}
		})
	}
	if got := claimOfStatefulSet(testSet().Obj(), nil); got != claimAbsent {
		t.Errorf("no StatefulSet: claim %d", got)
	}
	if got := claimOfService(testSet().Obj(), nil); got != claimAbsent {
		t.Errorf("no Service: claim %d", got)
	}
	if got := claimOfService(testSet().Obj(), &corev1.Service{}); got != claimForeign {
		t.Errorf("somebody's Service: claim %d", got)
	}
}
