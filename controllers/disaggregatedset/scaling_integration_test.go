//go:build integration

package disaggregatedset

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
)

func (w *world) scaler(role string) *dsv1.DisaggregatedSetRoleScaler {
	GinkgoHelper()
	found := &dsv1.DisaggregatedSetRoleScaler{}
	Expect(live.Get(w.ctx, client.ObjectKey{Namespace: w.namespace, Name: "llm-" + role}, found)).To(Succeed())
	return found
}

// autoscale is what a HorizontalPodAutoscaler does.
func (w *world) autoscale(role string, replicas int32) {
	GinkgoHelper()
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	Expect(live.SubResource("scale").Update(w.ctx, w.scaler(role), client.WithSubResourceBody(scale))).To(Succeed())
}

func mode(role int, m dsv1.RoleScalingMode) func(*dsv1.DisaggregatedSetSpec) {
	return func(spec *dsv1.DisaggregatedSetSpec) { spec.Roles[role].Scaling = &dsv1.RoleScaling{Mode: m} }
}

var _ = Describe("A role that is scaled from outside", func() {
	It("keeps what runs from static to external and back", func(ctx SpecContext) {
		w := newWorld(ctx, pair(5, 1))
		w.settle()
		w.watch = func(w *world) { Expect(w.replicas()).To(ContainElement("0/prefill 5")) }
		w.change(mode(0, dsv1.ExternalRoleScaling))
		w.settle()
		made := w.scaler("prefill")
		Expect(made.Spec.Replicas).To(HaveValue(BeEquivalentTo(5)))
		Expect(made.Status.Replicas).To(BeEquivalentTo(5))
		Expect(made.Status.Selector).To(Equal("disaggregatedset.x-k8s.io/name=llm,disaggregatedset.x-k8s.io/role=prefill,leaderworkerset.sigs.k8s.io/worker-index=0"))
		Expect(meta.IsStatusConditionTrue(made.Status.Conditions, dsv1.ConditionReady)).To(BeTrue())
		Expect(metav1.IsControlledBy(made, w.set)).To(BeTrue())
		Expect(w.told()[dsv1.ReasonScalerCreated]).To(Equal(1))
		_, err := w.reconcile()
		Expect(err).NotTo(HaveOccurred())
		Expect(w.counting.writes).To(BeEmpty())

		w.watch = nil
		w.autoscale("prefill", 7)
		w.settle()
		Expect(w.replicas()).To(ContainElement("0/prefill 7"))
		w.change(mode(0, dsv1.StaticRoleScaling))
		w.settle()
		Expect(w.replicas()).To(ContainElement("0/prefill 7"), "until the spec says something else")
		Expect(w.told()[dsv1.ReasonScalerDeleted]).To(Equal(1))
		w.change(image("server:2"))
		w.settle()
		Expect(w.replicas()).To(Equal([]string{"0/decode 1", "0/prefill 7"}), "through a rollout")
		w.change(func(spec *dsv1.DisaggregatedSetSpec) { spec.Roles[0].Spec.Replicas = ptr.To(int32(2)) })
		w.settle()
		Expect(w.replicas()).To(ContainElement("0/prefill 2"))
	})

	It("is followed in the middle of a rollout, which goes on", func(ctx SpecContext) {
		w := newWorld(ctx, dstest.New("llm").Roles(budgeted("prefill", 1).External(), budgeted("decode", 4)))
		w.settle()
		Expect(w.scaler("prefill").Spec.Replicas).To(HaveValue(BeEquivalentTo(1)), "a new role")
		w.autoscale("prefill", 8)
		w.settle()
		w.change(image("server:2"))
		steps := 0
		w.watch = func(w *world) {
			w.expectNoOrphans()
			now := w.reload().Status
			Expect(now.UpdatedSlices).To(BeNumerically("<=", 1))
			steps++
		}
		for _, n := range []int32{12, 5, 9} {
			for range 3 {
				_, err := w.reconcile()
				Expect(err).NotTo(HaveOccurred())
				w.becomeReady()
			}
			w.autoscale("prefill", n)
		}
		w.settle()
		Expect(w.replicas()).To(Equal([]string{"0/decode 4", "0/prefill 9"}))
		Expect(steps).To(BeNumerically(">", 9))
	})

	It("spreads over slices", func(ctx SpecContext) {
		w := newWorld(ctx, dstest.New("llm").Roles(budgeted("prefill", 1).External(), budgeted("decode", 1)).Slices(3))
		w.settle()
		w.autoscale("prefill", 7)
		w.settle()
		Expect(w.replicas()).To(ContainElements("0/prefill 3", "1/prefill 2", "2/prefill 2"))
		w.told()
		w.autoscale("prefill", 2)
		w.settle()
		Expect(w.replicas()).To(ContainElements("0/prefill 1", "1/prefill 1", "2/prefill 1"))
		Expect(w.scaler("prefill").Status.Replicas).To(BeEquivalentTo(3), "the real sum")
		Expect(w.told()[dsv1.ReasonScalerFollowed]).To(Equal(1))
		w.autoscale("prefill", 0)
		w.settle()
		Expect(w.replicas()).To(ContainElements("0/prefill 0", "1/prefill 0", "2/prefill 0", "0/decode 1"))
		Expect(w.condition(dsv1.ConditionAvailable).Status).To(Equal(metav1.ConditionTrue), "absent by wish")
	})

	It("gets its scaler back", func(ctx SpecContext) {
		w := newWorld(ctx, pair(4, 1))
		w.settle()
		w.change(mode(0, dsv1.ExternalRoleScaling))
		w.settle()
		w.autoscale("prefill", 6)
		w.settle()
		Expect(live.Delete(ctx, w.scaler("prefill"))).To(Succeed())
		w.settle()
		Expect(w.scaler("prefill").Spec.Replicas).To(HaveValue(BeEquivalentTo(6)))
		Expect(w.replicas()).To(ContainElement("0/prefill 6"))
	})

	It("takes up a scaler that its user made, with the number that runs", func(ctx SpecContext) {
		w := newWorld(ctx, pair(4, 1))
		w.settle()
		Expect(live.Create(ctx, &dsv1.DisaggregatedSetRoleScaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "llm-prefill"},
		})).To(Succeed())
		w.change(mode(0, dsv1.ExternalRoleScaling))
		w.settle()
		Expect(w.scaler("prefill").Spec.Replicas).To(HaveValue(BeEquivalentTo(4)))
		Expect(metav1.IsControlledBy(w.scaler("prefill"), w.set)).To(BeTrue())
		Expect(w.replicas()).To(ContainElement("0/prefill 4"))
		w.autoscale("prefill", 0)
		w.settle()
		Expect(w.replicas()).To(ContainElement("0/prefill 0"), "zero is a number once it is followed")
	})

	It("leaves a scaler that is somebody else's alone", func(ctx SpecContext) {
		w := newWorld(ctx, pair(4, 1))
		w.settle()
		foreign := &dsv1.DisaggregatedSetRoleScaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "llm-prefill", OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: "uid", Controller: ptr.To(true),
			}}},
			Spec: dsv1.DisaggregatedSetRoleScalerSpec{Replicas: ptr.To(int32(1))},
		}
		Expect(live.Create(ctx, foreign)).To(Succeed())
		w.change(mode(0, dsv1.ExternalRoleScaling))
		for range 3 {
			_, err := w.reconcile()
			Expect(err).NotTo(HaveOccurred())
			w.becomeReady()
		}
		Expect(w.replicas()).To(ContainElement("0/prefill 4"))
		Expect(w.condition(dsv1.ConditionProgressing).Reason).To(Equal(dsv1.ReasonNameConflict))
		Expect(w.told()[dsv1.ReasonScalerConflict]).To(Equal(1))
		w.change(mode(0, dsv1.StaticRoleScaling))
		w.settle()
		Expect(apierrors.IsNotFound(live.Get(ctx, client.ObjectKeyFromObject(foreign), foreign))).To(BeFalse())
	})
})
