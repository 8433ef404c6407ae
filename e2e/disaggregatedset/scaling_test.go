package disaggregatedset

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	"sigs.k8s.io/lws/e2e/harness"
)

const prefillScaler = set + "-prefill"

// autoscale is what a HorizontalPodAutoscaler does.
func (s *scenario) autoscale(n int32) {
	GinkgoHelper()
	scaler := &dsv1.DisaggregatedSetRoleScaler{}
	s.get(prefillScaler, scaler)
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: n}}
	Expect(shared.Client.SubResource("scale").Update(s.ctx, scaler, client.WithSubResourceBody(scale))).To(Succeed())
}

func mode(role string, m dsv1.RoleScalingMode) func(*dsv1.DisaggregatedSetSpec) {
	return onRole(role, func(r *dsv1.DisaggregatedRoleSpec) { r.Scaling = &dsv1.RoleScaling{Mode: m} })
}

// awaitRole waits until a role has groups, all of them ready.
func (s *scenario) awaitRole(role string, n int32) {
	GinkgoHelper()
	s.awaitSet(fmt.Sprintf("%s has %d ready groups", role, n), func(now *dsv1.DisaggregatedSet) bool {
		for _, status := range now.Status.RoleStatuses {
			if status.Name == role {
				return status.Replicas == n && status.ReadyReplicas == n && isTrue(now, dsv1.ConditionAvailable)
			}
		}
		return false
	})
}

var _ = Describe("A role that is scaled from outside", func() {
	It("is followed during a rollout that takes long, which is never reversed", func() {
		s := begin()
		s.up(dstest.New(set).Roles(newRole("prefill", 1, "0", "2").External(), newRole("decode", 4, "0", "1")))
		s.autoscale(8)
		s.awaitRole("prefill", 8)
		mark := s.History().Mark()
		s.change(image(better), slow("1s"))
		for i, n := range []int32{12, 5, 9} {
			revision := s.now().Status.CurrentRevision
			s.awaitSteps(2*i+1, revision, mark)
			s.autoscale(n)
		}
		s.awaitRole("prefill", 9)
		s.awaitAvailable()
		watch := s.report(mark)
		expectWhole(watch)
		Expect(watch.Roles["0/prefill"].MinReady).To(BeNumerically(">=", 5))
		Expect(watch.Roles["0/prefill"].MaxWanted).To(BeNumerically("<=", 14))
		Expect(watch.Roles["0/decode"].MinReady).To(Equal(4))
		s.expectOnly(0, "prefill", "decode")
	})

	It("keeps five that run, from static to external and back", func() {
		s := begin()
		s.up(dstest.New(set).Roles(newRole("prefill", 5), newRole("decode", 1)))
		before, revision := s.uids(), s.now().Status.CurrentRevision
		mark := s.History().Mark()
		s.settle(mode("prefill", dsv1.ExternalRoleScaling))
		s.await("the scaler follows", func() (string, bool) {
			scaler := &dsv1.DisaggregatedSetRoleScaler{}
			if err := shared.Client.Get(s.ctx, s.Key(prefillScaler), scaler); err != nil {
				return err.Error(), false
			}
			return fmt.Sprint(scaler.Spec, scaler.Status), dsv1.ScalerReplicas(scaler) == 5 && scaler.Status.Replicas == 5
		})
		s.settle(mode("prefill", dsv1.StaticRoleScaling))
		s.await("the scaler is gone", func() (string, bool) {
			err := shared.Client.Get(s.ctx, s.Key(prefillScaler), &dsv1.DisaggregatedSetRoleScaler{})
			return fmt.Sprint(err), apierrors.IsNotFound(err)
		})
		s.awaitAvailable()
		watch := s.report(mark)
		Expect(watch.Roles["0/prefill"].MinReady).To(Equal(5))
		Expect(watch.Roles["0/prefill"].MaxExisting).To(Equal(5))
		Expect(s.uids()).To(Equal(before))
		Expect(s.now().Status.CurrentRevision).To(Equal(revision))
	})

	It("is scaled by a HorizontalPodAutoscaler, also through a rollout", func() {
		s := begin()
		s.up(dstest.New(set).Roles(newRole("prefill", 1).External(), newRole("decode", 1)))
		autoscaler := harness.Autoscaler(s.namespace, autoscalingv2.CrossVersionObjectReference{
			APIVersion: dsv1.GroupVersion.String(), Kind: dsv1.RoleScalerKind, Name: prefillScaler,
		})
		Expect(shared.Client.Create(s.ctx, autoscaler)).To(Succeed())
		s.awaitRole("prefill", 3)
		mark := s.History().Mark()
		s.change(image(better), slow("500ms"))
		s.awaitSteps(2, s.now().Status.CurrentRevision, mark)
		s.autoscale(8)
		s.awaitRole("prefill", 5)
		s.awaitAvailable()
		watch := s.report(mark)
		expectWhole(watch)
		Expect(watch.Roles["0/prefill"].MinReady).To(BeNumerically(">=", 3))
		s.get(prefillScaler, autoscaler)
		Expect(autoscaler.Status.Conditions).To(ContainElement(And(
			HaveField("Type", autoscalingv2.AbleToScale), HaveField("Status", corev1.ConditionTrue),
		)))
		scaler := &dsv1.DisaggregatedSetRoleScaler{}
		s.get(prefillScaler, scaler)
		Expect(scaler.Status.Selector).To(Equal("disaggregatedset.x-k8s.io/name=llm,disaggregatedset.x-k8s.io/role=prefill,leaderworkerset.sigs.k8s.io/worker-index=0"))
	})

	It("gets its scaler back with the number that runs", func() {
		s := begin()
		s.up(dstest.New(set).Roles(newRole("prefill", 1).External(), newRole("decode", 1)).Slices(2))
		s.autoscale(5)
		s.awaitRole("prefill", 5)
		before := s.uids()
		scaler := &dsv1.DisaggregatedSetRoleScaler{}
		s.get(prefillScaler, scaler)
		old := scaler.UID
		Expect(shared.Client.Delete(s.ctx, scaler)).To(Succeed())
		s.await("another scaler", func() (string, bool) {
			found := &dsv1.DisaggregatedSetRoleScaler{}
			err := shared.Client.Get(s.ctx, s.Key(prefillScaler), found)
			return fmt.Sprint(err, found.Spec), err == nil && found.UID != old && dsv1.ScalerReplicas(found) == 5
		})
		s.awaitRole("prefill", 5)
		Expect(s.uids()).To(Equal(before))
	})
})
