//go:build integration

package leaderworkerset_test

import (
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

var _ = Describe("The objects of a set", func() {
	It("are kept as desired", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().Replicas(2).Label("team", "a").Annotation("note", "b").Obj())
		w.settle()

		By("making again what was deleted")
		Expect(api.Delete(ctx, fetch(w, "x", &corev1.Service{}))).To(Succeed())
		key := w.set().Status.UpdateRevision
		revision := w.revisions()[0]
		Expect(api.Delete(ctx, &revision)).To(Succeed())
		Expect(w.reconcile()).To(Equal([]string{"create ControllerRevision " + revision.Name, "create Service x"}))
		Expect(w.revisions()[0].Labels).To(HaveKeyWithValue(lwsv1.RevisionLabelKey, key))
		Expect(w.toldReasons()).To(Equal([]string{"Normal CreatingRevision", "Normal GroupsProgressing"}), "from before: it is no new revision")

		By("undoing what was edited")
		leaders := w.leaders()
		replicas := int32(7)
		leaders.Spec.Replicas = &replicas
		leaders.Spec.Template.Spec.Containers[0].Image = "edited"
		leaders.Labels["team"] = "b"
		leaders.Labels["theirs"] = "kept"
		Expect(api.Update(ctx, leaders, client.FieldOwner("somebody"))).To(Succeed())
		Expect(w.reconcile()).To(Equal([]string{"patch StatefulSet x", "apply StatefulSet x"}),
			"once in its life an object changes from created to applied")
		leaders = w.leaders()
		Expect(leaders.Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))
		Expect(leaders.Spec.Template.Spec.Containers[0].Image).To(Equal(lwstest.Image))
		Expect(leaders.Labels).To(And(HaveKeyWithValue("team", "a"), HaveKeyWithValue("theirs", "kept")))
		generation := leaders.Generation
		Expect(w.reconcile()).To(BeEmpty())

		By("following the set's labels and annotations, also when they go")
		w.change(func(s *lwsv1.LeaderWorkerSet) {
			s.Labels = map[string]string{"team": "c"}
			s.Annotations = nil
		})
		Expect(w.reconcile()).To(ConsistOf("patch Service x", "apply Service x", "apply StatefulSet x"))
		leaders, service := w.leaders(), fetch(w, "x", &corev1.Service{})
		Expect(leaders.Labels).To(HaveKeyWithValue("team", "c"))
		Expect(leaders.Annotations).NotTo(HaveKey("note"))
		Expect(service.Labels).To(HaveKeyWithValue("team", "c"))
		Expect(service.Annotations).NotTo(HaveKey("note"))
		Expect(leaders.Generation).To(Equal(generation), "metadata only")
		Expect(w.reconcile()).To(BeEmpty())

		w.change(func(s *lwsv1.LeaderWorkerSet) { s.Labels = nil })
		w.settle()
		Expect(w.leaders().Labels).NotTo(HaveKey("team"))
		Expect(fetch(w, "x", &corev1.Service{}).Labels).NotTo(HaveKey("team"))
	})

	It("come back when somebody deletes the StatefulSet, once it is gone", func(ctx SpecContext) {
		w := newWorld(ctx)
		running(w, w.build().Replicas(1))
		before := w.leaders()
		Expect(api.Delete(ctx, before, client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
		Expect(w.reconcile()).To(BeEmpty())
		Expect(w.set().Status.Replicas).To(BeEquivalentTo(1), "its group is still there")

		pod := w.pod(0)
		w.deletePod(pod)
		before = w.leaders()
		before.Finalizers = nil
		Expect(api.Update(ctx, before)).To(Succeed())
		w.settle()
		Expect(w.leaders().UID).NotTo(Equal(before.UID))
		w.runStatefulSetController()
		w.makeReady(0)
		w.settle()
		Expect(w.conditions()).To(Equal(available))
	})

	It("are not taken from others who add to them", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().Obj())
		w.settle()
		leaders := w.leaders()
		leaders.Spec.Template.Spec.Containers = append(leaders.Spec.Template.Spec.Containers,
			corev1.Container{Name: "sidecar", Image: "sidecar"})
		Expect(api.Update(ctx, leaders, client.FieldOwner("somebody"))).To(Succeed())
		Expect(w.reconcile()).To(BeEmpty())
	})

	It("are not fought over with an admission webhook that insists", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.insist()
		w.create(w.build().Replicas(1).Label("team", "ours").Obj())
		Eventually(func() string {
			// The configuration takes a moment to come into force.
			w.settle()
			probe := fetch(w, "x", &appsv1.StatefulSet{})
			Expect(api.Update(ctx, probe)).To(Succeed())
			return w.leaders().Labels["team"]
		}).WithTimeout(20 * time.Second).Should(Equal("theirs"))
		w.settle()
		version := w.leaders().ResourceVersion
		for range 3 {
			Expect(w.reconcile()).To(BeEmpty())
		}

		By("still making other changes")
		replicas := int32(2)
		w.change(func(s *lwsv1.LeaderWorkerSet) { s.Spec.Replicas = &replicas })
		Expect(w.reconcile()).To(ContainElement("apply StatefulSet x"))
		Expect(w.leaders().ResourceVersion).NotTo(Equal(version))
		Expect(w.leaders().Spec.Replicas).To(HaveValue(Equal(replicas)))
		w.settle()
	})

	It("of an earlier release are taken on as they are", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().Label("team", "a").Obj())
		set := w.set()
		service := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{
				Name: "x", Labels: map[string]string{lwsv1.SetNameLabelKey: "x", "team": "a"},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, lwsv1.GroupVersion.WithKind(lwsv1.Kind))},
			},
			Spec: corev1.ServiceSpec{
				ClusterIP: corev1.ClusterIPNone, PublishNotReadyAddresses: true, Selector: identity.SetLabels("x"),
			},
		}
		service.Namespace = w.namespace
		Expect(api.Create(ctx, service, client.FieldOwner("manager"))).To(Succeed())
		Expect(w.reconcile()).NotTo(ContainElement(ContainSubstring("Service")))

		w.change(func(s *lwsv1.LeaderWorkerSet) { s.Labels = nil })
		Expect(w.reconcile()).To(ContainElements("patch Service x", "apply Service x"))
		after := fetch(w, "x", &corev1.Service{})
		Expect(after.UID).To(Equal(service.UID))
		Expect(after.Labels).To(Equal(identity.SetLabels("x")))
		Expect(w.reconcile()).To(BeEmpty())
	})

	It("are scaled at once", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().Replicas(1).Obj())
		w.settle()
		for _, replicas := range []int32{4, 2, 0, 3} {
			w.change(func(s *lwsv1.LeaderWorkerSet) { s.Spec.Replicas = &replicas })
			Expect(w.reconcile()).To(ContainElement("apply StatefulSet x"))
			Expect(w.leaders().Spec.Replicas).To(HaveValue(Equal(replicas)))
			Expect(w.leaders().Annotations).To(HaveKeyWithValue(lwsv1.ReplicasAnnotationKey, strconv.Itoa(int(replicas))))
			w.runStatefulSetController()
			for index := range replicas {
				w.makeReady(int(index))
			}
			w.settle()
			Expect(w.conditions()).To(Equal(available))
			Expect(w.set().Status.Replicas).To(Equal(replicas))
		}
		Expect(w.revisions()).To(HaveLen(1))
	})
})

