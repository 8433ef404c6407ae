package leaderworkerset

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// owned gives an object a controller that is not ours.
func (s *scenario) owned(object client.Object) client.Object {
	GinkgoHelper()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "somebody", Namespace: s.namespace}}
	Expect(s.env.Client.Create(s.ctx, owner)).To(Succeed())
	object.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))})
	return object
}

func foreignStatefulSet(name string) *appsv1.StatefulSet {
	labels := map[string]string{"app": "theirs"}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: template("theirs").Spec},
		},
	}
}

func foreignService(name string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "theirs"},
			Ports:    []corev1.ServicePort{{Port: 80}},
		},
	}
}

var _ = Describe("A name that somebody else has", func() {
	DescribeTable("is reported, and the rest goes on",
		func(set *lwstest.Builder, foreign client.Object, isOwned bool, whole ...string) {
			s := begin()
			foreign.SetNamespace(s.namespace)
			if isOwned {
				s.owned(foreign)
			}
			Expect(s.env.Client.Create(s.ctx, foreign)).To(Succeed())
			name := s.create(set.Replicas(3).Size(2)).Name
			s.awaitSet(name, "tells of the conflict", func(set *lwsv1.LeaderWorkerSet) bool {
				c := condition(set, lwsv1.ConditionProgressing)
				return c.Status == metav1.ConditionTrue && c.Reason == lwsv1.ReasonNameConflict
			})
			Expect(condition(s.Set(name), lwsv1.ConditionProgressing).Message).To(ContainSubstring(foreign.GetName()))
			s.awaitPods(name, whole...)
			s.touchIfLeads(name, foreign)
			told := func() int { return s.History().Told(name, lwsv1.ReasonNameConflict) }
			Eventually(told).WithTimeout(patience).Should(BeNumerically(">", 0))

			By("leaving it alone")
			before, version := foreign.GetUID(), foreign.GetGeneration()
			Expect(s.env.Client.Get(s.ctx, client.ObjectKeyFromObject(foreign), foreign)).To(Succeed())
			Expect(foreign.GetUID()).To(Equal(before))
			Expect(foreign.GetGeneration()).To(Equal(version))
			Expect(foreign.GetLabels()).NotTo(HaveKey(lwsv1.SetNameLabelKey))

			By("going on when the name is free")
			s.remove(foreign)
			s.awaitAvailable(name)
			s.awaitPods(name, podNames(name, 3, 2)...)
			Expect(told()).To(Equal(1))
		},
		Entry("for workers", newSet("mine"), foreignStatefulSet("mine-1"), false, "mine-0", "mine-0-1", "mine-1", "mine-2", "mine-2-1"),
		Entry("for workers, with a controller", newSet("mine"), foreignStatefulSet("mine-1"), true, "mine-0", "mine-0-1", "mine-1", "mine-2", "mine-2-1"),
		Entry("for leaders", newSet("mine"), foreignStatefulSet("mine"), false),
		Entry("for the Service of a group", newSet("mine").SubdomainPolicy(lwsv1.SubdomainUniquePerReplica), foreignService("mine-1"), true, "mine-0", "mine-0-1", "mine-1", "mine-2", "mine-2-1"),
	)

	It("for the Service of all is told, and the groups come up", func() {
		s := begin()
		foreign := foreignService("mine")
		foreign.Namespace = s.namespace
		Expect(s.env.Client.Create(s.ctx, foreign)).To(Succeed())
		s.create(newSet("mine").Replicas(2).Size(2))
		s.awaitPods("mine", podNames("mine", 2, 2)...)
		Eventually(func() int { return s.History().Told("mine", lwsv1.ReasonNameConflict) }).
			WithTimeout(patience).Should(Equal(1))
		s.touchAndAwaitReaction("mine")
		s.get("mine", foreign)
		Expect(foreign.Spec.Selector).To(Equal(map[string]string{"app": "theirs"}))
		Expect(s.History().Told("mine", lwsv1.ReasonNameConflict)).To(Equal(1))

		By("having its Service when the name is free")
		s.remove(foreign)
		Eventually(func(g Gomega) {
			service := &corev1.Service{}
			g.Expect(s.env.Client.Get(s.ctx, s.Key("mine"), service)).To(Succeed())
			g.Expect(service.Spec.Selector).To(Equal(map[string]string{lwsv1.SetNameLabelKey: "mine"}))
		}).WithTimeout(patience).Should(Succeed())
	})
})

// touchIfLeads wakes the manager once more, where the leader StatefulSet is the
// set's own and shows that it looked.
func (s *scenario) touchIfLeads(name string, foreign client.Object) {
	GinkgoHelper()
	if foreign.GetName() != name {
		s.touchAndAwaitReaction(name)
	}
}
