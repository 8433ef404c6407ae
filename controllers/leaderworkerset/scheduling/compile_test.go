package scheduling

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// TestCompile covers the shapes: which templates there are, and what they ask for.
func TestCompile(t *testing.T) {
	for name, test := range map[string]struct {
		scheduling s
		replicas   int32
		want       string
	}{
		"nothing said":                 {s{}, 2, "replica gang 4"},
		"an empty replica":             {s{Replica: &replica{}}, 2, "replica gang 4"},
		"gang of a replica":            {s{Replica: &replica{SchedulingPolicy: gang}}, 2, "replica gang 4"},
		"basic of a replica":           {s{Replica: &replica{SchedulingPolicy: loose}}, 2, "replica basic"},
		"topology of a replica":        {s{Replica: &replica{SchedulingConstraints: rack}}, 2, "replica gang 4 rack"},
		"disruption of a replica":      {s{Replica: &replica{DisruptionMode: whole}}, 2, "replica gang 4 whole"},
		"gang of a set":                {s{SchedulingPolicy: gang}, 2, "lws gang 8"},
		"gang of a set without groups": {s{SchedulingPolicy: gang}, 0, "lws gang 1"},
		"topology of a set":            {s{SchedulingConstraints: rack}, 2, "lws basic rack"},
		"an empty worker":              {s{Replica: &replica{Worker: &lwsv1.LeaderWorkerSetWorkerScheduling{}}}, 2, "leader basic, worker basic"},
		"gang of workers":              {s{Replica: &replica{Worker: workers}}, 2, "leader basic, worker gang 3"},
		"gang of the leader":           {s{Replica: &replica{Leader: &lwsv1.LeaderWorkerSetLeaderScheduling{SchedulingPolicy: podGang}}}, 2, "leader gang 1, worker basic"},

		"set and replica":       {s{SchedulingPolicy: gang, Replica: &replica{SchedulingPolicy: gang}}, 2, "lws{gang 2: replica gang 4}"},
		"set and role":          {s{SchedulingConstraints: rack, Replica: &replica{Worker: workers}}, 2, "lws{basic rack: leader basic, worker gang 3}"},
		"replica and role":      {s{Replica: &replica{SchedulingPolicy: gang, Worker: workers}}, 2, "replica{gang 2: leader basic, worker gang 3}"},
		"set, replica and role": {s{SchedulingPolicy: gang, Replica: &replica{SchedulingPolicy: gang, Worker: workers}}, 3, "lws{gang 3: replica{gang 2: leader basic, worker gang 3}}"},
	} {
		t.Run(name, func(t *testing.T) {
			set := lwstest.New("a").Replicas(test.replicas).Size(4).Scheduling(test.scheduling).Obj()
			workload, err := compile(set, CountsOf(set))
			if err != nil {
				t.Fatal(err)
			}
			if workload.Name != "a" || workload.Spec.ControllerRef.Kind != lwsv1.Kind || workload.Spec.ControllerRef.Name != "a" {
				t.Errorf("Workload %s of %v", workload.Name, workload.Spec.ControllerRef)
			}
			got := leaves(workload.Spec.PodGroupTemplates) + nodes(workload.Spec.CompositePodGroupTemplates)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func leaves(templates []schedulingv1beta1.PodGroupTemplate) string {
	var all []string
	for _, template := range templates {
		text := template.Name + " basic"
		if g := template.SchedulingPolicy.Gang; g != nil {
			text = fmt.Sprintf("%s gang %d", template.Name, g.MinCount)
		}
		if c := template.SchedulingConstraints; c != nil {
			text += " " + c.Topology[0].Key
		}
		if m := template.DisruptionMode; m != nil && m.All != nil {
			text += " whole"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func nodes(templates []schedulingv1beta1.CompositePodGroupTemplate) string {
	var all []string
	for _, template := range templates {
		text := "basic"
		if g := template.SchedulingPolicy.Gang; g != nil {
			text = fmt.Sprintf("gang %d", g.MinGroupCount)
		}
		if c := template.SchedulingConstraints; c != nil {
			text += " " + c.Topology[0].Key
		}
		all = append(all, fmt.Sprintf("%s{%s: %s%s}", template.Name, text,
			leaves(template.PodGroupTemplates), nodes(template.CompositePodGroupTemplates)))
	}
	return strings.Join(all, ", ")
}

func TestPriorityOfAllPods(t *testing.T) {
	template := lwstest.PodTemplate("worker")
	template.Spec.PriorityClassName = "high"
	set := lwstest.New("a").Size(2).WorkerTemplate(template).Scheduling(s{Replica: &replica{Worker: workers}}).Obj()
	workload, err := compile(set, CountsOf(set))
	if err != nil {
		t.Fatal(err)
	}
	for _, podGroup := range workload.Spec.PodGroupTemplates {
		if podGroup.PriorityClassName != "high" {
			t.Errorf("template %s has the priority class %q", podGroup.Name, podGroup.PriorityClassName)
		}
	}
}