var _ = Describe("Names that are taken", func() {
	foreignStatefulSet := func() *appsv1.StatefulSet {
		labels := map[string]string{"app": "theirs"}
		return &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: "x", Labels: labels},
			Spec: appsv1.StatefulSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: lwstest.LabelledPodTemplate("theirs", "app", "theirs"),
			},
		}
	}

	It("are reported once and looked at less and less often", func(ctx SpecContext) {
		w := newWorld(ctx)
		theirs := foreignStatefulSet()
		w.createForeign(theirs)
		w.create(w.build().Obj())

		Expect(w.reconcile()).To(ContainElement("create StatefulSet x"))
		Expect(w.requests.reads).To(Equal([]string{"get StatefulSet x"}))
		Expect(w.conditions()).To(HaveKeyWithValue("Progressing", "True NameConflict"))
		Expect(w.message(lwsv1.ConditionProgressing)).To(ContainSubstring("StatefulSet x exists"))
		Expect(w.toldReasons()).To(Equal([]string{"Normal CreatingRevision", "Warning NameConflict"}))
		Expect(fetch(w, "x", &corev1.Service{}).Labels).To(HaveKey(lwsv1.SetNameLabelKey), "the rest goes on")

		var pauses []time.Duration
		for range 4 {
			writes, result, err := w.tryReconcile()
			Expect(err).NotTo(HaveOccurred())
			Expect(writes).To(BeEmpty())
			Expect(w.requests.reads).To(BeEmpty())
			pauses = append(pauses, result.RequeueAfter)
			w.clock.SetTime(w.clock.Now().Add(result.RequeueAfter))
			Expect(w.reconcile()).To(Equal([]string{"create StatefulSet x"}))
		}
		Expect(pauses).To(Equal([]time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}))
		Expect(w.told()).To(BeEmpty())
		Expect(fetch(w, "x", &appsv1.StatefulSet{}).Labels).To(Equal(theirs.Labels), "theirs is as it was")

		Expect(live.Delete(ctx, theirs)).To(Succeed())
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		w.settle()
		Expect(w.leaders().Labels).To(HaveKeyWithValue(lwsv1.SetNameLabelKey, "x"))
		Expect(w.conditions()).To(Equal(progressing))
	})

	It("keep a Service of somebody else's as it is", func(ctx SpecContext) {
		w := newWorld(ctx)
		theirs := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: "x"},
			Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
		}
		w.createForeign(theirs)
		w.create(w.build().Obj())
		w.reconcile()
		Expect(w.conditions()).To(HaveKeyWithValue("Progressing", "True NameConflict"))
		Expect(w.leaders().UID).NotTo(BeEmpty(), "the rest goes on")
		Expect(fetch(w, "x", &corev1.Service{}).UID).To(Equal(theirs.UID))

		Expect(live.Delete(ctx, theirs)).To(Succeed())
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		w.settle()
		Expect(fetch(w, "x", &corev1.Service{}).Labels).To(HaveKeyWithValue(lwsv1.SetNameLabelKey, "x"))
	})

	It("are a conflict also of the revision", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().Obj())
		w.settle()
		theirs := w.revisions()[0]
		Expect(live.Delete(ctx, &theirs)).To(Succeed())
		theirs.ObjectMeta = metav1.ObjectMeta{Name: theirs.Name}
		w.createForeign(&theirs)

		Eventually(func() []string { return w.reconcile() }).Should(ContainElement("create ControllerRevision " + theirs.Name))
		Expect(w.conditions()).To(HaveKeyWithValue("Progressing", "True NameConflict"))
		Expect(w.message(lwsv1.ConditionProgressing)).To(ContainSubstring("ControllerRevision " + theirs.Name + " exists"))
		writes, result, err := w.tryReconcile()
		Expect(err).NotTo(HaveOccurred())
		Expect(writes).To(BeEmpty(), "nothing is tried before its time")
		Expect(result.RequeueAfter).To(Equal(time.Second))

		Expect(live.Delete(ctx, &theirs)).To(Succeed())
		w.clock.SetTime(w.clock.Now().Add(result.RequeueAfter))
		w.settle()
		Expect(w.revisions()).To(ConsistOf(HaveField("Labels", HaveKeyWithValue(lwsv1.SetNameLabelKey, "x"))))
		Expect(w.conditions()).To(Equal(progressing))
	})

	It("are a conflict although they carry our label, if another controller has them", func(ctx SpecContext) {
		w := newWorld(ctx)
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}
		w.createForeign(config)
		theirs := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
			Name: "x", Labels: identity.SetLabels("x"),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(config, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
		}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
		w.create(theirs)
		w.create(w.build().Obj())
		w.reconcile()
		Expect(w.message(lwsv1.ConditionProgressing)).To(ContainSubstring("ConfigMap owner as its controller"))
		Expect(w.reconcile()).To(BeEmpty())
		Expect(w.requests.reads).To(BeEmpty(), "the cache shows it")
	})
})

