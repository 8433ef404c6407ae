//go:build integration

package disaggregatedset

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
)

// earlier makes the objects that a release without slices had.
func (w *world) earlier(revision string) {
	GinkgoHelper()
	for i := range w.set.Spec.Roles {
		r := &w.set.Spec.Roles[i]
		key := identity.Key{Revision: revision, Role: r.Name, Sliceless: true}
		meta := metav1.ObjectMeta{
			Namespace: w.namespace, Name: identity.LeaderWorkerSetName("llm", key), Labels: identity.Labels("llm", key),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(w.set, dsv1.GroupVersion.WithKind(dsv1.Kind))},
		}
		set := &lwsv1.LeaderWorkerSet{ObjectMeta: meta, Spec: *r.Spec.DeepCopy()}
		template := &set.Spec.LeaderWorkerTemplate.WorkerTemplate
		template.Labels = identity.Labels("llm", key)
		template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "DISAGGREGATEDSET_ROLE", Value: r.Name}}
		Expect(live.Create(w.ctx, set, client.FieldOwner("manager"))).To(Succeed())
		meta.Name = identity.ServiceName("llm", key)
		service := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: identity.Labels("llm", key)}}
		Expect(live.Create(w.ctx, service, client.FieldOwner("manager"))).To(Succeed())
	}
	w.becomeReady()
}

func templatesOf(sets []lwsv1.LeaderWorkerSet) map[string]corev1.PodTemplateSpec {
	templates := map[string]corev1.PodTemplateSpec{}
	for _, set := range sets {
		templates[set.Name] = set.Spec.LeaderWorkerTemplate.WorkerTemplate
	}
	return templates
}

var _ = Describe("Objects of the releases before slices", func() {
	It("are taken over without a change to their pods", func(ctx SpecContext) {
		w := newWorld(ctx, pair(2, 1))
		w.earlier("0ld0ld00")
		before, services := templatesOf(w.sets()), w.services()
		w.settle()
		Expect(w.revision()).To(Equal("0ld0ld00"))
		Expect(templatesOf(w.sets())).To(Equal(before))
		Expect(w.services()).To(Equal(services))
		Expect(w.condition(dsv1.ConditionAvailable).Status).To(Equal(metav1.ConditionTrue))

		w.change(func(spec *dsv1.DisaggregatedSetSpec) {
			spec.Roles[0].Spec.Replicas = ptr.To(int32(4))
			spec.Roles[0].Spec.LeaderWorkerTemplate.MaxGroupRestarts = ptr.To(int32(2))
		})
		w.settle()
		Expect(templatesOf(w.sets())).To(Equal(before))
		Expect(w.replicas()).To(Equal([]string{"0/decode 1", "0/prefill 4"}))
	})

	It("are rolled to the present form with the next template", func(ctx SpecContext) {
		w := newWorld(ctx, pair(2, 1))
		w.earlier("0ld0ld00")
		w.settle()
		watchInvariants(w, map[string]int32{"0/prefill": 2, "0/decode": 1}, map[string]int32{"0/prefill": 3, "0/decode": 2})
		w.change(image("server:2"))
		w.settle()
		for _, set := range w.sets() {
			Expect(set.Labels).To(HaveKeyWithValue(dsv1.SliceLabelKey, "0"))
		}
		Expect(w.services()).To(HaveLen(2))
	})

	It("are rolled to the present form, as the same revision, before there are more slices", func(ctx SpecContext) {
		w := newWorld(ctx, pair(2, 1))
		w.earlier("0ld0ld00")
		w.settle()
		watchInvariants(w, map[string]int32{"0/prefill": 2, "0/decode": 1}, map[string]int32{"0/prefill": 3, "0/decode": 2})
		orphans := w.watch
		w.watch = func(w *world) {
			orphans(w)
			sliceless, siblings := false, false
			for _, set := range w.sets() {
				key, _ := identity.KeyOf(set.Labels)
				sliceless, siblings = sliceless || key.Sliceless, siblings || key.Slice > 0
			}
			Expect(sliceless && siblings).To(BeFalse(), "a Service without slice would match the pods of a sibling")
		}
		w.change(func(spec *dsv1.DisaggregatedSetSpec) { spec.Slices = ptr.To(int32(2)) })
		w.settle()
		Expect(w.revision()).To(Equal("0ld0ld00"))
		Expect(w.replicas()).To(Equal([]string{"0/decode 1", "0/prefill 2", "1/decode 1", "1/prefill 2"}))
		Expect(w.services()).To(Equal([]string{
			"llm-0-0ld0ld00-decode-prv", "llm-0-0ld0ld00-prefill-prv", "llm-1-0ld0ld00-decode-prv", "llm-1-0ld0ld00-prefill-prv",
		}))
	})

	It("are taken over after a deletion that orphans", func(ctx SpecContext) {
		w := newWorld(ctx, pair(2, 1))
		w.settle()
		uids := map[string]string{}
		for _, set := range w.sets() {
			before := set.DeepCopy()
			uids[set.Name] = string(set.UID)
			set.OwnerReferences = nil
			Expect(live.Patch(ctx, &set, client.MergeFrom(before))).To(Succeed())
		}
		w.settle()
		for _, set := range w.sets() {
			Expect(uids).To(HaveKeyWithValue(set.Name, string(set.UID)))
			Expect(metav1.IsControlledBy(&set, w.set)).To(BeTrue())
		}
	})

	It("of a deleted set of the same name are waited for", func(ctx SpecContext) {
		w := newWorld(ctx, pair(2, 1))
		w.settle()
		for _, set := range w.sets() {
			before := set.DeepCopy()
			set.OwnerReferences[0].UID = "that-of-the-deleted-set"
			Expect(live.Patch(ctx, &set, client.MergeFrom(before))).To(Succeed())
		}
		for range 3 {
			_, err := w.reconcile()
			Expect(err).NotTo(HaveOccurred())
			Expect(w.counting.writes).NotTo(ContainElement(HavePrefix("create")))
			Expect(w.counting.writes).NotTo(ContainElement(HavePrefix("apply")))
		}
		Expect(w.condition(dsv1.ConditionProgressing).Message).To(ContainSubstring("still being deleted"))
		for _, set := range w.sets() {
			Expect(live.Delete(ctx, &set)).To(Succeed())
		}
		w.settle()
		Expect(w.replicas()).To(Equal([]string{"0/decode 1", "0/prefill 2"}))
		Expect(w.condition(dsv1.ConditionAvailable).Status).To(Equal(metav1.ConditionTrue))
	})
})
