package scheduling

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// available is workload-aware scheduling on an API server that serves it.
func available(composite bool) *Kubernetes {
	k := NewKubernetes(true, composite)
	k.SetProblem(nil)
	return k
}

// TestGroupObjects: names, minimum, owners and labels of the PodGroups of a leader
// of three pods, of a set whose spec has four by now.
func TestGroupObjects(t *testing.T) {
	for name, test := range map[string]struct {
		scheduling s
		level      Level
		want       map[string]string // role by name
		minimum    []int32
	}{
		"replica": {s{}, LevelReplica, map[string]string{"a-1-abcde-rev": ""}, []int32{3}},
		"role": {
			s{Replica: &replica{Worker: workers}},
			LevelRole,
			map[string]string{"a-1-abcde-leader-rev": "leader", "a-1-abcde-worker-rev": "worker"},
			[]int32{0, 2},
		},
		"set": {s{SchedulingPolicy: gang}, LevelSet, map[string]string{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			set := lwstest.New("a").UID("set").Replicas(2).Size(4).Scheduling(test.scheduling).Obj()
			workload := &schedulingv1beta1.Workload{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "workload"}}
			leader := leaderPod(test.level, "3")
			objects, err := available(false).GroupObjects(set, leader, []client.Object{workload})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			var refs []Ref
			for i, obj := range objects {
				podGroup := obj.(*schedulingv1beta1.PodGroup)
				role := podGroup.Labels[lwsv1.SchedulingRoleLabelKey]
				got[podGroup.Name] = role
				refs = append(refs, RefOf(obj))
				minimum := int32(0)
				if g := podGroup.Spec.SchedulingPolicy.Gang; g != nil {
					minimum = g.MinCount
				}
				if minimum != test.minimum[i] {
					t.Errorf("%s: minimum %d, want %d", podGroup.Name, minimum, test.minimum[i])
				}
				if controller := metav1.GetControllerOf(podGroup); controller == nil || controller.UID != "set" {
					t.Errorf("%s: controller %v", podGroup.Name, controller)
				}
				if len(podGroup.OwnerReferences) != 2 || podGroup.OwnerReferences[1].UID != "workload" || podGroup.OwnerReferences[1].Controller != nil {
					t.Errorf("%s: owners %v", podGroup.Name, podGroup.OwnerReferences)
				}
				want := map[string]string{
					lwsv1.SetNameLabelKey: "a", lwsv1.GroupIndexLabelKey: "1", lwsv1.RevisionLabelKey: "rev",
					lwsv1.SchedulingLevelLabelKey: string(test.level),
				}
				if role != "" {
					want[lwsv1.SchedulingRoleLabelKey] = role
				}
				if diff := cmp.Diff(want, podGroup.Labels); diff != "" {
					t.Errorf("labels (-want +got):\n%s", diff)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(refs, available(false).GroupRefs(leader)); diff != "" {
				t.Errorf("what is made and what is named differ (-made +named):\n%s", diff)
			}
		})
	}
}

// Claims that a role shares are those of its PodGroup, and of no other.
func TestClaimsOfARole(t *testing.T) {
	claims := []claim{{Name: "gpu", ResourceClaimTemplateName: new("gpus")}, {Name: "nic", ResourceClaimName: new("nics")}}
	set := lwstest.New("a").UID("set").Replicas(2).Size(4).
		Scheduling(s{Replica: &replica{Worker: &lwsv1.LeaderWorkerSetWorkerScheduling{ResourceClaims: claims}}}).Obj()
	workload := &schedulingv1beta1.Workload{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "workload"}}
	objects, err := available(false).GroupObjects(set, leaderPod(LevelRole, "4"), []client.Object{workload})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]schedulingv1beta1.PodGroupResourceClaim{}
	for _, obj := range objects {
		podGroup := obj.(*schedulingv1beta1.PodGroup)
		got[podGroup.Labels[lwsv1.SchedulingRoleLabelKey]] = podGroup.Spec.ResourceClaims
	}
	want := map[string][]schedulingv1beta1.PodGroupResourceClaim{
		roleLeader: nil,
		roleWorker: {{Name: "gpu", ResourceClaimTemplateName: new("gpus")}, {Name: "nic", ResourceClaimName: new("nics")}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAdmission: both kinds of pods come to the same names, and twice is once.
func TestAdmission(t *testing.T) {
	for name, test := range map[string]struct {
		scheduling     s
		leader, worker string
	}{
		"replica": {s{}, "a-1-abcde-rev", "a-1-abcde-rev"},
		"role":    {s{Replica: &replica{Worker: workers}}, "a-1-abcde-leader-rev", "a-1-abcde-worker-rev"},
		"set":     {s{SchedulingPolicy: gang}, "a", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			set := lwstest.New("a").Size(3).Scheduling(test.scheduling).Obj()
			k := available(false)
			leader := leaderPod("", "3")
			delete(leader.Annotations, lwsv1.SchedulingLevelAnnotationKey)
			delete(leader.Annotations, lwsv1.SchedulingTokenAnnotationKey)
			if k.IsAdmitted(leader, set) {
				t.Error("admitted before it was")
			}
			k.AdmitLeader(leader, set, "abcde")
			once := leader.DeepCopy()
			k.AdmitLeader(leader, set, "other")
			if diff := cmp.Diff(once, leader); diff != "" {
				t.Errorf("twice is not once:\n%s", diff)
			}
			if !k.IsAdmitted(leader, set) {
				t.Error("not admitted")
			}
			worker := leaderPod("", "3")
			worker.Name, worker.Annotations = "a-1-1", Inherited(leader)
			worker.Labels[lwsv1.WorkerIndexLabelKey] = "1"
			k.AdmitWorker(worker)
			for pod, want := range map[*corev1.Pod]string{leader: test.leader, worker: test.worker} {
				if got := *pod.Spec.SchedulingGroup.PodGroupName; got != want {
					t.Errorf("%s is in %s, want %s", pod.Name, got, want)
				}
			}
		})
	}
}

func TestWorkersOfOthersAreLeftAlone(t *testing.T) {
	worker := leaderPod("", "3")
	worker.Annotations = map[string]string{}
	available(false).AdmitWorker(worker)
	if worker.Spec.SchedulingGroup != nil {
		t.Errorf("in %v", worker.Spec.SchedulingGroup)
	}
}

// TestNamesAreBounded: the longest name that the API server accepts for a set.
func TestNamesAreBounded(t *testing.T) {
	group := identity.Group{Set: strings.Repeat("s", 63), Index: strings.Repeat("0", 40)}
	name := identity.PodGroupName(group, "", roleLeader, "1234567890")
	if errs := validation.IsDNS1123Subdomain(name); len(errs) > 0 || len(name) > 130 {
		t.Errorf("%s of %d characters: %v", name, len(name), errs)
	}
}

func TestMinimum(t *testing.T) {
	podGroup := func(minimum int32) []client.Object {
		return []client.Object{&schedulingv1beta1.PodGroup{Spec: schedulingv1beta1.PodGroupSpec{
			SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: minimum}},
		}}}
	}
	in, out := Group{Size: 4, Admitted: true}, Group{Size: 4}
	for name, test := range map[string]struct {
		target int32
		groups []Group
		live   []client.Object
		want   int32
	}{
		"new":                                           {8, nil, nil, 8},
		"at rest":                                       {8, []Group{in, in}, podGroup(8), 8},
		"falls before pods go":                          {4, []Group{in, in}, podGroup(8), 4},
		"does not rise before pods come":                {12, []Group{in, in}, podGroup(8), 8},
		"does not rise for a leader at a gate":          {12, []Group{in, in, out}, podGroup(8), 8},
		"rises with the last leader":                    {12, []Group{in, in, in}, podGroup(8), 12},
		"rises from zero at once":                       {8, nil, podGroup(1), 8},
		"does not rise with half of the groups resized": {12, []Group{{Size: 6, Admitted: true}, in}, podGroup(8), 8},
	} {
		t.Run(name, func(t *testing.T) {
			if got := minimumOf(test.target, test.groups, test.live); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	exclusive := func(set *lwstest.Builder) { set.Annotation(lwsv1.ExclusiveTopologyAnnotationKey, "rack") }
	withClaim := func(set *lwstest.Builder) {
		template := lwstest.PodTemplate("worker")
		template.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("gpus")}}
		set.WorkerTemplate(template)
	}
	claims := &lwsv1.LeaderWorkerSetWorkerScheduling{ResourceClaims: []claim{{Name: "gpu", ResourceClaimTemplateName: new("gpus")}}}
	others := &lwsv1.LeaderWorkerSetWorkerScheduling{ResourceClaims: []claim{{Name: "gpu", ResourceClaimName: new("gpus")}}}
	two := s{SchedulingPolicy: gang, Replica: &replica{SchedulingPolicy: gang}}
	for name, test := range map[string]struct {
		scheduling *s
		change     func(*lwstest.Builder)
		provider   *Kubernetes
		want       string // field, empty for none
	}{
		"none wanted, switched off": {nil, nil, NewKubernetes(false, false), ""},
		"switched off":              {&s{}, nil, NewKubernetes(false, false), "spec.scheduling"},
		"not asked yet":             {&s{}, nil, NewKubernetes(true, false), "spec.scheduling"},
		"good":                      {&s{}, nil, available(false), ""},
		"two levels":                {&two, nil, available(false), "spec.scheduling.replica"},
		"two levels with trees":     {&two, nil, available(true), ""},
		"two levels, of a role":     {&s{Replica: &replica{SchedulingPolicy: gang, Worker: workers}}, nil, available(false), "spec.scheduling.replica.worker"},
		"exclusive and gang":        {&s{}, exclusive, available(false), "spec.scheduling"},
		"exclusive and basic":       {&s{Replica: &replica{SchedulingPolicy: loose}}, exclusive, available(false), ""},
		"exclusive and topology":    {&s{SchedulingConstraints: rack}, exclusive, available(false), "spec.scheduling"},
		"claim of the pods":         {&s{Replica: &replica{Worker: claims}}, withClaim, available(false), ""},
		"claim of no pod":           {&s{Replica: &replica{Worker: claims}}, nil, available(false), "spec.scheduling.replica.worker.resourceClaims[0]"},
		"claim of another source":   {&s{Replica: &replica{Worker: others}}, withClaim, available(false), "spec.scheduling.replica.worker.resourceClaims[0]"},
		"basic and all disrupted":   {&s{Replica: &replica{SchedulingPolicy: loose, DisruptionMode: whole}}, nil, available(false), "spec.scheduling.replica.disruptionMode"},
	} {
		t.Run(name, func(t *testing.T) {
			builder := lwstest.New("a").Size(4)
			if test.change != nil {
				test.change(builder)
			}
			set := builder.Obj()
			set.Spec.Scheduling = test.scheduling
			got := fieldsOf(test.provider.Validate(context.Background(), nil, set))
			if got != test.want {
				t.Errorf("refused %q, want %q", got, test.want)
			}
			if got := fieldsOf(test.provider.Validate(context.Background(), set, set)); got != "" {
				t.Errorf("an update that changes nothing is refused: %q", got)
			}
		})
	}
}