var _ = Describe("What a predecessor left", func() {
	It("is taken over when it was orphaned", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().Replicas(2).Size(2).Obj())
		w.settle()
		w.runStatefulSetController()
		w.makeReady(0, 1)
		w.settle()
		before, pods := w.leaders(), w.leaderPods()
		w.orphan()

		w.create(w.build().Replicas(2).Size(2).Obj())
		w.restart()
		w.settle()
		set := w.set()
		after := w.leaders()
		Expect(after.UID).To(Equal(before.UID))
		Expect(after.Generation).To(Equal(before.Generation), "no pod restarts")
		Expect(metav1.GetControllerOf(after).UID).To(Equal(set.UID))
		Expect(metav1.GetControllerOf(fetch(w, "x", &corev1.Service{})).UID).To(Equal(set.UID))
		Expect(w.revisions()).To(HaveLen(1))
		Expect(metav1.GetControllerOf(&w.revisions()[0]).UID).To(Equal(set.UID))
		Expect(uids(w.leaderPods())).To(Equal(uids(pods)))
		Expect(w.conditions()).To(Equal(available))
	})

	It("is waited for when it is going", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.create(w.build().Obj())
		w.settle()
		before := w.leaders()
		Expect(api.Delete(ctx, w.set())).To(Succeed())
		Expect(w.reconcile()).To(BeEmpty(), "nothing is done about a set that is gone")

		w.create(w.build().Obj())
		w.reconcile()
		Expect(w.conditions()).To(HaveKeyWithValue("Progressing", "True PredecessorTerminating"))
		Expect(w.leaders().UID).To(Equal(before.UID))
		Expect(w.reconcile()).To(BeEmpty())

		By("garbage collection taking the old objects")
		Expect(api.Delete(ctx, before)).To(Succeed())
		Expect(api.Delete(ctx, fetch(w, "x", &corev1.Service{}))).To(Succeed())
		w.settle()
		Expect(metav1.GetControllerOf(w.leaders()).UID).To(Equal(w.set().UID))
		Expect(metav1.GetControllerOf(fetch(w, "x", &corev1.Service{})).UID).To(Equal(w.set().UID))
	})

	It("with another selector is a conflict", func(ctx SpecContext) {
		w := newWorld(ctx)
		labels := map[string]string{lwsv1.SetNameLabelKey: "x"}
		w.create(&appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: "x", Labels: labels},
			Spec: appsv1.StatefulSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: lwstest.LabelledPodTemplate("c", lwsv1.SetNameLabelKey, "x"),
			},
		})
		w.create(w.build().Obj())
		w.reconcile()
		Expect(w.conditions()).To(HaveKeyWithValue("Progressing", "True NameConflict"))
		Expect(metav1.GetControllerOf(w.leaders())).To(BeNil())
	})
})

// orphan deletes the set as kubectl does with --cascade=orphan.
func (w *world) orphan() {
	GinkgoHelper()
	set := w.set()
	Expect(api.Delete(w.ctx, set)).To(Succeed())
	objects := []client.Object{w.leaders(), fetch(w, "x", &corev1.Service{})}
	for _, revision := range w.revisions() {
		objects = append(objects, &revision)
	}
	for _, obj := range objects {
		obj.SetOwnerReferences(nil)
		Expect(api.Update(w.ctx, obj)).To(Succeed())
	}
}

func uids(pods []corev1.Pod) map[string]types.UID {
	byName := map[string]types.UID{}
	for _, pod := range pods {
		byName[pod.Name] = pod.UID
	}
	return byName
}
