package scheduling

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// partOf is a set that a workload of a kind contains.
func partOf(apiVersion, kind string, scheduling s) *lwsv1.LeaderWorkerSet {
	set := lwstest.New("a").UID("set").Replicas(2).Size(3).Scheduling(scheduling).
		Annotation(lwsv1.SchedulingGroupTemplateNameAnnotationKey, "decode").
		Annotation(lwsv1.SchedulingParentCompositePodGroupAnnotationKey, "root").Obj()
	controller := true
	set.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "parent", UID: "parent", Controller: &controller}}
	return set
}

const (
	delegatorVersion = "disaggregatedset.x-k8s.io/v1"
	delegatorKind    = "DisaggregatedSet"
)

func parentWorkload() *schedulingv1beta1.Workload {
	return &schedulingv1beta1.Workload{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "parents", UID: "workload"},
		Spec: schedulingv1beta1.WorkloadSpec{CompositePodGroupTemplates: []schedulingv1beta1.CompositePodGroupTemplate{{
			Name: "root",
			PodGroupTemplates: []schedulingv1beta1.PodGroupTemplate{{
				Name: "decode",
				SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{
					Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 3},
				},
			}},
		}}},
	}
}

// TestDelegation: a set below a workload makes PodGroups of the workload's template,
// and no Workload.
func TestDelegation(t *testing.T) {
	for name, test := range map[string]struct {
		scheduling s
		ofSet      map[string]string
		ofGroup    map[string]string
	}{
		"replica": {s{}, map[string]string{}, map[string]string{"PodGroup a-1-abcde-rev": "root"}},
		"lws":     {s{SchedulingPolicy: gang}, map[string]string{"PodGroup a": "root"}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			k := available(false)
			set := partOf(delegatorVersion, delegatorKind, test.scheduling)
			if got := k.Required(set)[0]; got.Controller != "parent" || got.Name != "" {
				t.Errorf("required: %v", got)
			}
			if objects, err := k.SetObjects(set, nil, nil); err != nil || len(objects) > 0 {
				t.Errorf("before the parent's Workload: %v, %v", objects, err)
			}
			live := []client.Object{parentWorkload()}
			objects, err := k.SetObjects(set, nil, live)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.ofSet, parents(objects)); diff != "" {
				t.Errorf("of the set (-want +got):\n%s", diff)
			}
			leader := leaderPod(podLevelOf(set), "3")
			checkGroup(t, k, leader, test.ofGroup, func() ([]client.Object, error) { return k.GroupObjects(set, leader, live) })
			groups, err := k.GroupObjects(set, leader, live)
			if err != nil {
				t.Fatal(err)
			}
			for _, obj := range append(groups, objects...) {
				podGroup := obj.(*schedulingv1beta1.PodGroup)
				want := &schedulingv1beta1.WorkloadReference{WorkloadName: "parents", TemplateName: "decode"}
				if diff := cmp.Diff(want, podGroup.Spec.WorkloadRef); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if podGroup.Spec.SchedulingPolicy.Gang.MinCount != 3 || metav1.GetControllerOf(podGroup).UID != "set" {
					t.Errorf("minimum %d, controller %s", podGroup.Spec.SchedulingPolicy.Gang.MinCount, metav1.GetControllerOf(podGroup).UID)
				}
			}
		})
	}
}

func podLevelOf(set *lwsv1.LeaderWorkerSet) Level { return levelsOf(set.Spec.Scheduling).ofPods() }

func TestDelegationToOthers(t *testing.T) {
	set := partOf("example.com/v1", "DisaggregatedSet", s{})
	if _, delegated := parentOf(set); delegated {
		t.Error("a kind that is not registered")
	}
	set.OwnerReferences = nil
	if _, delegated := parentOf(set); delegated {
		t.Error("a set of its own")
	}
}

func TestDelegationRefusesRoles(t *testing.T) {
	for name, test := range map[string]struct {
		scheduling s
		want       string
	}{
		"replica":           {s{}, ""},
		"lws":               {s{SchedulingPolicy: gang}, ""},
		"role":              {s{Replica: &replica{Worker: workers}}, "spec.scheduling.replica.worker"},
		"several, gated on": {s{SchedulingPolicy: gang, Replica: &replica{SchedulingPolicy: gang}}, "spec.scheduling.replica"},
	} {
		t.Run(name, func(t *testing.T) {
			set := partOf(delegatorVersion, delegatorKind, test.scheduling)
			if got := fieldsOf(available(true).Validate(context.Background(), nil, set)); got != test.want {
				t.Errorf("refused %q, want %q", got, test.want)
			}
		})
	}
}
