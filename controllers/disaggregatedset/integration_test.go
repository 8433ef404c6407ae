//go:build integration

package disaggregatedset

import (
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
)

func pair(prefill, decode int32) *dstest.Builder {
	return dstest.New("llm").Roles(budgeted("prefill", prefill), budgeted("decode", decode))
}

var _ = Describe("A DisaggregatedSet", func() {
	It("comes up, is at rest, and costs nothing then", func(ctx SpecContext) {
		w := newWorld(ctx, pair(3, 2).Slices(2))
		_, err := w.reconcile()
		Expect(err).NotTo(HaveOccurred())
		Expect(w.condition(dsv1.ConditionProgressing).Status).To(Equal(metav1.ConditionTrue))
		Expect(w.condition(dsv1.ConditionAvailable).Status).To(Equal(metav1.ConditionFalse))
		Expect(w.condition(dsv1.ConditionDegraded).Status).To(Equal(metav1.ConditionFalse))
		w.settle()
		Expect(w.replicas()).To(Equal([]string{"0/decode 2", "0/prefill 3", "1/decode 2", "1/prefill 3"}))
		Expect(w.services()).To(HaveLen(4))
		Expect(w.condition(dsv1.ConditionAvailable).Reason).To(Equal(dsv1.ReasonAllRolesReady))
		status := w.reload().Status
		Expect(status.Summary).To(Equal("prefill 6/6 decode 4/4"))
		Expect([]int32{status.Slices, status.UpdatedSlices, status.ReadySlices}).To(Equal([]int32{2, 2, 2}))
		Expect(status.RoleStatuses).To(Equal([]dsv1.RoleStatus{
			{Name: "prefill", Replicas: 6, ReadyReplicas: 6, UpdatedReplicas: 6},
			{Name: "decode", Replicas: 4, ReadyReplicas: 4, UpdatedReplicas: 4},
		}))

		for range 3 {
			_, err := w.reconcile()
			Expect(err).NotTo(HaveOccurred())
			Expect(w.counting.writes).To(BeEmpty())
			Expect(w.counting.lists).To(Equal(map[string]int{
				"*v1.LeaderWorkerSetList": 1, "*v1.ServiceList": 1, "*v1.DisaggregatedSetRoleScalerList": 1,
			}))
			Expect(w.counting.gets).To(Equal(map[string]int{"*v1.DisaggregatedSet": 1}))
		}
		w.restart()
		_, err = w.reconcile()
		Expect(err).NotTo(HaveOccurred())
		Expect(w.counting.writes).To(BeEmpty(), "a manager that starts anew")
	})

	It("is left as it is while a manager that begins does not know LeaderWorkerSets yet", func(ctx SpecContext) {
		w := newWorld(ctx, pair(2, 1))
		w.settle()
		before := w.reload().ResourceVersion
		w.restart()
		w.reconciler.watching = func() bool { return false }
		result, err := w.reconcile()
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(BeNumerically(">", 0))
		Expect(w.counting.writes).To(BeEmpty())
		w.reconciler.unserved = func() string { return "they are not served" }
		_, err = w.reconcile()
		Expect(err).NotTo(HaveOccurred())
		Expect(w.condition(dsv1.ConditionProgressing).Reason).To(Equal(dsv1.ReasonSetAPINotAvailable))
		Expect(before).NotTo(Equal(w.reload().ResourceVersion))
	})

	It("ends the same wherever the manager dies", func(ctx SpecContext) {
		w := newWorld(ctx, pair(3, 2))
		w.settle()
		watchInvariants(w, map[string]int32{"0/prefill": 3, "0/decode": 2}, map[string]int32{"0/prefill": 4, "0/decode": 3})
		orphansLater := w.watch
		died, writes := 0, 0
		w.change(image("server:2"))
		for round := 0; ; round++ {
			Expect(round).To(BeNumerically("<", 500), w.describe())
			// Every second reconcile ends before one of its writes, each time another.
			w.restart()
			w.watch = nil
			if round%2 == 0 {
				nth := round / 2 % 6
				w.counting.refuse = func(write string) error {
					if nth--; nth < 0 {
						died++
						return errors.New("the manager died before: " + write)
					}
					return nil
				}
			}
			_, err := w.reconcile()
			writes += len(w.counting.writes)
			if w.counting.refuse == nil {
				Expect(err).NotTo(HaveOccurred())
				orphansLater(w)
			}
			if !w.becomeReady() && len(w.counting.writes) == 0 && w.counting.refuse == nil {
				break
			}
		}
		Expect(died).To(BeNumerically(">", 5))
		Expect(w.replicas()).To(Equal([]string{"0/decode 2", "0/prefill 3"}))
		Expect(w.services()).To(HaveLen(2))
		w.restart()
		_, err := w.reconcile()
		Expect(err).NotTo(HaveOccurred())
		Expect(w.condition(dsv1.ConditionAvailable).Status).To(Equal(metav1.ConditionTrue))
	})

	It("keeps live fields in sync without a revision", func(ctx SpecContext) {
		w := newWorld(ctx, pair(2, 1))
		w.settle()
		revision, uids := w.revision(), map[string]bool{}
		for _, set := range w.sets() {
			uids[string(set.UID)] = true
		}
		w.change(func(spec *dsv1.DisaggregatedSetSpec) {
			r := &spec.Roles[0]
			r.Labels, r.Annotations = map[string]string{"tier": "gold"}, map[string]string{"note": "x"}
			r.Spec.LeaderWorkerTemplate.RestartPolicy = lwsv1.RecreateGroupAfterStart
			r.Spec.LeaderWorkerTemplate.MaxGroupRestarts = ptr.To(int32(3))
			r.Spec.StartupPolicy = lwsv1.LeaderReadyStartupPolicy
			r.Spec.PodTerminationPolicy = lwsv1.ParallelPodTermination
		})
		w.settle()
		check := func(labelled bool) {
			for _, set := range w.sets() {
				Expect(uids).To(HaveKey(string(set.UID)))
				if key, _ := identity.KeyOf(set.Labels); key.Role != "prefill" {
					continue
				}
				if labelled {
					Expect(set.Labels).To(HaveKeyWithValue("tier", "gold"))
					Expect(set.Spec.LeaderWorkerTemplate.MaxGroupRestarts).To(HaveValue(BeEquivalentTo(3)))
					Expect(set.Spec.StartupPolicy).To(Equal(lwsv1.LeaderReadyStartupPolicy))
				} else {
					Expect(set.Labels).NotTo(HaveKey("tier"))
					Expect(set.Annotations).NotTo(HaveKey("note"))
					Expect(set.Spec.LeaderWorkerTemplate.MaxGroupRestarts).To(BeNil())
				}
			}
		}
		check(true)
		w.change(func(spec *dsv1.DisaggregatedSetSpec) {
			r := &spec.Roles[0]
			r.Labels, r.Annotations = nil, nil
			r.Spec.LeaderWorkerTemplate.MaxGroupRestarts = nil
		})
		w.settle()
		check(false)
		Expect(w.revision()).To(Equal(revision))
	})

	It("repairs what somebody changed by hand", func(ctx SpecContext) {
		w := newWorld(ctx, pair(2, 1))
		w.settle()
		for _, set := range w.sets() {
			edited := set.DeepCopy()
			edited.Spec.Replicas = ptr.To(int32(9))
			edited.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = "mine"
			Expect(live.Patch(ctx, edited, client.MergeFrom(&set), client.FieldOwner("somebody"))).To(Succeed())
		}
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.services()[0]}}
		Expect(live.Delete(ctx, service)).To(Succeed())
		w.settle()
		Expect(w.replicas()).To(Equal([]string{"0/decode 1", "0/prefill 2"}))
		Expect(w.services()).To(HaveLen(2))
		for _, set := range w.sets() {
			Expect(set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image).NotTo(Equal("mine"))
		}
	})

	It("leaves alone what is somebody else's, says so, and goes on", func(ctx SpecContext) {
		w := newWorld(ctx, pair(2, 1).Slices(2))
		_, err := w.reconcile()
		Expect(err).NotTo(HaveOccurred())
		revision := w.revision()
		foreign := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "llm-0-" + revision + "-prefill-prv"},
			Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}, Selector: map[string]string{"app": "mine"}},
		}
		Expect(live.Create(ctx, foreign)).To(Succeed())
		for range 4 {
			w.becomeReady()
			_, err := w.reconcile()
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(w.services()).To(HaveLen(4))
		kept := &corev1.Service{}
		Expect(live.Get(ctx, client.ObjectKeyFromObject(foreign), kept)).To(Succeed())
		Expect(kept.ResourceVersion).To(Equal(foreign.ResourceVersion))
		progressing := w.condition(dsv1.ConditionProgressing)
		Expect(progressing.Reason).To(Equal(dsv1.ReasonNameConflict))
		Expect(progressing.Message).To(ContainSubstring(foreign.Name))
		Expect(w.told()[dsv1.ReasonNameConflict]).To(Equal(1))
		result, err := w.reconcile()
		Expect(err).NotTo(HaveOccurred())
		Expect(result.RequeueAfter).To(BeNumerically(">", 0), "the name is looked at again")
		Expect(live.Delete(ctx, foreign)).To(Succeed())
		w.restart()
		w.settle()
		Expect(w.condition(dsv1.ConditionAvailable).Status).To(Equal(metav1.ConditionTrue))
	})

	It("adds and removes slices without a rollout", func(ctx SpecContext) {
		w := newWorld(ctx, pair(2, 1))
		w.settle()
		revision := w.revision()
		w.change(func(spec *dsv1.DisaggregatedSetSpec) { spec.Slices = ptr.To(int32(3)) })
		w.settle()
		Expect(w.replicas()).To(HaveLen(6))
		Expect(w.reload().Status.Slices).To(BeEquivalentTo(3))
		w.told()
		w.change(func(spec *dsv1.DisaggregatedSetSpec) { spec.Slices = ptr.To(int32(1)) })
		w.settle()
		Expect(w.replicas()).To(Equal([]string{"0/decode 1", "0/prefill 2"}))
		Expect(w.services()).To(HaveLen(2))
		Expect(w.revision()).To(Equal(revision))
		events := w.told()
		Expect(events[dsv1.ReasonLWSDeleted]).To(Equal(2))
		Expect(events).To(HaveLen(1))
	})

	It("reports a LeaderWorkerSet that is degraded", func(ctx SpecContext) {
		w := newWorld(ctx, pair(2, 1))
		w.settle()
		set := w.sets()[0]
		before := set.DeepCopy()
		set.Status.Conditions = []metav1.Condition{{
			Type: lwsv1.ConditionDegraded, Status: metav1.ConditionTrue, Reason: lwsv1.ReasonReplicaRestartBudgetExceeded,
			Message: "group 0 has spent its budget", LastTransitionTime: metav1.Now(),
		}}
		Expect(live.Status().Patch(ctx, &set, client.MergeFrom(before))).To(Succeed())
		_, err := w.reconcile()
		Expect(err).NotTo(HaveOccurred())
		degraded := w.condition(dsv1.ConditionDegraded)
		Expect(degraded.Status).To(Equal(metav1.ConditionTrue))
		Expect(degraded.Reason).To(Equal(dsv1.ReasonRoleDegraded))
		Expect(degraded.Message).To(And(ContainSubstring("slice 0"), ContainSubstring("decode"), ContainSubstring("spent its budget")))
	})
})
