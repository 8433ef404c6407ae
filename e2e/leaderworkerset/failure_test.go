package leaderworkerset

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/cluster/sim"
	"sigs.k8s.io/lws/e2e/harness"
)

var _ = Describe("A failure", func() {
	DescribeTable("recreates its group once, whole, and no other",
		func(told int, fail func(s *scenario)) {
			s := begin()
			s.create(newSet("fail").Replicas(2).Size(3))
			s.awaitAvailable("fail")
			s.awaitMemory("fail", 2)
			fail(s)
			s.awaitRecreated("fail", "fail-1", "fail-1-1", "fail-1-2")
			s.touchAndAwaitReaction("fail")
			s.awaitAvailable("fail")
			uids := s.History().UIDs("fail")
			for _, name := range []string{"fail-0", "fail-0-1", "fail-0-2"} {
				Expect(uids[name]).To(HaveLen(1), name)
			}
			Expect(uids["fail-1"]).To(HaveLen(2), "one recreation")
			Expect(s.History().Told("fail", lwsv1.ReasonRecreateGroup)).To(Equal(told))
		},
		Entry("of a worker that is deleted", 1, func(s *scenario) { s.removePod("fail-1-2") }),
		Entry("of a leader that is deleted", 0, func(s *scenario) { s.removePod("fail-1") }),
		Entry("of both at once", 0, func(s *scenario) {
			s.removePod("fail-1")
			s.removePod("fail-1-1")
		}),
		Entry("of a worker's container", 1, func(s *scenario) {
			Expect(sim.Restart(s.ctx, s.env.Kube, s.namespace, "fail-1-1", "worker")).To(Succeed())
		}),
		Entry("of the leader's container", 1, func(s *scenario) {
			Expect(sim.Restart(s.ctx, s.env.Kube, s.namespace, "fail-1", "worker")).To(Succeed())
		}),
		Entry("of a worker that is evicted", 1, func(s *scenario) {
			Expect(sim.Fail(s.ctx, s.env.Kube, s.namespace, "fail-1-1", "Evicted")).To(Succeed())
		}),
		Entry("of a worker that ends well", 1, func(s *scenario) {
			Expect(sim.Succeed(s.ctx, s.env.Kube, s.namespace, "fail-1-1")).To(Succeed())
		}),
		Entry("of a worker whose name is made again before anybody looks", 1, func(s *scenario) {
			s.remove(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "fail-1-1", Namespace: s.namespace}}, client.GracePeriodSeconds(0))
		}),
	)

	It("of several groups is told of each, with the pod that caused it", func() {
		s := begin()
		name := s.up(newSet("each").Replicas(3).Size(2))
		for _, pod := range []string{"each-0-1", "each-1-1", "each-2-1"} {
			Expect(sim.Restart(s.ctx, s.env.Kube, s.namespace, pod, "worker")).To(Succeed())
		}
		s.awaitRecreated(name, podNames(name, 3, 2)...)
		for _, pod := range []string{"each-0-1", "each-1-1", "each-2-1"} {
			Eventually(func() []harness.Event { return s.History().EventsOf(name) }).WithTimeout(patience).Should(ContainElement(And(
				HaveField("Reason", lwsv1.ReasonRecreateGroup), HaveField("Message", ContainSubstring(pod)), HaveField("Count", 1),
			)))
		}
	})

	It("touches nothing else with None", func() {
		s := begin()
		s.create(newSet("none").Replicas(2).Size(3).RestartPolicy(lwsv1.NoneRestartPolicy))
		s.awaitAvailable("none")
		s.removePod("none-1-1")
		s.awaitRecreated("none", "none-1-1")
		s.removePod("none-0")
		s.awaitRecreated("none", "none-0")
		s.awaitAvailable("none")
		s.touchAndAwaitReaction("none")
		uids := s.History().UIDs("none")
		for _, name := range []string{"none-0-1", "none-0-2", "none-1", "none-1-2"} {
			Expect(uids[name]).To(HaveLen(1), name)
		}
		Expect(uids["none-0"]).To(HaveLen(2))
	})
})

