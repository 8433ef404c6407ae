package leaderworkerset

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// patch changes an object as somebody who knows no better.
func (s *scenario) patch(object client.Object, name, text string) {
	GinkgoHelper()
	object.SetNamespace(s.namespace)
	object.SetName(name)
	Expect(s.env.Client.Patch(s.ctx, object, client.RawPatch(types.MergePatchType, []byte(text)))).To(Succeed())
}

// expectUndisturbed checks that no pod of a set was ever made twice.
func (s *scenario) expectUndisturbed(set string) {
	GinkgoHelper()
	for name, uids := range s.History().UIDs(set) {
		Expect(uids).To(HaveLen(1), name)
	}
}

var _ = Describe("What somebody else changes", func() {
	DescribeTable("comes back without a pod being disturbed",
		func(set *lwstest.Builder, harm func(s *scenario), repaired func(s *scenario, g Gomega)) {
			s := begin()
			name := s.create(set.Replicas(2).Size(3)).Name
			s.awaitAvailable(name)
			s.awaitMemory(name, 2)
			harm(s)
			Eventually(func(g Gomega) { repaired(s, g) }).WithTimeout(patience).Should(Succeed())
			s.touchAndAwaitReaction(name)
			s.expectUndisturbed(name)
			s.awaitAvailable(name)
		},
		Entry("a deleted Service", newSet("drift"), func(s *scenario) {
			s.remove(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "drift", Namespace: s.namespace}})
		}, func(s *scenario, g Gomega) {
			g.Expect(s.env.Client.Get(s.ctx, s.Key("drift"), &corev1.Service{})).To(Succeed())
		}),
		Entry("a deleted Service of a group", newSet("drift").SubdomainPolicy(lwsv1.SubdomainUniquePerReplica), func(s *scenario) {
			s.remove(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "drift-1", Namespace: s.namespace}})
		}, func(s *scenario, g Gomega) {
			g.Expect(s.env.Client.Get(s.ctx, s.Key("drift-1"), &corev1.Service{})).To(Succeed())
		}),
		Entry("an edited Service", newSet("drift"), func(s *scenario) {
			s.patch(&corev1.Service{}, "drift", `{"spec":{"publishNotReadyAddresses":false,"selector":{"leaderworkerset.sigs.k8s.io/name":"other"}}}`)
		}, func(s *scenario, g Gomega) {
			service := &corev1.Service{}
			g.Expect(s.env.Client.Get(s.ctx, s.Key("drift"), service)).To(Succeed())
			g.Expect(service.Spec.PublishNotReadyAddresses).To(BeTrue())
			g.Expect(service.Spec.Selector).To(Equal(map[string]string{lwsv1.SetNameLabelKey: "drift"}))
		}),
		Entry("a deleted revision", newSet("drift"), func(s *scenario) {
			s.remove(&appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{
				Name: "drift-" + s.Set("drift").Status.UpdateRevision + "-1", Namespace: s.namespace,
			}})
		}, func(s *scenario, g Gomega) {
			revisions := s.revisions("drift")
			g.Expect(revisions).To(HaveLen(1))
			g.Expect(revisions[0].Labels).To(HaveKeyWithValue(lwsv1.RevisionLabelKey, s.Set("drift").Status.UpdateRevision))
		}),
		Entry("labels and replicas of the leader StatefulSet", newSet("drift"), func(s *scenario) {
			s.patch(&appsv1.StatefulSet{}, "drift", `{"metadata":{"annotations":{"leaderworkerset.sigs.k8s.io/replicas":"9"}},"spec":{"replicas":2,"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}`)
		}, func(s *scenario, g Gomega) {
			leaders := &appsv1.StatefulSet{}
			g.Expect(s.env.Client.Get(s.ctx, s.Key("drift"), leaders)).To(Succeed())
			g.Expect(leaders.Annotations).To(HaveKeyWithValue(lwsv1.ReplicasAnnotationKey, "2"))
			g.Expect(leaders.Spec.UpdateStrategy.Type).To(Equal(appsv1.RollingUpdateStatefulSetStrategyType))
		}),
		Entry("a label of a worker StatefulSet", newSet("drift"), func(s *scenario) {
			s.patch(&appsv1.StatefulSet{}, "drift-1", `{"metadata":{"labels":{"leaderworkerset.sigs.k8s.io/template-revision-hash":"mine"}}}`)
		}, func(s *scenario, g Gomega) {
			workers := &appsv1.StatefulSet{}
			g.Expect(s.env.Client.Get(s.ctx, s.Key("drift-1"), workers)).To(Succeed())
			g.Expect(workers.Labels).To(HaveKeyWithValue(lwsv1.RevisionLabelKey, s.Set("drift").Status.UpdateRevision))
		}),
	)

	DescribeTable("comes back, whole groups with it",
		func(harm func(s *scenario), unharmed ...string) {
			s := begin()
			s.create(newSet("broken").Replicas(3).Size(3))
			s.awaitAvailable("broken")
			s.awaitMemory("broken", 3)
			before := s.History().UIDs("broken")
			mark := s.History().Mark()
			harm(s)
			s.await("something ends", func() (string, bool) {
				replaced := s.History().Replaced("broken", mark)
				return "no leader ended", len(replaced) > 0
			})
			s.awaitReadyPods("broken", podNames("broken", 3, 3)...)
			s.awaitAvailable("broken")
			s.touchAndAwaitReaction("broken")
			s.awaitReadyPods("broken", podNames("broken", 3, 3)...)
			after := s.History().UIDs("broken")
			for _, name := range unharmed {
				Expect(after[name]).To(Equal(before[name]), name)
			}
			workers := &appsv1.StatefulSet{}
			s.get("broken-1", workers)
			Expect(workers.Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))
			Expect(workers.Spec.Template.Spec.Containers[0].Image).To(Equal(lwstest.Image))
		},
		Entry("a deleted worker StatefulSet", func(s *scenario) {
			s.remove(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "broken-1", Namespace: s.namespace}})
		}, "broken-0", "broken-2", "broken-0-1"),
		Entry("a worker StatefulSet scaled down", func(s *scenario) {
			s.patch(&appsv1.StatefulSet{}, "broken-1", `{"spec":{"replicas":1}}`)
		}, "broken-0", "broken-2", "broken-0-1"),
		Entry("a worker StatefulSet with another image", func(s *scenario) {
			s.patch(&appsv1.StatefulSet{}, "broken-1", `{"spec":{"template":{"spec":{"containers":[{"name":"worker","image":"mine"}]}}}}`)
		}, "broken-0", "broken-2", "broken-0-1"),
		Entry("a deleted leader StatefulSet", func(s *scenario) {
			s.remove(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "broken", Namespace: s.namespace}})
		}),
	)

	It("to a leader StatefulSet that was orphaned goes on with its pods", func() {
		s := begin()
		s.create(newSet("orphans").Replicas(2).Size(2))
		s.awaitAvailable("orphans")
		s.awaitMemory("orphans", 2)
		old := &appsv1.StatefulSet{}
		s.get("orphans", old)
		s.remove(old, client.PropagationPolicy(metav1.DeletePropagationOrphan))
		Eventually(func(g Gomega) {
			leaders := &appsv1.StatefulSet{}
			g.Expect(s.env.Client.Get(s.ctx, s.Key("orphans"), leaders)).To(Succeed())
			g.Expect(leaders.UID).NotTo(Equal(old.UID))
			g.Expect(leaders.Status.ReadyReplicas).To(BeEquivalentTo(2))
		}).WithTimeout(patience).Should(Succeed())
		s.awaitAvailable("orphans")
		s.expectUndisturbed("orphans")
	})
})
