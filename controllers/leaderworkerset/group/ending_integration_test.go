//go:build integration

package group

import (
	"slices"
	"time"

	"github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

func parallel(b *lwstest.Builder) { b.PodTerminationPolicy(lwsv1.ParallelPodTermination) }

func (w *world) isDeleting(name string) bool {
	ginkgo.GinkgoHelper()
	return w.pod(name).DeletionTimestamp != nil
}

// scale changes the replicas of the set.
func (w *world) scale(n int32) {
	ginkgo.GinkgoHelper()
	w.change(func(set *lwsv1.LeaderWorkerSet) { set.Spec.Replicas = &n })
	w.rollOut()
}

// stepWithHanging acts once while the leader does not terminate.
func (w *world) stepWithHanging(leader string) {
	ginkgo.GinkgoHelper()
	w.hanging[leader] = true
	for range 3 {
		w.work()
		w.act()
	}
	w.work()
}

var _ = ginkgo.Describe("termination", func() {
	ginkgo.It("is one after the other with Sequential", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2))
		w.deleteNow("x-0", metav1.DeletePropagationBackground)
		w.stepWithHanging("x-0")
		Expect(w.isDeleting("x-0-1")).To(BeFalse(), "workers wait for their leader")
		Expect(w.wrote()).To(BeEmpty())
		delete(w.hanging, "x-0")
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		w.expectNoErrors()
	})

	ginkgo.It("is all at once with Parallel, whoever deletes the leader", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2, parallel, replicas(3)))
		Expect(w.pod("x-0").Annotations).To(HaveKeyWithValue(lwsv1.PodTerminationPolicyAnnotationKey, "Parallel"))
		w.deleteNow("x-0", metav1.DeletePropagationBackground)
		w.stepWithHanging("x-0")
		w.expectGone("x-0-1")
		Expect(w.wrote()).To(Equal([]string{"delete StatefulSet x-0"}))

		ginkgo.By("also a scale-down")
		w.scale(2)
		w.stepWithHanging("x-2")
		w.expectGone("x-2-1")

		ginkgo.By("and the leader's annotation after the set is gone")
		w.remove(w.set(), metav1.DeletePropagationOrphan)
		w.collectGarbage()
		w.settle()
		w.wrote()
		Expect(w.fetch("x", &lwsv1.LeaderWorkerSet{})).To(BeFalse())
		w.deleteNow("x-1", metav1.DeletePropagationBackground)
		w.stepWithHanging("x-1")
		w.expectGone("x-1-1")
		Expect(ofGroup(w.wrote(), "x-1")).To(Equal([]string{"delete StatefulSet x-1"}))
		w.expectNoErrors()
	})

	ginkgo.It("of a recreation is all at once with both, without a write more", func(ctx ginkgo.SpecContext) {
		for _, policy := range []lwsv1.PodTerminationPolicyType{lwsv1.SequentialPodTermination, lwsv1.ParallelPodTermination} {
			w := running(ctx, ofSize(2, func(b *lwstest.Builder) { b.PodTerminationPolicy(policy) }))
			w.restartContainer("x-0-1", 1)
			w.stepWithHanging("x-0")
			w.expectGone("x-0-1")
			Expect(w.isDeleting("x-0")).To(BeTrue())
			Expect(w.wrote()).To(Equal([]string{"delete Pod x-0"}))
		}
	})

	ginkgo.It("changes its policy live, with one write for each leader", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2, replicas(2)))
		uids := w.uids()
		w.change(func(set *lwsv1.LeaderWorkerSet) { set.Spec.PodTerminationPolicy = lwsv1.ParallelPodTermination })
		w.settle()
		Expect(w.wrote()).To(ConsistOf("patch Pod x-0", "patch Pod x-1"))
		Expect(w.pod("x-0").Annotations).To(HaveKeyWithValue(lwsv1.PodTerminationPolicyAnnotationKey, "Parallel"))
		w.change(func(set *lwsv1.LeaderWorkerSet) { set.Spec.PodTerminationPolicy = lwsv1.SequentialPodTermination })
		w.settle()
		Expect(w.wrote()).To(ConsistOf("patch Pod x-0", "patch Pod x-1"))
		Expect(w.pod("x-0").Annotations).NotTo(HaveKey(lwsv1.PodTerminationPolicyAnnotationKey))
		Expect(w.uids()).To(Equal(uids))
		w.wake(0, 1)
		Expect(w.wrote()).To(BeEmpty())
	})

	ginkgo.It("of workers that are slow holds the next leader back", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2, parallel))
		w.hanging["x-0-1"] = true
		w.deleteNow("x-0", metav1.DeletePropagationBackground)
		w.settle()
		Expect(IsGated(w.pod("x-0"))).To(BeTrue())
		Expect(w.toldReasons()).To(BeEmpty(), "within the grace period that is as it should be")
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		w.wake(0)
		Expect(w.toldReasons()).To(Equal([]string{lwsv1.ReasonGroupReplacementDeferred}))
		delete(w.hanging, "x-0-1")
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		Expect(w.toldReasons()).To(Equal([]string{lwsv1.ReasonGroupReplacementAdmitted}))
		w.expectNoErrors()
	})

	ginkgo.It("by scaling to nothing and deletion of the set leaves nothing", func(ctx ginkgo.SpecContext) {
		for _, policy := range []lwsv1.RestartPolicyType{lwsv1.RecreateGroupOnPodRestart, lwsv1.NoneRestartPolicy} {
			w := running(ctx, ofSize(3, replicas(2), restartPolicy(policy)))
			w.scale(0)
			w.settle()
			Expect(w.pods()).To(BeEmpty(), w.describePods())
			Expect(w.statefulSets()).To(HaveLen(1))
			w.scale(1)
			w.settle()
			w.expectRunning("x-0", "x-0-1", "x-0-2")
			w.remove(w.set(), metav1.DeletePropagationBackground)
			w.settle()
			Expect(w.pods()).To(BeEmpty(), w.describePods())
			Expect(w.statefulSets()).To(BeEmpty())
			w.expectNoErrors()
		}
	})
})

