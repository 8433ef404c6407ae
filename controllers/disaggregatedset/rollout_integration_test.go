//go:build integration

package disaggregatedset

import (
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
)

var _ = Describe("A DisaggregatedSet", func() {
	It("rolls out a template within the budgets", func(ctx SpecContext) {
		w := newWorld(ctx, pair(8, 4))
		w.settle()
		before := w.revision()
		seen := watchInvariants(w, map[string]int32{"0/prefill": 8, "0/decode": 4}, map[string]int32{"0/prefill": 9, "0/decode": 5})
		w.told()
		w.change(image("server:2"))
		w.settle()
		Expect(w.revision()).NotTo(Equal(before))
		Expect(w.replicas()).To(Equal([]string{"0/decode 4", "0/prefill 8"}))
		Expect(w.services()).To(HaveLen(2))
		Expect(seen.highest).To(Equal(map[string]int32{"0/prefill": 9, "0/decode": 5}), "surge was used")
		events := w.told()
		Expect(events[dsv1.ReasonRollingUpdateStarted]).To(Equal(1))
		Expect(events[dsv1.ReasonRollingUpdateCompleted]).To(Equal(1))
		Expect(events[dsv1.ReasonLWSDeleted]).To(Equal(1))
		Expect(events).To(HaveLen(3))
	})

	It("drains a broken revision before the one that serves", func(ctx SpecContext) {
		w := newWorld(ctx, pair(4, 2))
		w.settle()
		first := w.revision()
		watchInvariants(w, map[string]int32{"0/prefill": 4, "0/decode": 2}, map[string]int32{"0/prefill": 5, "0/decode": 3})
		w.change(image("broken"))
		_, err := w.reconcile()
		Expect(err).NotTo(HaveOccurred())
		second := w.revision()
		w.slow = []string{second}
		w.settle()
		Expect(w.services()).To(ConsistOf("llm-0-"+first+"-prefill-prv", "llm-0-"+first+"-decode-prv"))
		w.change(image("server:3"))
		w.settle()
		Expect(w.replicas()).To(Equal([]string{"0/decode 2", "0/prefill 4"}))
		Expect(w.condition(dsv1.ConditionAvailable).Status).To(Equal(metav1.ConditionTrue))
	})

	It("goes back to a revision that still exists", func(ctx SpecContext) {
		w := newWorld(ctx, pair(4, 2))
		w.settle()
		first, old := w.revision(), w.reload().Spec.Roles[0].Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image
		w.slow = []string{"never"}
		w.change(image("server:2"))
		for range 4 {
			_, err := w.reconcile()
			Expect(err).NotTo(HaveOccurred())
			w.becomeReady()
		}
		Expect(w.replicas()).To(HaveLen(4))
		for _, set := range w.sets() {
			key, _ := identity.KeyOf(set.Labels)
			if key.Revision == first {
				Expect(set.Annotations).To(HaveKey(dsv1.InitialReplicasAnnotationKey))
			}
		}
		w.change(image(old))
		w.settle()
		Expect(w.revision()).To(Equal(first))
		Expect(w.replicas()).To(Equal([]string{"0/decode 2", "0/prefill 4"}))
		for _, set := range w.sets() {
			Expect(set.Annotations).NotTo(HaveKey(dsv1.InitialReplicasAnnotationKey))
		}
	})

	It("gives a revision that cannot be whole no replicas", func(ctx SpecContext) {
		w := newWorld(ctx, pair(2, 1))
		w.settle()
		w.change(image("server:2"))
		w.counting.refuse = func(write string) error {
			if write == "create llm-0-"+w.revision()+"-decode" || len(write) > 7 && write[:7] == "create " && write[len(write)-6:] == "decode" {
				return errors.New("refused")
			}
			return nil
		}
		for range 3 {
			_, err := w.reconcile()
			Expect(err).To(HaveOccurred())
			w.becomeReady()
		}
		Expect(w.replicas()).To(Equal([]string{"0/decode 1", "0/prefill 0", "0/prefill 2"}))
		w.counting.refuse = nil
		w.settle()
		Expect(w.replicas()).To(Equal([]string{"0/decode 1", "0/prefill 2"}))
	})

	It("renames, adds and removes roles with the others", func(ctx SpecContext) {
		w := newWorld(ctx, pair(3, 2))
		w.settle()
		watchInvariants(w, map[string]int32{"0/decode": 2}, map[string]int32{"0/decode": 3})
		w.change(func(spec *dsv1.DisaggregatedSetSpec) {
			spec.Roles = []dsv1.DisaggregatedRoleSpec{budgeted("context", 3).Obj(), budgeted("decode", 2).Obj(), budgeted("router", 1).Obj()}
		})
		w.settle()
		Expect(w.replicas()).To(Equal([]string{"0/context 3", "0/decode 2", "0/router 1"}))
		Expect(w.reload().Status.Summary).To(Equal("context 3/3 decode 2/2 router 1/1"))
	})

	It("takes roles from an identity of their groups to the other with a rollout", func(ctx SpecContext) {
		w := newWorld(ctx, pair(3, 2))
		w.settle()
		before := w.revision()
		watchInvariants(w, map[string]int32{"0/prefill": 3, "0/decode": 2}, map[string]int32{"0/prefill": 4, "0/decode": 3})
		w.change(func(spec *dsv1.DisaggregatedSetSpec) {
			for i := range spec.Roles {
				spec.Roles[i].Spec.GroupIdentity = lwsv1.HashGroupIdentity
				spec.Roles[i].Spec.GroupReplacementPolicy = lwsv1.ImmediateGroupReplacement
			}
		})
		w.settle()
		Expect(w.revision()).NotTo(Equal(before))
		Expect(w.replicas()).To(Equal([]string{"0/decode 2", "0/prefill 3"}))
		for _, set := range w.sets() {
			Expect(set.Spec.GroupIdentity).To(Equal(lwsv1.HashGroupIdentity))
			Expect(set.Spec.GroupReplacementPolicy).To(Equal(lwsv1.ImmediateGroupReplacement))
		}
		w.change(func(spec *dsv1.DisaggregatedSetSpec) {
			for i := range spec.Roles {
				spec.Roles[i].Spec.GroupIdentity = lwsv1.OrdinalGroupIdentity
				spec.Roles[i].Spec.GroupReplacementPolicy = lwsv1.PostTerminationGroupReplacement
			}
		})
		w.settle()
		Expect(w.revision()).To(Equal(before))
	})

	It("pauses and goes on", func(ctx SpecContext) {
		w := newWorld(ctx, pair(2, 1))
		w.settle()
		scale := func(prefill, decode int32) func(*dsv1.DisaggregatedSetSpec) {
			return func(spec *dsv1.DisaggregatedSetSpec) {
				spec.Roles[0].Spec.Replicas, spec.Roles[1].Spec.Replicas = &prefill, &decode
			}
		}
		w.change(scale(0, 0))
		w.settle()
		Expect(w.replicas()).To(Equal([]string{"0/decode 0", "0/prefill 0"}))
		Expect(w.services()).To(BeEmpty())
		Expect(w.condition(dsv1.ConditionAvailable).Status).To(Equal(metav1.ConditionTrue))
		w.change(scale(2, 1))
		w.settle()
		Expect(w.replicas()).To(Equal([]string{"0/decode 1", "0/prefill 2"}))
	})
})
