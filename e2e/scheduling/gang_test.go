package scheduling

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

type (
	composite = schedulingv1alpha3.WorkloadCompositePodGroupSchedulingPolicy
	ofPods    = schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy
)

func gangOfSet() lwsv1.LeaderWorkerSetScheduling {
	return lwsv1.LeaderWorkerSetScheduling{
		SchedulingPolicy: &composite{Gang: &schedulingv1alpha3.WorkloadCompositePodGroupGangSchedulingPolicy{}},
	}
}

func gangOfGroups() lwsv1.LeaderWorkerSetScheduling { return lwsv1.LeaderWorkerSetScheduling{} }

func gangOfWorkers() lwsv1.LeaderWorkerSetScheduling {
	return lwsv1.LeaderWorkerSetScheduling{Replica: &lwsv1.LeaderWorkerSetReplicaScheduling{
		Worker: &lwsv1.LeaderWorkerSetWorkerScheduling{
			SchedulingPolicy: &ofPods{Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{}},
		},
	}}
}

var _ = Describe("A gang", func() {
	It("of a group runs whole or not at all", func() {
		s := begin()
		s.addNode(6, nil)
		name := s.create(s.newSet("half").Replicas(2).Size(4).Scheduling(gangOfGroups()))
		s.awaitSet(name, "has one of two groups", func(set *lwsv1.LeaderWorkerSet) bool {
			return set.Status.ReadyReplicas == 1 && set.Status.UnschedulableReplicas == 1
		})
		s.awaitCondition(name, lwsv1.ConditionProgressing, lwsv1.ReasonGroupUnschedulable, "1 replica cannot be scheduled; pod half-")
		s.awaitCondition(name, lwsv1.ConditionWorkloadSchedulingCreated, lwsv1.ReasonSchedulingObjectsCreated, "")
		Expect(s.placed(name)).To(Or(Equal(map[string]int{"0": 4}), Equal(map[string]int{"1": 4})))
		s.addNode(2, nil)
		s.awaitAvailable(name)
		s.awaitPodGroups(name, 2, false)
		for _, podGroup := range s.podGroups() {
			Expect(podGroup.Spec.SchedulingPolicy.Gang).NotTo(BeNil())
			Expect(podGroup.Spec.SchedulingPolicy.Gang.MinCount).To(BeEquivalentTo(4))
			Expect(podGroup.Spec.WorkloadRef).To(Equal(&schedulingv1beta1.WorkloadReference{WorkloadName: name, TemplateName: "replica"}))
			Expect(podGroup.Labels).To(HaveKeyWithValue(lwsv1.SchedulingLevelLabelKey, "replica"))
			Expect(podGroup.OwnerReferences).To(HaveLen(2))
			Expect(metav1.GetControllerOf(&podGroup).Kind).To(Equal(lwsv1.Kind))
		}
	})

	It("of a whole set waits until all of it fits, and then grows and shrinks", func() {
		s := begin()
		s.addNode(6, nil)
		name := s.create(s.newSet("whole").Replicas(2).Size(4).Scheduling(gangOfSet()))
		s.awaitSet(name, "cannot be placed", func(set *lwsv1.LeaderWorkerSet) bool { return set.Status.UnschedulableReplicas == 2 })
		Expect(s.placed(name)).To(BeEmpty())
		s.addNode(2, nil)
		s.awaitAvailable(name)
		s.awaitPodGroups(name, 1, true)
		s.awaitMinimum(name, 8)

		s.settle(name, replicas(1))
		s.awaitMinimum(name, 4)
		s.settle(name, replicas(2))
		s.awaitMinimum(name, 8)
		s.settle(name, size(3))
		s.awaitMinimum(name, 6)
		s.settle(name, size(4))
		s.awaitMinimum(name, 8)
		before := s.uids(name)
		s.removePod(name + "-1-2")
		s.awaitAnew(name, before, name+"-1", name+"-1-1", name+"-1-2")
		s.settle(name, replicas(0))
		s.awaitMinimum(name, 1)
		s.settle(name, replicas(2))
		s.awaitMinimum(name, 8)
		s.awaitPodGroups(name, 1, true)
	})

	It("of workers starts after a leader that is ready", func() {
		s := begin()
		s.addNode(4, nil)
		name := s.create(s.newSet("late").Size(4).StartupPolicy(lwsv1.LeaderReadyStartupPolicy).Scheduling(gangOfWorkers()))
		s.awaitAvailable(name)
		s.awaitPodGroups(name, 2, false)
		minimum := map[string]int32{}
		for _, podGroup := range s.podGroups() {
			role := podGroup.Labels[lwsv1.SchedulingRoleLabelKey]
			if gang := podGroup.Spec.SchedulingPolicy.Gang; gang != nil {
				minimum[role] = gang.MinCount
			} else {
				minimum[role] = 0
			}
		}
		Expect(minimum).To(Equal(map[string]int32{"leader": 0, "worker": 3}))
	})

	DescribeTable("of each level leaves nothing behind",
		func(level lwsv1.LeaderWorkerSetScheduling, perGroup int, shares bool) {
			s := begin()
			s.addNode(100, nil)
			name := s.create(s.newSet("life").Replicas(2).Size(2).MaxSurge("1").Scheduling(level))
			podGroups := func(groups int) int {
				if shares {
					return 1
				}
				return groups * perGroup
			}
			s.awaitAvailable(name)
			before := s.uids(name)
			s.removePod(name + "-1-1")
			s.awaitAnew(name, before, name+"-1", name+"-1-1")
			before = s.uids(name)
			s.removePod(name + "-0")
			s.awaitAnew(name, before, name+"-0", name+"-0-1")
			s.settle(name, replicas(4))
			s.awaitPodGroups(name, podGroups(4), shares)
			s.settle(name, replicas(3))
			s.settle(name, image("registry.k8s.io/pause:3.9"))
			s.settle(name, size(3))
			s.awaitPodGroups(name, podGroups(3), shares)
			s.settle(name, replicas(0))
			Eventually(s.podGroups).WithTimeout(patience).Should(HaveLen(podGroups(0)))
			s.settle(name, replicas(2))
			s.awaitPodGroups(name, podGroups(2), shares)
			s.awaitCondition(name, lwsv1.ConditionWorkloadSchedulingCreated, lwsv1.ReasonSchedulingObjectsCreated, "")

			Expect(s.env.Client.Delete(s.ctx, s.Set(name))).To(Succeed())
			Eventually(s.podGroups).WithTimeout(patience).Should(BeEmpty())
		},
		Entry("lws", gangOfSet(), 1, true),
		Entry("replica", gangOfGroups(), 1, false),
		Entry("role", gangOfWorkers(), 2, false),
	)

	DescribeTable("of groups with keys leaves nothing behind",
		func(level lwsv1.LeaderWorkerSetScheduling, perGroup int, shares bool) {
			s := begin()
			s.addNode(100, nil)
			name := s.create(s.newSet("keys").Hash().Replicas(2).Size(2).MaxSurge("1").Scheduling(level))
			podGroups := func(groups int) int {
				if shares {
					return 1
				}
				return groups * perGroup
			}
			s.awaitAvailable(name)
			before := s.uids(name)
			for _, pod := range s.Pods(name) {
				if pod.Labels[lwsv1.WorkerIndexLabelKey] == "1" {
					s.removePod(pod.Name)
					break
				}
			}
			s.await("a group is replaced", func() (string, bool) {
				same, pods := 0, s.uids(name)
				for pod, uid := range pods {
					if before[pod] == uid {
						same++
					}
				}
				return fmt.Sprintf("%d pods, %d as before", len(pods), same), len(pods) == 4 && same == 2
			})
			s.awaitAvailable(name)
			s.awaitPodGroups(name, podGroups(2), shares)
			s.settle(name, replicas(3))
			s.settle(name, image("registry.k8s.io/pause:3.9"))
			s.settle(name, size(3))
			s.awaitPodGroups(name, podGroups(3), shares)
			s.settle(name, replicas(0))
			Eventually(s.podGroups).WithTimeout(patience).Should(HaveLen(podGroups(0)))
			s.settle(name, replicas(2))
			s.awaitPodGroups(name, podGroups(2), shares)
		},
		Entry("lws", gangOfSet(), 1, true),
		Entry("replica", gangOfGroups(), 1, false),
		Entry("role", gangOfWorkers(), 2, false),
	)

	It("outlives its leader with None, and the next leader joins it", func() {
		s := begin()
		s.addNode(10, nil)
		name := s.create(s.newSet("none").Size(3).RestartPolicy(lwsv1.NoneRestartPolicy).Scheduling(gangOfGroups()))
		s.awaitAvailable(name)
		before := s.uids(name)
		s.removePod(name + "-0")
		s.awaitAnew(name, before, name+"-0")
		s.removePod(name + "-0-1")
		s.awaitAnew(name, before, name+"-0-1")
		Expect(s.uids(name)[name+"-0-2"]).To(Equal(before[name+"-0-2"]))
		s.awaitPodGroups(name, 1, true)
	})
})

// awaitMinimum waits for the minimum of the one gang of a set.
func (s *scenario) awaitMinimum(name string, minimum int32) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		podGroup := s.podGroups()[name]
		g.Expect(podGroup.Spec.SchedulingPolicy.Gang).NotTo(BeNil())
		g.Expect(podGroup.Spec.SchedulingPolicy.Gang.MinCount).To(Equal(minimum))
	}).WithTimeout(patience).Should(Succeed())
}