// expectGone checks that a pod has terminated.
func (w *world) expectGone(name string) {
	ginkgo.GinkgoHelper()
	Expect(w.fetch(name, &corev1.Pod{})).To(BeFalse(), w.describePods())
}

func (w *world) ownerOfWorkers(name string) types.UID {
	ginkgo.GinkgoHelper()
	return metav1.GetControllerOf(w.workers(name)).UID
}

var _ = ginkgo.Describe("restart policy None", func() {
	none := restartPolicy(lwsv1.NoneRestartPolicy)

	ginkgo.It("leaves workers running when their leader is lost, and the next leader takes them over", func(ctx ginkgo.SpecContext) {
		for _, policy := range []metav1.DeletionPropagation{
			metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
		} {
			w := running(ctx, ofSize(3, none, parallel))
			Expect(w.ownerOfWorkers("x-0")).To(Equal(w.set().UID))
			Expect(w.pod("x-0").Annotations).NotTo(HaveKey(lwsv1.GroupMembersAnnotationKey))
			before := w.uids()
			w.deleteNow("x-0", policy)
			w.settle()
			after := w.expectRunning("x-0", "x-0-1", "x-0-2")
			Expect(after["x-0"]).NotTo(Equal(before["x-0"]))
			Expect(after["x-0-1"]).To(Equal(before["x-0-1"]))
			Expect(after["x-0-2"]).To(Equal(before["x-0-2"]))
			Expect(w.wrote()).To(Equal([]string{"patch Pod x-0"}), "the gate")
			w.expectNoErrors()
		}
	})

	ginkgo.It("replaces a lost worker alone", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(3, none))
		before := w.uids()
		w.deleteNow("x-0-1", metav1.DeletePropagationBackground)
		w.restartContainer("x-0-2", 4)
		w.settle()
		after := w.expectRunning("x-0", "x-0-1", "x-0-2")
		Expect(after["x-0"]).To(Equal(before["x-0"]))
		Expect(after["x-0-2"]).To(Equal(before["x-0-2"]))
		Expect(w.wrote()).To(BeEmpty())
	})

	ginkgo.It("ends workers whose group is scaled away or replaced", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2, none, replicas(2)))
		w.scale(1)
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		Expect(w.statefulSets()).To(HaveLen(2))

		before := w.uids()
		w.change(func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = "new"
		})
		w.rollOut()
		w.deleteNow("x-0", metav1.DeletePropagationBackground)
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		w.expectAllNew(before)
		Expect(w.pod("x-0-1").Spec.Containers[0].Image).To(Equal("new"))
		w.expectNoErrors()
	})

	ginkgo.It("ends them with their leader under Parallel, and after it under Sequential", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2, none, replicas(2)))
		w.scale(1)
		w.stepWithHanging("x-1")
		Expect(w.isDeleting("x-1-1")).To(BeFalse())
		w.change(func(set *lwsv1.LeaderWorkerSet) { set.Spec.PodTerminationPolicy = lwsv1.ParallelPodTermination })
		w.stepWithHanging("x-1")
		w.expectGone("x-1-1")
		delete(w.hanging, "x-1")
		w.settle()
		w.expectRunning("x-0", "x-0-1")
	})

	ginkgo.It("ends workers of a group that is scaled away while it has no leader", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2, none, replicas(2)))
		w.deleteNow("x-1", metav1.DeletePropagationBackground)
		w.endPods()
		w.work()
		w.scale(1)
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		Expect(w.statefulSets()).To(HaveLen(2))
	})

	ginkgo.It("comes and goes with one write, and what happened before is no failure after", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(3))
		uids := w.uids()
		w.change(func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.RestartPolicy = lwsv1.NoneRestartPolicy
		})
		w.settle()
		Expect(w.wrote()).To(Equal([]string{"patch StatefulSet x-0", "patch Pod x-0"}), "the owner, and the memory that goes")
		Expect(w.ownerOfWorkers("x-0")).To(Equal(w.set().UID))
		Expect(w.workers("x-0").OwnerReferences).To(HaveLen(1))

		w.restartContainer("x-0-1", 3)
		w.deleteNow("x-0-2", metav1.DeletePropagationBackground)
		w.settle()
		uids["x-0-2"] = w.pod("x-0-2").UID
		Expect(w.wrote()).To(BeEmpty())

		w.change(func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.RestartPolicy = lwsv1.RecreateGroupOnPodRestart
		})
		w.restart()
		w.settle()
		// The owner is changed with the version that was read: if the status moved in
		// between, the first attempt is refused.
		Expect(slices.Compact(w.wrote())).To(Equal([]string{"patch Pod x-0", "patch StatefulSet x-0"}), "the memory, and then the owner")
		Expect(w.ownerOfWorkers("x-0")).To(Equal(w.pod("x-0").UID))
		Expect(w.uids()).To(Equal(uids))
		w.restart()
		w.settle()
		Expect(w.wrote()).To(BeEmpty())
		Expect(w.uids()).To(Equal(uids))

		w.restartContainer("x-0-1", 4)
		w.settle()
		w.expectRunning("x-0", "x-0-1", "x-0-2")
		w.expectAllNew(uids)
		w.expectNoErrors()
	})
})

