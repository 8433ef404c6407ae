//go:build integration

package leaderworkerset_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

const (
	asExpected = "False AsExpected"
	noUpdate   = "False NoUpdate"
)

var (
	progressing = map[string]string{
		"Available": "False GroupsNotReady", "Progressing": "True GroupsProgressing",
		"UpdateInProgress": noUpdate, "Degraded": asExpected,
	}
	available = map[string]string{
		"Available": "True AllGroupsReady", "Progressing": "False AllGroupsReady",
		"UpdateInProgress": noUpdate, "Degraded": asExpected,
	}
)

var _ = Describe("Bringing a set up", func() {
	It("makes revision, Service and StatefulSet, and a first status with every condition", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().Replicas(2).Size(3).Label("team", "a").Obj())

		writes := w.reconcile()
		revision := w.revisions()[0]
		Expect(writes).To(Equal([]string{
			"create ControllerRevision " + revision.Name, "create Service x", "create StatefulSet x", "patch status LeaderWorkerSet x",
		}))
		Expect(w.requests.reads).To(BeEmpty())
		Expect(w.conditions()).To(Equal(progressing))
		Expect(w.toldReasons()).To(Equal([]string{"Normal CreatingRevision", "Normal GroupsProgressing"}))

		set, leaders := w.set(), w.leaders()
		key := revision.Labels[lwsv1.RevisionLabelKey]
		Expect(set.Status).To(And(
			HaveField("ObservedGeneration", set.Generation),
			HaveField("CurrentRevision", key),
			HaveField("UpdateRevision", key),
			HaveField("HPAPodSelector", "leaderworkerset.sigs.k8s.io/name=x,leaderworkerset.sigs.k8s.io/worker-index=0"),
			HaveField("Summary", lwsv1.ReasonGroupsProgressing),
			HaveField("Replicas", int32(0)),
		))
		for _, obj := range []client.Object{&revision, leaders, fetch(w, "x", &corev1.Service{})} {
			owner := metav1.GetControllerOf(obj)
			Expect(owner).NotTo(BeNil(), "%T", obj)
			Expect(owner.UID).To(Equal(set.UID), "%T", obj)
			Expect(owner.BlockOwnerDeletion).To(HaveValue(BeTrue()), "%T", obj)
		}
		Expect(leaders.Labels).To(HaveKeyWithValue("team", "a"))
		Expect(leaders.Spec.UpdateStrategy.RollingUpdate.Partition).To(HaveValue(BeEquivalentTo(0)))

		Expect(w.reconcile()).To(BeEmpty(), "nothing has changed")

		w.runStatefulSetController()
		w.makeReady(1)
		Expect(w.reconcile()).To(BeEmpty(), "only counters moved")
		w.clock.SetTime(w.clock.Now().Add(2 * time.Second))
		Expect(w.reconcile()).To(Equal([]string{"patch status LeaderWorkerSet x"}))
		Expect(w.set().Status).To(And(HaveField("Replicas", int32(2)), HaveField("ReadyReplicas", int32(1)), HaveField("UpdatedReplicas", int32(2))))

		w.makeReady(0)
		Expect(w.reconcile()).To(Equal([]string{"patch status LeaderWorkerSet x"}), "a condition is stored at once")
		Expect(w.conditions()).To(Equal(available))
		Expect(w.set().Status.Summary).To(Equal(lwsv1.ReasonAllGroupsReady))
		Expect(w.toldReasons()).To(Equal([]string{"Normal AllGroupsReady"}))

		w.runStatefulSetController()
		for range 3 {
			w.clock.SetTime(w.clock.Now().Add(time.Minute))
			Expect(w.reconcile()).To(BeEmpty(), "at rest")
		}
		w.restart()
		Expect(w.reconcile()).To(BeEmpty(), "at rest, by a manager that was just started")
		Expect(w.told()).To(BeEmpty())
	})

	It("is content with no groups", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().Replicas(0).Obj())
		w.reconcile()
		Expect(w.conditions()).To(Equal(available))
		Expect(w.leaders().Spec.Replicas).To(HaveValue(BeEquivalentTo(0)))
	})

	It("leaves names to groups that have their own Services", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().SubdomainPolicy(lwsv1.SubdomainUniquePerReplica).Obj())
		w.settle()
		Expect(live.Get(ctx, w.key(), &corev1.Service{})).To(MatchError(ContainSubstring("not found")))
	})

	It("keeps every field of the claims, and follows the retention policy", func(ctx SpecContext) {
		w := newWorld(ctx)
		set := w.build().VolumeClaim("data").ClaimRetention(appsv1.DeletePersistentVolumeClaimRetentionPolicyType, appsv1.RetainPersistentVolumeClaimRetentionPolicyType).Obj()
		claim := &set.Spec.LeaderWorkerTemplate.VolumeClaimTemplates[0]
		class, mode := "fast", corev1.PersistentVolumeBlock
		claim.Labels, claim.Annotations = map[string]string{"a": "1"}, map[string]string{"b": "2"}
		claim.Spec.StorageClassName, claim.Spec.VolumeMode = &class, &mode
		claim.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "x"}}
		w.create(set)
		w.settle()

		leaders := w.leaders()
		stored := leaders.Spec.VolumeClaimTemplates[0]
		Expect(stored.Labels).To(Equal(claim.Labels))
		Expect(stored.Annotations).To(Equal(claim.Annotations))
		Expect(stored.Spec).To(Equal(claim.Spec))
		Expect(leaders.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted).To(Equal(appsv1.DeletePersistentVolumeClaimRetentionPolicyType))

		w.change(func(s *lwsv1.LeaderWorkerSet) { s.Spec.LeaderWorkerTemplate.PersistentVolumeClaimRetentionPolicy = nil })
		w.settle()
		Expect(w.leaders().Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted).To(Equal(appsv1.RetainPersistentVolumeClaimRetentionPolicyType))
		Expect(w.revisions()).To(HaveLen(1), "the policy is live")
	})

	It("reports pods that cannot be placed, and stops when they can", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().Replicas(2).Obj())
		w.settle()
		w.runStatefulSetController()
		w.makeReady(0)
		w.settle()
		w.told()

		pod := w.pod(1)
		w.updateStatus(pod, func() {
			pod.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available",
			}}
		})
		Expect(w.reconcile()).To(Equal([]string{"patch status LeaderWorkerSet x"}))
		Expect(w.conditions()).To(HaveKeyWithValue("Progressing", "True GroupUnschedulable"))
		Expect(w.message(lwsv1.ConditionProgressing)).To(Equal("1 replica cannot be scheduled; pod x-1: 0/3 nodes are available"))
		Expect(w.set().Status.UnschedulableReplicas).To(BeEquivalentTo(1))
		Expect(w.told()).To(Equal([]string{"Warning GroupUnschedulable 1 replica cannot be scheduled; pod x-1: 0/3 nodes are available"}))

		w.makeReady(1)
		w.settle()
		Expect(w.conditions()).To(Equal(available))
		Expect(w.set().Status.UnschedulableReplicas).To(BeZero())
	})

	It("repeats what the StatefulSet controller cannot do", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().Replicas(2).Obj())
		w.settle()
		w.told()
		const text = `create Pod x-0 in StatefulSet x failed error: pods "x-0" is forbidden: exceeded quota`
		leaders := w.leaders()
		failure := func(reason, note string) *corev1.Event {
			return &corev1.Event{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "x."},
				InvolvedObject: corev1.ObjectReference{
					APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: w.namespace, Name: "x", UID: leaders.UID,
				},
				Reason: reason, Message: note, Type: corev1.EventTypeWarning,
				LastTimestamp: metav1.NewTime(time.Now().Add(time.Second)),
			}
		}
		w.create(failure("FailedCreate", text))
		Expect(w.reconcile()).To(Equal([]string{"patch status LeaderWorkerSet x"}))
		Expect(w.conditions()).To(HaveKeyWithValue("Progressing", "True FailedCreate"))
		Expect(w.message(lwsv1.ConditionProgressing)).To(Equal(text))
		Expect(w.told()).To(Equal([]string{"Warning FailedCreate " + text}))

		w.create(failure("FailedCreate", "create Pod x-1 failed"))
		w.settle()
		Expect(w.told()).To(BeEmpty(), "another pod of the same failure")

		w.runStatefulSetController()
		w.makeReady(0, 1)
		w.settle()
		Expect(w.conditions()).To(Equal(available))
	})
})

