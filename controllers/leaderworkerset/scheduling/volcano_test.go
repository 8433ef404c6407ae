package scheduling

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	volcanov1beta1 "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

func volcanoTemplate(cpu string) corev1.PodTemplateSpec {
	template := lwstest.PodTemplate("main")
	template.Spec.SchedulerName = "volcano"
	template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	return template
}

func TestVolcanoPodGroup(t *testing.T) {
	for name, test := range map[string]struct {
		policy lwsv1.StartupPolicyType
		want   int32
	}{
		"workers at once":  {lwsv1.LeaderCreatedStartupPolicy, 3},
		"workers later on": {lwsv1.LeaderReadyStartupPolicy, 1},
	} {
		t.Run(name, func(t *testing.T) {
			set := lwstest.New("a").Size(3).LeaderTemplate(volcanoTemplate("500m")).WorkerTemplate(volcanoTemplate("2")).
				StartupPolicy(test.policy).Annotation("scheduling.volcano.sh/queue-name", "q").
				Annotation("volcano.sh/x", "y").Annotation("other", "z").Obj()
			leader := leaderPod(LevelReplica, "3")
			leader.UID = "leader"
			objects, err := NewVolcano(true).GroupObjects(set, leader, nil)
			if err != nil || len(objects) != 1 {
				t.Fatalf("%d objects, %v", len(objects), err)
			}
			got := objects[0].(*volcanov1beta1.PodGroup)
			if got.Name != "a-1-abcde-rev" || got.Spec.MinMember != test.want || got.Spec.Queue != "q" {
				t.Errorf("%s, minimum %d, queue %s", got.Name, got.Spec.MinMember, got.Spec.Queue)
			}
			if cpu := (*got.Spec.MinResources)[corev1.ResourceCPU]; cpu.Cmp(resource.MustParse("4500m")) != 0 {
				t.Errorf("%s CPUs", cpu.String())
			}
			if controller := metav1.GetControllerOf(got); controller == nil || controller.UID != "leader" {
				t.Errorf("controller %v", controller)
			}
			if diff := cmp.Diff(map[string]string{"volcano.sh/x": "y"}, got.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			v := NewVolcano(true)
			v.AdmitLeader(leader, set, "other")
			if name := leader.Annotations["scheduling.k8s.io/group-name"]; name != got.Name {
				t.Errorf("the leader is in %q, want %q", name, got.Name)
			}
		})
	}
}

func TestVolcanoIsUsed(t *testing.T) {
	for name, test := range map[string]struct {
		set  *lwstest.Builder
		want bool
	}{
		"by its name":         {lwstest.New("a").WorkerTemplate(volcanoTemplate("1")), true},
		"by the leaders":      {lwstest.New("a").LeaderTemplate(volcanoTemplate("1")), true},
		"by annotation":       {lwstest.New("a").Annotation(lwsv1.GangSchedulingAnnotationKey, "true"), true},
		"not by others":       {lwstest.New("a"), false},
		"not by a refused no": {lwstest.New("a").Annotation(lwsv1.GangSchedulingAnnotationKey, "false"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := NewVolcano(false).Uses(test.set.Obj()); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

func TestVolcanoRefuses(t *testing.T) {
	path := "spec.scheduling.replica."
	for name, test := range map[string]struct {
		scheduling s
		want       string
	}{
		"nothing said":     {s{}, ""},
		"gang of replicas": {s{Replica: &replica{SchedulingPolicy: gang}}, ""},
		"basic":            {s{Replica: &replica{SchedulingPolicy: loose}}, path + "schedulingPolicy"},
		"topology":         {s{Replica: &replica{SchedulingConstraints: rack}}, path + "schedulingConstraints"},
		"disruption":       {s{Replica: &replica{DisruptionMode: whole}}, path + "disruptionMode"},
		"roles":            {s{Replica: &replica{Worker: workers}}, path + "worker"},
		"sets":             {s{SchedulingPolicy: gang, SchedulingConstraints: rack, DisruptionMode: whole}, "spec.scheduling.schedulingPolicy, spec.scheduling.schedulingConstraints, spec.scheduling.disruptionMode"},
	} {
		t.Run(name, func(t *testing.T) {
			v := NewVolcano(true)
			v.SetProblem(nil)
			set := lwstest.New("a").Size(2).WorkerTemplate(volcanoTemplate("1")).Scheduling(test.scheduling).Obj()
			if got := fieldsOf(v.Validate(context.Background(), nil, set)); got != test.want {
				t.Errorf("refused %q, want %q", got, test.want)
			}
		})
	}
}