// removePod deletes a pod as kubectl does.
func (s *scenario) removePod(name string) {
	GinkgoHelper()
	s.remove(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace}},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
}

// awaitRecreated waits until all these pods are others than the first, and ready.
func (s *scenario) awaitRecreated(set string, names ...string) {
	GinkgoHelper()
	s.await("pods are made again", func() (string, bool) {
		uids, pods := s.History().UIDs(set), s.Pods(set)
		for _, name := range names {
			pod := pods[name]
			if len(uids[name]) < 2 || pod == nil || pod.DeletionTimestamp != nil || !isReady(pod) {
				return name + " is not", false
			}
		}
		return "", true
	})
	s.awaitAvailable(set)
}

var _ = Describe("A restart budget", func() {
	It("is counted, stops its group when it is spent, and starts it again when asked for", func() {
		s := begin()
		name := s.up(newSet("budget").Replicas(2).Size(2).MaxGroupRestarts(1))
		revision := s.Set(name).Status.UpdateRevision
		Expect(sim.Restart(s.ctx, s.env.Kube, s.namespace, "budget-1-1", "worker")).To(Succeed())
		s.awaitRecreated(name, "budget-1", "budget-1-1")
		s.awaitMemory(name, 2)
		s.awaitSet(name, "has counted", func(set *lwsv1.LeaderWorkerSet) bool { return set.Status.GroupRestarts == 1 })
		Expect(s.Set(name).Annotations).To(HaveKeyWithValue(lwsv1.GroupRestartCountsAnnotationKey, `{"`+revision+`/1":1}`))

		By("stopping it")
		Expect(sim.Restart(s.ctx, s.env.Kube, s.namespace, "budget-1-1", "worker")).To(Succeed())
		s.awaitSet(name, "is degraded", func(set *lwsv1.LeaderWorkerSet) bool { return isTrue(set, lwsv1.ConditionDegraded) })
		s.await("its pods end and stay", func() (string, bool) {
			pod := s.Pods(name)["budget-1"]
			if pod == nil {
				return "there is no leader", false
			}
			return string(pod.Status.Phase), pod.DeletionTimestamp != nil && (pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded) &&
				pod.Annotations[lwsv1.GroupRestartBudgetExhaustedAnnotationKey] == "true"
		})
		s.awaitSet(name, "is settled", func(set *lwsv1.LeaderWorkerSet) bool {
			return condition(set, lwsv1.ConditionAvailable).Reason == lwsv1.ReasonReplicaRestartBudgetExceeded && !isTrue(set, lwsv1.ConditionProgressing)
		})
		s.touchAndAwaitReaction(name)
		Expect(s.History().UIDs(name)["budget-1"]).To(HaveLen(2))

		By("starting it again")
		s.patch(&corev1.Pod{}, "budget-1", `{"metadata":{"annotations":{"`+lwsv1.RecoverAnnotationKey+`":"true"}}}`)
		s.awaitAvailable(name)
		s.awaitPods(name, podNames(name, 2, 2)...)
		s.awaitSet(name, "has a fresh budget", func(set *lwsv1.LeaderWorkerSet) bool {
			return set.Status.GroupRestarts == 0 && !isTrue(set, lwsv1.ConditionDegraded)
		})
		Eventually(func() []string { return s.History().Reasons(name) }).WithTimeout(patience).Should(ContainElements(
			lwsv1.ReasonRecreateGroup, lwsv1.ReasonReplicaRestartBudgetExceeded, lwsv1.ReasonGroupRecovered,
		))
		for _, pod := range []string{"budget-0", "budget-0-1"} {
			Expect(s.History().UIDs(name)[pod]).To(HaveLen(1), pod)
		}
	})
})
