package leaderworkerset

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/cluster/sim"
	"sigs.k8s.io/lws/e2e/harness"
)

var _ = Describe("The status", func() {
	It("has every condition from the first second on", func() {
		s := begin()
		pods := template("worker")
		pods.Annotations = map[string]string{sim.HangAnnotation: sim.HangImage}
		created := s.create(newSet("young").Replicas(2).Size(2).WorkerTemplate(pods))
		s.awaitSet("young", "has a status", func(set *lwsv1.LeaderWorkerSet) bool { return isCurrent(set) })
		var first harness.SetState
		for _, state := range s.History().OfSet("young") {
			if state.Status.ObservedGeneration > 0 {
				first = state
				break
			}
		}
		types := map[string]metav1.ConditionStatus{}
		for _, c := range first.Status.Conditions {
			types[c.Type] = c.Status
			Expect(c.LastTransitionTime.Sub(created.CreationTimestamp.Time)).To(BeNumerically("<=", 2*time.Second), c.Type)
		}
		Expect(types).To(Equal(map[string]metav1.ConditionStatus{
			lwsv1.ConditionAvailable: metav1.ConditionFalse, lwsv1.ConditionProgressing: metav1.ConditionTrue,
			lwsv1.ConditionUpdateInProgress: metav1.ConditionFalse, lwsv1.ConditionDegraded: metav1.ConditionFalse,
		}))
	})

	It("says what the scheduler says when the leader fits and workers do not", func() {
		s := begin()
		pods := template("worker")
		pods.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"example.com/quantum": resource.MustParse("1")}
		pods.Spec.Tolerations = []corev1.Toleration{{Key: "example.com/quantum", Operator: corev1.TolerationOpExists}}
		s.create(newSet("cramped").Replicas(2).Size(2).LeaderTemplate(template("leader")).WorkerTemplate(pods))
		s.awaitSet("cramped", "has unschedulable groups", func(set *lwsv1.LeaderWorkerSet) bool {
			c := condition(set, lwsv1.ConditionProgressing)
			return c.Reason == lwsv1.ReasonGroupUnschedulable && set.Status.UnschedulableReplicas == 2
		})
		set := s.Set("cramped")
		Expect(condition(set, lwsv1.ConditionProgressing).Message).To(And(ContainSubstring("Insufficient example.com/quantum"), ContainSubstring("cramped-")))
		Expect(set.Status.Summary).To(Equal(lwsv1.ReasonGroupUnschedulable))
		Expect(set.Status.ReadyReplicas).To(BeZero())
		Expect(isTrue(set, lwsv1.ConditionAvailable)).To(BeFalse())
		for _, leader := range []string{"cramped-0", "cramped-1"} {
			s.await(leader+" is ready", func() (string, bool) { return "not", isReady(s.Pods("cramped")[leader]) })
		}
		s.touchAndAwaitReaction("cramped")
		Expect(s.Set("cramped").Status.ReadyReplicas).To(BeZero())
		Expect(s.History().Course("cramped", lwsv1.ConditionAvailable, harness.Mark{})).To(Equal([]string{"False GroupsNotReady"}))
		Expect(s.History().Told("cramped", lwsv1.ReasonGroupUnschedulable)).To(Equal(1))

		By("recovering when there is room")
		node := sim.Node{
			Name: "quantum-" + s.namespace, Capacity: corev1.ResourceList{"example.com/quantum": resource.MustParse("2")},
			Taints: []corev1.Taint{{Key: "example.com/quantum", Effect: corev1.TaintEffectNoSchedule}},
		}
		Expect(sim.AddNode(s.ctx, s.env.Kube, node)).To(Succeed())
		DeferCleanup(func() { Expect(sim.RemoveNode(s.ctx, s.env.Kube, node.Name)).To(Succeed()) })
		s.awaitAvailable("cramped")
		s.awaitSet("cramped", "has no unschedulable groups", func(set *lwsv1.LeaderWorkerSet) bool { return set.Status.UnschedulableReplicas == 0 })
	})

	It("does not count a group as ready whose worker only runs", func() {
		s := begin()
		s.create(newSet("half").Replicas(2).Size(3))
		s.awaitAvailable("half")
		s.awaitMemory("half", 2)
		Expect(sim.Hang(s.ctx, s.env.Kube, s.namespace, "half-1-2")).To(Succeed())
		s.awaitSet("half", "has one ready group", func(set *lwsv1.LeaderWorkerSet) bool {
			return set.Status.ReadyReplicas == 1 && !isTrue(set, lwsv1.ConditionAvailable)
		})
		Expect(sim.Recover(s.ctx, s.env.Kube, s.namespace, "half-1-2")).To(Succeed())
		s.awaitAvailable("half")
		Expect(s.History().Course("half", lwsv1.ConditionAvailable, harness.Mark{})).To(Equal([]string{
			"False GroupsNotReady", "True AllGroupsReady", "False GroupsNotReady", "True AllGroupsReady",
		}))
		s.expectUndisturbed("half")
	})

	It("of a worker that never becomes ready is never Available", func() {
		s := begin()
		pods := template("worker")
		pods.Annotations = map[string]string{sim.HangAnnotation: sim.HangUnready}
		s.create(newSet("never").Replicas(1).Size(2).LeaderTemplate(template("leader")).WorkerTemplate(pods))
		s.await("the worker runs", func() (string, bool) {
			worker := s.Pods("never")["never-0-1"]
			return "not", worker != nil && worker.Status.Phase == corev1.PodRunning
		})
		s.awaitMemory("never", 1)
		s.touchAndAwaitReaction("never")
		Expect(s.Set("never").Status.ReadyReplicas).To(BeZero())
		Expect(s.History().Course("never", lwsv1.ConditionAvailable, harness.Mark{})).To(Equal([]string{"False GroupsNotReady"}))
	})

	It("of many groups that come up is told in a handful of events and writes", func() {
		s := begin()
		s.create(newSet("many").Replicas(200).Size(1))
		s.awaitAvailable("many")
		Eventually(func() []string { return s.History().Reasons("many") }).WithTimeout(patience).Should(
			Equal([]string{lwsv1.ReasonCreatingRevision, lwsv1.ReasonGroupsProgressing, lwsv1.ReasonAllGroupsReady}))
		_, ofSet := s.writes("many")
		Expect(len(ofSet)).To(BeNumerically("<=", 30), "%v", ofSet)
	})

	It("repeats what the API server refuses, until it does not", func() {
		s := begin()
		quota := &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: "tight", Namespace: s.namespace},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
		}
		Expect(s.env.Client.Create(s.ctx, quota)).To(Succeed())
		Eventually(func() corev1.ResourceList {
			s.get("tight", quota)
			return quota.Status.Hard
		}).WithTimeout(patience).ShouldNot(BeEmpty())
		s.create(newSet("refused").Replicas(1).Size(2))
		s.awaitSet("refused", "tells", func(set *lwsv1.LeaderWorkerSet) bool {
			return condition(set, lwsv1.ConditionProgressing).Reason == lwsv1.ReasonFailedCreate
		})
		Expect(condition(s.Set("refused"), lwsv1.ConditionProgressing).Message).To(ContainSubstring("exceeded quota"))
		Eventually(func() int { return s.History().Told("refused", lwsv1.ReasonFailedCreate) }).
			WithTimeout(patience).Should(BeNumerically(">=", 1))
		s.remove(quota)
		s.env.Nudge(s.ctx, s.namespace) // by now it may wait for many minutes before it tries again
		s.awaitAvailable("refused")
	})
})
