package scheduling

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// aboveOf is the CompositePodGroup above an object.
func aboveOf(obj client.Object) string {
	var name *string
	switch obj := obj.(type) {
	case *schedulingv1beta1.PodGroup:
		name = obj.Spec.ParentCompositePodGroupName
	case *schedulingv1alpha3.CompositePodGroup:
		name = obj.Spec.ParentCompositePodGroupName
	}
	if name == nil {
		return ""
	}
	return *name
}

// TestTree: which objects there are with several levels, and what is above each. A
// pod says its levels, so that both sides come to the same names.
func TestTree(t *testing.T) {
	gangs := &replica{SchedulingPolicy: gang}
	all := &replica{SchedulingPolicy: gang, Worker: workers}
	for name, test := range map[string]struct {
		scheduling s
		ofSet      map[string]string
		ofGroup    map[string]string
		leader     string
	}{
		"set and replica": {
			s{SchedulingPolicy: gang, Replica: gangs},
			map[string]string{"Workload a": "", "CompositePodGroup a": ""},
			map[string]string{"PodGroup a-1-abcde-rev": "a"},
			"a-1-abcde-rev",
		},
		"set and role": {
			s{SchedulingPolicy: gang, Replica: &replica{Worker: workers}},
			map[string]string{"Workload a": "", "CompositePodGroup a": ""},
			map[string]string{"PodGroup a-1-abcde-leader-rev": "a", "PodGroup a-1-abcde-worker-rev": "a"},
			"a-1-abcde-leader-rev",
		},
		"replica and role": {
			s{Replica: all},
			map[string]string{"Workload a": ""},
			map[string]string{
				"CompositePodGroup a-1-abcde-rev": "", "PodGroup a-1-abcde-leader-rev": "a-1-abcde-rev", "PodGroup a-1-abcde-worker-rev": "a-1-abcde-rev",
			},
			"a-1-abcde-leader-rev",
		},
		"all": {
			s{SchedulingPolicy: gang, Replica: all},
			map[string]string{"Workload a": "", "CompositePodGroup a": ""},
			map[string]string{
				"CompositePodGroup a-1-abcde-rev": "a", "PodGroup a-1-abcde-leader-rev": "a-1-abcde-rev", "PodGroup a-1-abcde-worker-rev": "a-1-abcde-rev",
			},
			"a-1-abcde-leader-rev",
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := available(true)
			set := lwstest.New("a").UID("set").Replicas(2).Size(3).Scheduling(test.scheduling).Obj()
			live := []client.Object{&schedulingv1beta1.Workload{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "workload"}}}
			objects, err := k.SetObjects(set, nil, live)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.ofSet, parents(objects)); diff != "" {
				t.Errorf("of the set (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(refsOf(objects), k.Required(set)); diff != "" {
				t.Errorf("made and required differ:\n%s", diff)
			}
			leader := leaderPod("", "3")
			leader.Annotations = map[string]string{"leaderworkerset.sigs.k8s.io/size": "3"}
			k.AdmitLeader(leader, set, "abcde")
			if got := *leader.Spec.SchedulingGroup.PodGroupName; got != test.leader {
				t.Errorf("the leader is in %s, want %s", got, test.leader)
			}
			checkGroup(t, k, leader, test.ofGroup, func() ([]client.Object, error) { return k.GroupObjects(set, leader, live) })
		})
	}
}

func checkGroup(t *testing.T, k *Kubernetes, leader *corev1.Pod, want map[string]string, objects func() ([]client.Object, error)) {
	t.Helper()
	made, err := objects()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, parents(made)); diff != "" {
		t.Errorf("of the group (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(refsOf(made), k.GroupRefs(leader)); diff != "" {
		t.Errorf("made and named differ:\n%s", diff)
	}
}

func parents(objects []client.Object) map[string]string {
	found := map[string]string{}
	for _, obj := range objects {
		found[RefOf(obj).String()] = aboveOf(obj)
	}
	return found
}

func refsOf(objects []client.Object) []Ref {
	var refs []Ref
	for _, obj := range objects {
		refs = append(refs, RefOf(obj))
	}
	return refs
}

// TestGangOfGroupsStays: a CompositePodGroup cannot be changed.
func TestGangOfGroupsStays(t *testing.T) {
	set := lwstest.New("a").UID("set").Replicas(5).Size(3).
		Scheduling(s{SchedulingPolicy: gang, Replica: &replica{SchedulingPolicy: gang}}).Obj()
	root := &schedulingv1alpha3.CompositePodGroup{}
	root.Spec.SchedulingPolicy.Gang = &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: 2}
	objects, err := available(true).SetObjects(set, nil, []client.Object{&schedulingv1beta1.Workload{}, root})
	if err != nil {
		t.Fatal(err)
	}
	got := objects[1].(*schedulingv1alpha3.CompositePodGroup).Spec.SchedulingPolicy.Gang.MinGroupCount
	if got != 2 {
		t.Errorf("%d groups, want 2", got)
	}
}
