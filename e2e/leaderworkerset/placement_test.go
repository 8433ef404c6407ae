package leaderworkerset

import (
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/cluster/sim"
)

// The nodes of the shared environment: ten hosts in five racks.
const racks = 5

// domains are those of a topology that the pods with each value of a label are in.
func (s *scenario) domains(set, label, topology string) map[string][]string {
	GinkgoHelper()
	nodes := &corev1.NodeList{}
	Expect(s.env.Client.List(s.ctx, nodes)).To(Succeed())
	domainOf := map[string]string{}
	for _, node := range nodes.Items {
		domainOf[node.Name] = node.Labels[topology]
	}
	found := map[string][]string{}
	for _, pod := range s.Pods(set) {
		value := pod.Labels[label]
		if value == "" || pod.Spec.NodeName == "" {
			continue
		}
		domain := domainOf[pod.Spec.NodeName]
		Expect(domain).NotTo(BeEmpty(), "%s is on %s", pod.Name, pod.Spec.NodeName)
		if !slices.Contains(found[value], domain) {
			found[value] = append(found[value], domain)
		}
	}
	return found
}

// expectExclusive checks that the pods with one value of a label share one domain,
// and those with another have another.
func (s *scenario) expectExclusive(set, label, topology string, values int) {
	GinkgoHelper()
	found := s.domains(set, label, topology)
	Expect(found).To(HaveLen(values))
	taken := map[string]string{}
	for _, value := range slices.Sorted(maps.Keys(found)) {
		Expect(found[value]).To(HaveLen(1), "%s %s is in one domain", label, value)
		Expect(taken).NotTo(HaveKey(found[value][0]), "%s %s has a domain of its own", label, value)
		taken[found[value][0]] = value
	}
}

var _ = Describe("Exclusive placement", func() {
	DescribeTable("gives each group a domain, and leaves one without when one is missing",
		func(set *lwstest.Builder) {
			s := begin()
			name := s.create(set.Replicas(racks + 1).Size(3)).Name
			s.awaitSet(name, "has all groups but one", func(set *lwsv1.LeaderWorkerSet) bool {
				return set.Status.ReadyReplicas == racks && set.Status.UnschedulableReplicas == 1
			})
			s.touchAndAwaitReaction(name)
			pending := 0
			for _, pod := range s.Pods(name) {
				if pod.Spec.NodeName == "" {
					pending++
					Expect(pod.Labels[lwsv1.WorkerIndexLabelKey]).To(Equal("0"), "a group without a domain has no workers")
				}
			}
			Expect(pending).To(Equal(1))
			s.expectExclusive(name, lwsv1.GroupKeyLabelKey, sim.RackLabel, racks)
			unsettled := s.Set(name)
			Expect(condition(unsettled, lwsv1.ConditionProgressing).Reason).To(Equal(lwsv1.ReasonGroupUnschedulable))
			Expect(isTrue(unsettled, lwsv1.ConditionAvailable)).To(BeFalse())

			By("being available with as many groups as domains")
			s.settle(name, replicas(racks))
			s.awaitPods(name, podNames(name, racks, 3)...)
			s.expectExclusive(name, lwsv1.GroupKeyLabelKey, sim.RackLabel, racks)
		},
		Entry("by annotation", newSet("alone").Annotation(lwsv1.ExclusiveTopologyAnnotationKey, sim.RackLabel)),
		Entry("by field", newSet("alone").GroupTopology(sim.RackLabel)),
		Entry("with workers after their leader", newSet("alone").GroupTopology(sim.RackLabel).StartupPolicy(lwsv1.LeaderReadyStartupPolicy)),
	)

	DescribeTable("gives each subgroup a domain",
		func(set *lwstest.Builder, subgroups int) {
			s := begin()
			name := s.create(set).Name
			s.awaitAvailable(name)
			s.expectExclusive(name, lwsv1.SubGroupKeyLabelKey, corev1.LabelHostname, subgroups)
		},
		Entry("by annotation", newSet("sub").Replicas(2).Size(4).SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker).
			Annotation(lwsv1.SubGroupExclusiveTopologyAnnotationKey, corev1.LabelHostname), 4),
		Entry("by field", newSet("sub").Replicas(2).Size(4).SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker).SubGroupTopology(corev1.LabelHostname), 4),
		Entry("of one pod", newSet("sub").Replicas(2).Size(3).SubGroups(1, lwsv1.SubGroupPolicyTypeLeaderWorker).SubGroupTopology(corev1.LabelHostname), 6),
		Entry("of workers only", newSet("sub").Replicas(2).Size(5).SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderExcluded).SubGroupTopology(corev1.LabelHostname), 4),
	)

	It("of groups and subgroups holds at both levels", func() {
		s := begin()
		name := s.create(newSet("both").Replicas(2).Size(4).SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker).
			GroupTopology(sim.BlockLabel).SubGroupTopology(corev1.LabelHostname)).Name
		s.awaitAvailable(name)
		s.expectExclusive(name, lwsv1.GroupKeyLabelKey, sim.BlockLabel, 2)
		s.expectExclusive(name, lwsv1.SubGroupKeyLabelKey, corev1.LabelHostname, 4)
	})

	It("adds to the user's own affinity on the same key", func() {
		s := begin()
		labels := map[string]string{"app": "noisy"}
		noisy := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "noisy", Namespace: s.namespace, Labels: labels}, Spec: template("noisy").Spec}
		Expect(s.env.Client.Create(s.ctx, noisy)).To(Succeed())
		Eventually(func() string {
			s.get("noisy", noisy)
			return noisy.Spec.NodeName
		}).WithTimeout(patience).ShouldNot(BeEmpty())

		pods := template("worker")
		pods.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: sim.RackLabel, LabelSelector: &metav1.LabelSelector{MatchLabels: labels},
			}},
		}}
		name := s.create(newSet("picky").Replicas(racks).Size(2).WorkerTemplate(pods).GroupTopology(sim.RackLabel)).Name
		s.awaitSet(name, "has all groups but one", func(set *lwsv1.LeaderWorkerSet) bool {
			return set.Status.ReadyReplicas == racks-1 && set.Status.UnschedulableReplicas == 1
		})
		s.expectExclusive(name, lwsv1.GroupKeyLabelKey, sim.RackLabel, racks-1)
		node := &corev1.Node{}
		Expect(s.env.Client.Get(s.ctx, client.ObjectKey{Name: noisy.Spec.NodeName}, node)).To(Succeed())
		for _, taken := range s.domains(name, lwsv1.GroupKeyLabelKey, sim.RackLabel) {
			Expect(taken).NotTo(ContainElement(node.Labels[sim.RackLabel]))
		}
	})

	It("holds through a rollout", func() {
		s := begin()
		name := s.up(newSet("moved").Replicas(racks).Size(2).GroupTopology(sim.RackLabel).MaxUnavailable("2").MaxSurge("0"))
		mark := s.History().Mark()
		s.settle(name, image(better))
		s.expectBudget(name, racks, 2, 0, mark)
		s.expectExclusive(name, lwsv1.GroupKeyLabelKey, sim.RackLabel, racks)
	})
})