var _ = Describe("Refused writes", func() {
	// A pod template that the schema of sets accepts and the API server does not.
	badTemplate := func() corev1.PodTemplateSpec {
		template := lwstest.PodTemplate("worker")
		template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "no-such-volume", MountPath: "/data"}}
		return template
	}

	It("says once why a StatefulSet cannot be created, and goes on when it can", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().WorkerTemplate(badTemplate()).Obj())
		_, _, err := w.tryReconcile()
		Expect(err).To(MatchError(ContainSubstring("no-such-volume")))
		Expect(w.conditions()).To(HaveKeyWithValue("Progressing", "True FailedCreate"))
		Expect(w.message(lwsv1.ConditionProgressing)).To(And(HavePrefix("creating StatefulSet x was refused"), ContainSubstring("no-such-volume")))
		Expect(w.toldReasons()).To(Equal([]string{"Normal CreatingRevision", "Warning FailedCreate"}))
		for range 3 {
			writes, _, err := w.tryReconcile()
			Expect(err).To(HaveOccurred(), "retried with backoff")
			Expect(writes).To(Equal([]string{"create StatefulSet x"}))
		}
		Expect(w.told()).To(BeEmpty())
		w.restart()
		_, _, err = w.tryReconcile()
		Expect(err).To(HaveOccurred())
		Expect(w.told()).To(BeEmpty(), "told before the restart of the manager")

		w.change(func(s *lwsv1.LeaderWorkerSet) {
			s.Spec.LeaderWorkerTemplate.WorkerTemplate = lwstest.PodTemplate("worker")
		})
		w.reconcile()
		Expect(w.conditions()).To(Equal(progressing))
	})

	It("says why an update is refused, and keeps what runs", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().Obj())
		w.settle()
		w.runStatefulSetController()
		w.makeReady(0)
		w.settle()
		w.told()

		w.change(func(s *lwsv1.LeaderWorkerSet) { s.Spec.LeaderWorkerTemplate.WorkerTemplate = badTemplate() })
		_, _, err := w.tryReconcile()
		Expect(err).To(HaveOccurred())
		Expect(w.conditions()).To(Equal(map[string]string{
			"Available": "False GroupsNotReady", "Progressing": "True GroupsUpdating",
			"UpdateInProgress": "True GroupsUpdating", "Degraded": asExpected,
		}))
		Expect(w.message(lwsv1.ConditionProgressing)).To(ContainSubstring("no-such-volume"))
		Expect(w.toldReasons()).To(Equal([]string{"Normal CreatingRevision", "Warning FailedUpdate", "Normal GroupsUpdating"}))
		Expect(w.leaderPods()).To(HaveLen(1))
		_, _, err = w.tryReconcile()
		Expect(err).To(HaveOccurred())
		Expect(w.told()).To(BeEmpty())

		w.change(func(s *lwsv1.LeaderWorkerSet) {
			s.Spec.LeaderWorkerTemplate.WorkerTemplate = lwstest.PodTemplate("worker")
		})
		w.settle()
		Expect(w.conditions()).To(Equal(available))
		Expect(w.leaderPods()).To(HaveLen(1))
	})

	It("writes nothing into a namespace that goes, and does not insist", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().Obj())
		Expect(live.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})).To(Succeed())
		Eventually(func() bool {
			namespace := &corev1.Namespace{}
			Expect(live.Get(ctx, client.ObjectKey{Name: w.namespace}, namespace)).To(Succeed())
			return namespace.Status.Phase == corev1.NamespaceTerminating
		}).WithTimeout(10 * time.Second).Should(BeTrue())
		_, result, err := w.tryReconcile()
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(BeZero())
		Expect(w.revisions()).To(BeEmpty())
		Expect(w.told()).NotTo(ContainElement(ContainSubstring("Failed")))
	})
})
