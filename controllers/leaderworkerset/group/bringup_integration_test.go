//go:build integration

package group

import (
	"github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// ofSize builds a set of groups of a size.
func ofSize(size int32, more ...func(*lwstest.Builder)) func(*lwstest.Builder) {
	return func(b *lwstest.Builder) {
		b.Size(size)
		for _, m := range more {
			m(b)
		}
	}
}

// running is a world whose groups have come up.
func running(ctx ginkgo.SpecContext, build func(*lwstest.Builder)) *world {
	ginkgo.GinkgoHelper()
	w := newWorld(ctx, build)
	w.settle()
	w.expectNoErrors()
	w.wrote()
	w.told()
	return w
}

var _ = ginkgo.Describe("bringing a group up", func() {
	ginkgo.It("takes three writes, and none at rest", func(ctx ginkgo.SpecContext) {
		w := newWorld(ctx, ofSize(3))
		w.settle()
		w.expectRunning("x-0", "x-0-1", "x-0-2")
		Expect(w.wrote()).To(Equal([]string{"patch Pod x-0", "create StatefulSet x-0", "patch Pod x-0"}))
		Expect(w.told()).To(BeEmpty())
		w.wake(0)
		w.restart()
		w.settle()
		Expect(w.wrote()).To(BeEmpty())
		w.expectNoErrors()
	})

	ginkgo.It("takes two writes without workers", func(ctx ginkgo.SpecContext) {
		w := newWorld(ctx, ofSize(1))
		w.settle()
		w.expectRunning("x-0")
		Expect(w.wrote()).To(Equal([]string{"patch Pod x-0", "patch Pod x-0"}))
	})

	ginkgo.It("takes four writes with a Service of its own, which is there first", func(ctx ginkgo.SpecContext) {
		w := newWorld(ctx, ofSize(2, func(b *lwstest.Builder) { b.SubdomainPolicy(lwsv1.SubdomainUniquePerReplica) }))
		w.settle()
		Expect(w.wrote()).To(Equal([]string{"create Service x-0", "patch Pod x-0", "create StatefulSet x-0", "patch Pod x-0"}))
		Expect(w.pod("x-0").Spec.Subdomain).To(Equal("x-0"))
		Expect(w.workers("x-0").Spec.ServiceName).To(Equal("x-0"))
		service := &corev1.Service{}
		Expect(w.fetch("x-0", service)).To(BeTrue())
		Expect(service.Labels).To(Equal(map[string]string{lwsv1.SetNameLabelKey: "x"}))
		Expect(service.Spec.Selector).To(Equal(map[string]string{lwsv1.SetNameLabelKey: "x", lwsv1.GroupIndexLabelKey: "0"}))
		Expect(service.Spec.PublishNotReadyAddresses).To(BeTrue())
		Expect(service.Spec.ClusterIP).To(Equal(corev1.ClusterIPNone))
		Expect(metav1.GetControllerOf(service).UID).To(Equal(w.pod("x-0").UID))

		ginkgo.By("which comes back, as it was, when somebody deletes or changes it")
		service.Spec.PublishNotReadyAddresses = false
		Expect(live.Update(ctx, service)).To(Succeed())
		w.settle()
		Expect(w.fetch("x-0", service)).To(BeTrue())
		Expect(service.Spec.PublishNotReadyAddresses).To(BeTrue())
		Expect(live.Delete(ctx, service)).To(Succeed())
		w.settle()
		Expect(w.fetch("x-0", &corev1.Service{})).To(BeTrue())
		w.wrote()
		w.wake(0)
		Expect(w.wrote()).To(BeEmpty())
		w.expectNoErrors()
	})

	ginkgo.It("makes the worker StatefulSet that others rely on", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(4, func(b *lwstest.Builder) {
			b.Label("team", "a").Label("app.kubernetes.io/managed-by", "helm").
				Annotation("note", "b").Annotation("kubectl.kubernetes.io/last-applied-configuration", "{}").
				Annotation(lwsv1.GroupRestartCountsAnnotationKey, `{}`).
				SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker).VolumeClaim("data").
				ClaimRetention(appsv1.DeletePersistentVolumeClaimRetentionPolicyType, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
		}))
		s, leader := w.workers("x-0"), w.pod("x-0")
		revision := leader.Labels[lwsv1.RevisionLabelKey]
		selector := map[string]string{
			lwsv1.SetNameLabelKey: "x", lwsv1.GroupIndexLabelKey: "0",
			lwsv1.GroupKeyLabelKey: identity.GroupKey(w.namespace, "x-0"),
		}
		Expect(s.Spec.Selector.MatchLabels).To(Equal(selector))
		labels := map[string]string{lwsv1.RevisionLabelKey: revision}
		for key, value := range selector {
			labels[key] = value
		}
		Expect(s.Spec.Template.Labels).To(Equal(labels))
		labels["team"] = "a"
		Expect(s.Labels).To(Equal(labels))
		Expect(s.Annotations).To(Equal(map[string]string{"note": "b"}))
		Expect(s.Spec.Template.Annotations).To(Equal(map[string]string{
			lwsv1.SizeAnnotationKey: "4", lwsv1.LeaderPodNameAnnotationKey: "x-0",
			lwsv1.SubGroupSizeAnnotationKey: "2", lwsv1.SubGroupPolicyTypeAnnotationKey: "LeaderWorker",
		}))
		Expect(*s.Spec.Replicas).To(Equal(int32(3)))
		Expect(s.Spec.Ordinals.Start).To(Equal(int32(1)))
		Expect(s.Spec.ServiceName).To(Equal("x"))
		Expect(s.Spec.PodManagementPolicy).To(Equal(appsv1.ParallelPodManagement))
		Expect(s.Spec.VolumeClaimTemplates).To(HaveLen(1))
		Expect(s.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted).To(Equal(appsv1.DeletePersistentVolumeClaimRetentionPolicyType))
		owner := metav1.GetControllerOf(s)
		Expect([]any{owner.APIVersion, owner.Kind, owner.Name, owner.UID, *owner.BlockOwnerDeletion}).
			To(Equal([]any{"v1", "Pod", "x-0", leader.UID, true}))

		ginkgo.By("whose retention policy is live")
		w.change(func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.PersistentVolumeClaimRetentionPolicy = nil
		})
		w.settle()
		Expect(w.workers("x-0").Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted).
			To(Equal(appsv1.RetainPersistentVolumeClaimRetentionPolicyType))
		Expect(w.wrote()).To(Equal([]string{"apply StatefulSet x-0"}))
		w.wake(0)
		Expect(w.wrote()).To(BeEmpty())
		w.expectNoErrors()
	})

	ginkgo.It("waits for the leader's containers with LeaderReady", func(ctx ginkgo.SpecContext) {
		w := newWorld(ctx, ofSize(2, func(b *lwstest.Builder) { b.StartupPolicy(lwsv1.LeaderReadyStartupPolicy) }))
		w.pending["x-0"] = ""
		w.settle()
		Expect(w.wrote()).To(Equal([]string{"patch Pod x-0"}))
		delete(w.pending, "x-0")
		w.settle()
		w.expectRunning("x-0", "x-0-1")
	})

	ginkgo.It("lets workers follow their leader into its domain", func(ctx ginkgo.SpecContext) {
		const topology = "example.com/rack"
		w := newWorld(ctx, ofSize(2, func(b *lwstest.Builder) { b.Annotation(lwsv1.ExclusiveTopologyAnnotationKey, topology) }))
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.namespace, Labels: map[string]string{topology: "r7"}}}
		Expect(live.Create(ctx, node)).To(Succeed())
		ginkgo.DeferCleanup(func(ctx ginkgo.SpecContext) { Expect(live.Delete(ctx, node)).To(Succeed()) })
		w.pending["x-0"] = ""
		w.settle()
		Expect(w.wrote()).To(Equal([]string{"patch Pod x-0"}), "no workers before the leader has a node")
		w.place(w.pod("x-0"), node.Name)
		delete(w.pending, "x-0")
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		Expect(w.pod("x-0-1").Spec.NodeSelector).To(Equal(map[string]string{topology: "r7"}))
		w.expectNoErrors()
		w.wrote()
		w.restart()
		w.settle()
		Expect(w.wrote()).To(BeEmpty())
	})

	ginkgo.It("reports a node without the label of the topology, and tries again", func(ctx ginkgo.SpecContext) {
		w := newWorld(ctx, ofSize(2, func(b *lwstest.Builder) { b.Annotation(lwsv1.ExclusiveTopologyAnnotationKey, "example.com/rack") }))
		w.settle()
		Expect(w.errs).NotTo(BeEmpty(), "so that it is tried again")
		Expect(w.problem(0).Message).To(ContainSubstring("does not have the label example.com/rack"))
		Expect(w.toldReasons()).To(Equal([]string{lwsv1.ReasonFailedCreate}))
		w.wake(0)
		Expect(w.told()).To(BeEmpty(), "told once")
	})

	ginkgo.It("brings what somebody changed by hand back", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(3, func(b *lwstest.Builder) { b.RestartPolicy(lwsv1.NoneRestartPolicy) }))
		s := w.workers("x-0")
		s.Spec.Template.Spec.Containers[0].Image = "other"
		replicas := int32(5)
		s.Spec.Replicas = &replicas
		Expect(live.Update(ctx, s)).To(Succeed())
		w.settle()
		s = w.workers("x-0")
		Expect(s.Spec.Template.Spec.Containers[0].Image).To(Equal(lwstest.Image))
		Expect(*s.Spec.Replicas).To(Equal(int32(2)))
		Expect(w.wrote()).To(ConsistOf("apply StatefulSet x-0"))

		ginkgo.By("also what took it out of the cache")
		delete(s.Labels, lwsv1.SetNameLabelKey)
		Expect(live.Update(ctx, s)).To(Succeed())
		w.settle()
		Expect(w.workers("x-0").Labels).To(HaveKeyWithValue(lwsv1.SetNameLabelKey, "x"))
		w.wrote()
		w.wake(0)
		Expect(w.wrote()).To(BeEmpty())
	})

	ginkgo.It("says that a name is taken, looks again, and gets on when it is free", func(ctx ginkgo.SpecContext) {
		w := newWorld(ctx, ofSize(2))
		labels := map[string]string{"app": "mine"}
		none := int32(0)
		foreign := &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "x-0"},
			Spec: appsv1.StatefulSetSpec{
				Replicas: &none, Selector: &metav1.LabelSelector{MatchLabels: labels}, ServiceName: "mine",
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: lwstest.PodTemplate("c").Spec},
			},
		}
		Expect(live.Create(ctx, foreign)).To(Succeed())
		w.settle()
		Expect(w.problem(0)).To(Equal(&Problem{lwsv1.ReasonNameConflict, "StatefulSet x-0 exists and is not the set's; delete or rename it, or the set"}))
		Expect(w.toldReasons()).To(Equal([]string{lwsv1.ReasonNameConflict}))
		Expect(w.after[w.group(0)]).To(BeNumerically(">", 0))
		w.wrote()
		w.wake(0)
		Expect(w.wrote()).To(BeEmpty(), "nothing is tried before its time")

		Expect(live.Delete(ctx, foreign)).To(Succeed())
		w.clock.SetTime(w.clock.Now().Add(w.after[w.group(0)]))
		w.wake(0)
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		Expect(w.problem(0)).To(BeNil())
		w.expectNoErrors()
	})

	ginkgo.It("takes the leaders of a set x-0 for no workers of x", func(ctx ginkgo.SpecContext) {
		w := newWorld(ctx, ofSize(2))
		other := lwstest.New("x-0").Namespace(w.namespace).Replicas(0).Obj()
		other.UID, other.Generation = "", 0
		Expect(live.Create(ctx, other)).To(Succeed())
		labels := map[string]string{lwsv1.SetNameLabelKey: "x-0"}
		none := int32(0)
		foreign := &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: w.namespace, Name: "x-0", Labels: labels,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(other, lwsv1.GroupVersion.WithKind(lwsv1.Kind))},
			},
			Spec: appsv1.StatefulSetSpec{
				Replicas: &none, Selector: &metav1.LabelSelector{MatchLabels: labels}, ServiceName: "x-0",
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: lwstest.PodTemplate("c").Spec},
			},
		}
		Expect(live.Create(ctx, foreign)).To(Succeed())
		w.settle()
		Expect(w.problem(0)).To(Equal(&Problem{
			lwsv1.ReasonNameConflict, "StatefulSet x-0 exists and belongs to LeaderWorkerSet x-0; delete or rename it, or the set",
		}))
		Expect(live.Delete(ctx, foreign)).To(Succeed())
		w.clock.SetTime(w.clock.Now().Add(w.after[w.group(0)]))
		w.wake(0)
		w.settle()
		w.expectRunning("x-0", "x-0-1")
	})

	ginkgo.It("takes no pod for its own that only has our labels", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2))
		forged := w.pod("x-0-1").DeepCopy()
		forged.ObjectMeta = metav1.ObjectMeta{Namespace: w.namespace, Name: "forged", Labels: forged.Labels}
		forged.Spec = lwstest.PodTemplate("c").Spec
		Expect(live.Create(ctx, forged)).To(Succeed())
		w.settle()
		w.deleteNow("forged", metav1.DeletePropagationBackground)
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		Expect(w.wrote()).To(BeEmpty())
		w.expectNoErrors()
	})

	ginkgo.It("makes nothing in a namespace that terminates", func(ctx ginkgo.SpecContext) {
		w := newWorld(ctx, ofSize(2))
		w.makePods()
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
		Expect(live.Delete(ctx, namespace)).To(Succeed())
		w.work()
		err := live.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "x"}})
		Expect(apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)).To(BeTrue(), "the namespace does not terminate: %v", err)
		w.expectNoErrors()
		Expect(w.told()).To(BeEmpty())
		Expect(w.reports.ForSet(w.key())).To(BeEmpty())
	})

	ginkgo.It("holds a leader whose revision is not wanted, and admits its successor", func(ctx ginkgo.SpecContext) {
		w := newWorld(ctx, ofSize(2))
		w.makePods()
		w.change(func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = "new"
		})
		w.rollOut()
		w.settle()
		Expect(w.pod("x-0").Spec.SchedulingGates).NotTo(BeEmpty())
		Expect(w.wrote()).To(BeEmpty())
		w.deleteNow("x-0", metav1.DeletePropagationBackground)
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		Expect(w.pod("x-0-1").Spec.Containers[0].Image).To(Equal("new"))

		ginkgo.By("and is of its leader's revision whatever the spec is by now")
		w.change(func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = "newer"
			size := int32(5)
			set.Spec.LeaderWorkerTemplate.Size = &size
		})
		w.remove(w.workers("x-0"), metav1.DeletePropagationBackground)
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		Expect(w.pod("x-0-1").Spec.Containers[0].Image).To(Equal("new"))
		w.expectNoErrors()
	})
})
