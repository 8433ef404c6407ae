package scheduling

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/cluster/sim"
)

var _ = Describe("A group", func() {
	It("stays in one domain of a topology", func() {
		s := begin()
		for _, rack := range []string{"a", "b", "a", "b"} {
			s.addNode(2, map[string]string{sim.RackLabel: s.namespace + "-" + rack})
		}
		name := s.create(s.newSet("rack").Replicas(2).Size(4).Scheduling(lwsv1.LeaderWorkerSetScheduling{
			Replica: &lwsv1.LeaderWorkerSetReplicaScheduling{
				SchedulingConstraints: &schedulingv1alpha3.WorkloadCompositePodGroupSchedulingConstraints{
					Topology: []schedulingv1alpha3.TopologyConstraint{{Key: sim.RackLabel}},
				},
			},
		}))
		s.awaitAvailable(name)
		racks := map[string]map[string]int{}
		rackOf := map[string]string{s.node(0): "a", s.node(1): "b", s.node(2): "a", s.node(3): "b"}
		for _, pod := range s.Pods(name) {
			group := pod.Labels[lwsv1.GroupIndexLabelKey]
			if racks[group] == nil {
				racks[group] = map[string]int{}
			}
			racks[group][rackOf[pod.Spec.NodeName]]++
		}
		Expect(racks).To(HaveLen(2))
		for group, in := range racks {
			Expect(in).To(HaveLen(1), "racks of group "+group)
		}
	})

	It("is preempted as a unit", func() {
		s := begin()
		s.addNode(6, nil)
		high := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}, Value: 1000}
		Expect(s.env.Client.Create(s.ctx, high)).To(Succeed())
		DeferCleanup(func() { Expect(s.env.Client.Delete(s.ctx, high)).To(Succeed()) })
		low := s.create(s.newSet("low").Replicas(2).Size(3).Scheduling(lwsv1.LeaderWorkerSetScheduling{
			Replica: &lwsv1.LeaderWorkerSetReplicaScheduling{
				SchedulingPolicy: &composite{Gang: &schedulingv1alpha3.WorkloadCompositePodGroupGangSchedulingPolicy{}},
				DisruptionMode: &schedulingv1alpha3.WorkloadCompositePodGroupDisruptionMode{
					All: &schedulingv1alpha3.WorkloadCompositePodGroupAllDisruptionMode{},
				},
			},
		}))
		s.awaitAvailable(low)
		before := s.uids(low)
		template := s.template()
		template.Spec.PriorityClassName = high.Name
		// Two pods: one of the other gang would be enough of a victim, pod by pod.
		important := s.create(s.newSet("high").Size(2).WorkerTemplate(template).Scheduling(gangOfGroups()))
		s.awaitAvailable(important)
		s.awaitSet(low, "has lost one group", func(set *lwsv1.LeaderWorkerSet) bool {
			return set.Status.ReadyReplicas == 1 && set.Status.UnschedulableReplicas == 1
		})
		kept := map[string]int{}
		for name, pod := range s.Pods(low) {
			if pod.UID == before[name] {
				kept[pod.Labels[lwsv1.GroupIndexLabelKey]]++
			}
		}
		Expect(kept).To(Or(Equal(map[string]int{"0": 3}), Equal(map[string]int{"1": 3})), "pods that were not touched, by group")
		Expect(s.placed(low)).To(Equal(kept), "pods that are placed")
	})
})
