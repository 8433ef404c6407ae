//go:build integration

package disaggregatedset

import (
	"errors"
	"fmt"

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

// invariants fails as soon as anybody could see a budget broken or a revision that
// is ready without one of its roles.
type invariants struct {
	floor, ceiling map[string]int32
	lowest         map[string]int32
	highest        map[string]int32
}

func watchInvariants(w *world, floor, ceiling map[string]int32) *invariants {
	i := &invariants{floor: floor, ceiling: ceiling, lowest: map[string]int32{}, highest: map[string]int32{}}
	w.watch = i.check
	return i
}

func (i *invariants) check(w *world) {
	GinkgoHelper()
	i.checkBudgets(w)
	w.expectNoOrphans()
}

func (i *invariants) checkBudgets(w *world) {
	GinkgoHelper()
	ready, replicas := map[string]int32{}, map[string]int32{}
	for _, set := range w.sets() {
		key, _ := identity.KeyOf(set.Labels)
		role := fmt.Sprintf("%d/%s", key.Slice, key.Role)
		ready[role] += min(set.Status.ReadyReplicas, *set.Spec.Replicas)
		replicas[role] += *set.Spec.Replicas
	}
	for role, floor := range i.floor {
		Expect(ready[role]).To(BeNumerically(">=", floor), "ready replicas of %s: %s", role, w.describe())
		if lowest, ok := i.lowest[role]; !ok || ready[role] < lowest {
			i.lowest[role] = ready[role]
		}
	}
	for role, ceiling := range i.ceiling {
		Expect(replicas[role]).To(BeNumerically("<=", ceiling), "replicas of %s: %s", role, w.describe())
		i.highest[role] = max(i.highest[role], replicas[role])
	}
}

// expectNoOrphans looks at whole reconciles: no revision has one role without the
// others.
func (w *world) expectNoOrphans() {
	GinkgoHelper()
	some, lacks := map[string]bool{}, map[string]bool{}
	for _, set := range w.sets() {
		key, _ := identity.KeyOf(set.Labels)
		revision := fmt.Sprintf("%d/%s sliceless %v", key.Slice, key.Revision, key.Sliceless)
		if *set.Spec.Replicas > 0 {
			some[revision] = true
		} else {
			lacks[revision] = true
		}
	}
	for revision := range some {
		Expect(lacks[revision]).To(BeFalse(), "revision %s lacks a role: %s", revision, w.describe())
	}
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