var _ = ginkgo.Describe("what is left of a predecessor", func() {
	ginkgo.It("without an owner is ended in the foreground before the next leader starts", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(3))
		before := w.uids()
		old := w.workers("x-0").UID
		w.deleteNow("x-0", metav1.DeletePropagationOrphan)
		w.settle()
		w.expectRunning("x-0", "x-0-1", "x-0-2")
		w.expectAllNew(before)
		Expect(w.workers("x-0").UID).NotTo(Equal(old))
		Expect(w.wrote()).To(Equal([]string{"delete StatefulSet x-0", "patch Pod x-0", "create StatefulSet x-0", "patch Pod x-0"}))
		w.expectNoErrors()
	})

	ginkgo.It("as a pod without an owner is ended too", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2))
		w.remove(w.workers("x-0"), metav1.DeletePropagationOrphan)
		w.collectGarbage()
		w.deleteNow("x-0", metav1.DeletePropagationBackground)
		before := w.uids()
		w.endPods()
		w.makePods()
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		w.expectAllNew(before)
		Expect(w.wrote()).To(ContainElement("delete Pod x-0-1"))
		w.expectNoErrors()
	})

	ginkgo.It("is none if the worker StatefulSet alone went: the next one adopts its pods", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(3))
		before := w.uids()
		w.remove(w.workers("x-0"), metav1.DeletePropagationOrphan)
		w.settle()
		Expect(w.uids()).To(Equal(before))
		Expect(w.wrote()).To(Equal([]string{"create StatefulSet x-0"}))
		w.expectNoErrors()
	})

	ginkgo.It("is none if somebody takes the owner off: it is the leader's again", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2))
		before := w.uids()
		s := w.workers("x-0")
		s.OwnerReferences = nil
		Expect(live.Update(ctx, s)).To(Succeed())
		w.settle()
		Expect(w.ownerOfWorkers("x-0")).To(Equal(w.pod("x-0").UID))
		Expect(w.uids()).To(Equal(before))
		Expect(w.wrote()).To(Equal([]string{"patch StatefulSet x-0"}))
	})

	ginkgo.It("is nothing while the leader StatefulSet is exchanged", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2))
		before := w.uids()
		leaders := &appsv1.StatefulSet{}
		Expect(w.fetch("x", leaders)).To(BeTrue())
		w.remove(leaders, metav1.DeletePropagationOrphan)
		w.collectGarbage()
		w.settle()
		Expect(w.uids()).To(Equal(before))
		Expect(w.wrote()).To(BeEmpty())
		w.rollOut()
		w.settle()
		Expect(w.uids()).To(Equal(before))
		Expect(w.wrote()).To(BeEmpty())
		w.failOnce()
		w.expectRunning("x-0", "x-0-1")
		w.expectAllNew(before)
		w.expectNoErrors()
	})

	ginkgo.It("of a set of the same name is not this one's", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2))
		w.hanging["x-0-1"] = true
		w.remove(w.set(), metav1.DeletePropagationBackground)
		w.settle()
		Expect(w.pods()).To(HaveLen(1), w.describePods())
		Expect(live.Create(ctx, lwstest.New("x").Namespace(w.namespace).Size(2).Obj())).To(Succeed())
		w.rollOut()
		w.settle()
		Expect(IsGated(w.pod("x-0"))).To(BeTrue())
		delete(w.hanging, "x-0-1")
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		w.expectNoErrors()
	})
})