func fieldsOf(errs field.ErrorList) string {
	var fields []string
	for _, err := range errs {
		fields = append(fields, err.Field)
	}
	return strings.Join(fields, ", ")
}

// server serves some kinds, by group and version.
type server map[string]string

func (d server) ServerResourcesForGroupVersion(version string) (*metav1.APIResourceList, error) {
	kinds, ok := d[version]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, version)
	}
	list := &metav1.APIResourceList{}
	for _, kind := range strings.Fields(kinds) {
		list.APIResources = append(list.APIResources, metav1.APIResource{Kind: kind})
	}
	return list, nil
}

func TestCheckServed(t *testing.T) {
	for name, test := range map[string]struct {
		served server
		want   string
	}{
		"all":        {server{"scheduling.k8s.io/v1beta1": "Workload PodGroup"}, ""},
		"none":       {server{}, "the API server does not serve scheduling.k8s.io/v1beta1 Workload, scheduling.k8s.io/v1beta1 PodGroup"},
		"not enough": {server{"scheduling.k8s.io/v1beta1": "Workload"}, "the API server does not serve scheduling.k8s.io/v1beta1 PodGroup"},
	} {
		t.Run(name, func(t *testing.T) {
			problem, err := CheckServed(test.served, available(false).Kinds())
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if problem != nil {
				got = problem.Message
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
