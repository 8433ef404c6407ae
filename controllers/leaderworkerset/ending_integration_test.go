//go:build integration

package leaderworkerset_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

var _ = Describe("The deletion of a set", func() {
	deleting := func(ctx SpecContext, policy lwsv1.PodTerminationPolicyType, propagation metav1.DeletionPropagation) *world {
		w := newWorld(ctx)
		running(w, w.build().Replicas(2).Size(2).PodTerminationPolicy(policy))
		Expect(api.Delete(ctx, w.set(), client.PropagationPolicy(propagation))).To(Succeed())
		return w
	}

	It("ends all workers at once with Parallel", func(ctx SpecContext) {
		w := deleting(ctx, lwsv1.ParallelPodTermination, metav1.DeletePropagationForeground)
		Expect(w.reconcile()).To(ConsistOf("delete StatefulSet x-0", "delete StatefulSet x-1"))
		Expect(fetch(w, "x-0", &appsv1.StatefulSet{}).Finalizers).To(ContainElement(metav1.FinalizerDeleteDependents))
		Expect(w.reconcile()).To(BeEmpty(), "they are going")
	})

	It("leaves the order to garbage collection with Sequential", func(ctx SpecContext) {
		w := deleting(ctx, lwsv1.SequentialPodTermination, metav1.DeletePropagationForeground)
		Expect(w.reconcile()).To(BeEmpty())
	})

	It("leaves everything when it orphans", func(ctx SpecContext) {
		w := deleting(ctx, lwsv1.ParallelPodTermination, metav1.DeletePropagationOrphan)
		Expect(w.reconcile()).To(BeEmpty())
	})

	It("makes nothing again", func(ctx SpecContext) {
		w := deleting(ctx, lwsv1.SequentialPodTermination, metav1.DeletePropagationForeground)
		Expect(api.Delete(ctx, w.leaders())).To(Succeed())
		writes, result, err := w.tryReconcile()
		Expect(err).NotTo(HaveOccurred())
		Expect(writes).To(BeEmpty())
		Expect(result.RequeueAfter).To(BeZero())
	})
})

var _ = Describe("Restart counts", func() {
	It("are stored once for all groups that ask, before anything else", func(ctx SpecContext) {
		w := newWorld(ctx)
		running(w, w.build().Replicas(3).MaxGroupRestarts(2))
		revision := w.set().Status.UpdateRevision
		ask := func(index int) {
			pod := w.pod(index)
			name, ok := identity.GroupOfPod(pod)
			Expect(ok).To(BeTrue())
			w.reports.Put(name, group.Report{Restart: &group.Restart{
				Entry: group.Entry{Revision: revision, Index: name.Index}, Leader: pod.UID,
			}})
		}
		ask(0)
		ask(2)
		writes := w.reconcile()
		Expect(writes).To(Equal([]string{"patch LeaderWorkerSet x", "patch status LeaderWorkerSet x"}))
		Expect(w.set().Annotations).To(HaveKeyWithValue(lwsv1.GroupRestartCountsAnnotationKey,
			`{"`+revision+`/0":1,"`+revision+`/2":1}`))
		Expect(w.set().Annotations[lwsv1.GroupRestartLeadersAnnotationKey]).To(ContainSubstring(string(w.pod(2).UID)))
		Expect(w.set().Status.GroupRestarts).To(BeEquivalentTo(2))
		Expect(w.reconcile()).To(BeEmpty(), "asked again for the same leaders")
		w.restart()
		Expect(w.reconcile()).To(BeEmpty(), "asked again after a restart of the manager")
		Expect(w.leaders().Annotations).NotTo(HaveKey(lwsv1.GroupRestartCountsAnnotationKey))

		By("a group that is scaled away")
		for _, index := range []int{0, 2} {
			name, _ := identity.GroupOfPod(w.pod(index))
			w.reports.Put(name, group.Report{})
		}
		replicas := int32(2)
		w.change(func(s *lwsv1.LeaderWorkerSet) { s.Spec.Replicas = &replicas })
		w.settle()
		w.runStatefulSetController()
		w.settle()
		Expect(w.set().Annotations).To(HaveKeyWithValue(lwsv1.GroupRestartCountsAnnotationKey, `{"`+revision+`/0":1}`))

		By("a recovery")
		name, _ := identity.GroupOfPod(w.pod(0))
		w.reports.Put(name, group.Report{Recovery: &group.Entry{Revision: revision, Index: "0"}})
		w.settle()
		Expect(w.set().Annotations).NotTo(HaveKey(lwsv1.GroupRestartCountsAnnotationKey))
		Expect(w.set().Annotations).NotTo(HaveKey(lwsv1.GroupRestartLeadersAnnotationKey))
	})

	It("that cannot be read are said and dropped", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().Annotation(lwsv1.GroupRestartCountsAnnotationKey, "many").Obj())
		Expect(w.reconcile()).To(ContainElement("patch LeaderWorkerSet x"))
		Expect(w.told()).To(ContainElement(HavePrefix("Warning FailedUpdate Counts as never recreated")))
		Expect(w.set().Annotations).NotTo(HaveKey(lwsv1.GroupRestartCountsAnnotationKey))
		Expect(w.reconcile()).To(BeEmpty())
	})
})

var _ = Describe("A group that is stopped", func() {
	It("degrades the set, and nothing else moves", func(ctx SpecContext) {
		w := newWorld(ctx)
		running(w, w.build().Replicas(2).MaxGroupRestarts(0))
		pod := w.pod(1)
		pod.Annotations[lwsv1.GroupRestartBudgetExhaustedAnnotationKey] = "true"
		pod.Finalizers = []string{lwsv1.GroupRestartBudgetCleanupFinalizer}
		Expect(api.Update(ctx, pod)).To(Succeed())
		Expect(api.Delete(ctx, pod)).To(Succeed())
		w.settle()
		const exceeded = "ReplicaRestartBudgetExceeded"
		Expect(w.conditions()).To(Equal(map[string]string{
			"Available": "False " + exceeded, "Progressing": "False " + exceeded,
			"UpdateInProgress": "False " + exceeded, "Degraded": "True " + exceeded,
		}))
		Expect(w.message(lwsv1.ConditionDegraded)).To(ContainSubstring("x-1"))
		Expect(w.set().Status.Summary).To(Equal(exceeded))

		pod = w.pod(1)
		pod.Finalizers = nil
		Expect(api.Update(ctx, pod)).To(Succeed())
		w.runStatefulSetController()
		w.makeReady(1)
		w.settle()
		Expect(w.conditions()).To(Equal(available))
	})
})

var _ = Describe("A placement annotation that changes behind the webhook's back", func() {
	It("stays as the pods have it, and is said once", func(ctx SpecContext) {
		w := newWorld(ctx)
		running(w, w.build().Annotation(lwsv1.ExclusiveTopologyAnnotationKey, "rack"))
		generation := w.leaders().Generation
		w.change(func(s *lwsv1.LeaderWorkerSet) { s.Annotations[lwsv1.ExclusiveTopologyAnnotationKey] = "zone" })
		w.settle()
		leaders := w.leaders()
		Expect(leaders.Generation).To(Equal(generation))
		Expect(leaders.Spec.Template.Annotations).To(HaveKeyWithValue(lwsv1.ExclusiveTopologyAnnotationKey, "rack"))
		Expect(w.set().Annotations).To(HaveKeyWithValue(lwsv1.ExclusiveTopologyAnnotationKey, "zone"), "the user's is left")
		Expect(w.told()).To(Equal([]string{"Warning FailedUpdate The annotation " + lwsv1.ExclusiveTopologyAnnotationKey +
			` cannot change on an existing set: "zone" is ignored, "rack" stays in force`}))
		w.settle()
		Expect(w.told()).To(BeEmpty())
	})
})
