//go:build integration

package group

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// recreation are the writes of a recreation and of the group that follows.
var recreation = []string{"delete Pod x-0", "patch Pod x-0", "create StatefulSet x-0", "patch Pod x-0"}

func restartPolicy(p lwsv1.RestartPolicyType) func(*lwstest.Builder) {
	return func(b *lwstest.Builder) { b.RestartPolicy(p) }
}

var _ = ginkgo.Describe("a failure", func() {
	causes := map[string]func(*world){
		"worker deleted":          func(w *world) { w.deleteNow("x-0-1", metav1.DeletePropagationBackground) },
		"worker deleted and gone": func(w *world) { w.deleteNow("x-0-1", metav1.DeletePropagationBackground); w.endPods() },
		"worker's container":      func(w *world) { w.restartContainer("x-0-2", 1) },
		"leader's container":      func(w *world) { w.restartContainer("x-0", 1) },
		"worker failed": func(w *world) {
			w.setStatus("x-0-2", func(s *corev1.PodStatus) { s.Phase, s.Reason = corev1.PodFailed, "Evicted" })
		},
		"two workers at once":    func(w *world) { w.restartContainer("x-0-1", 1); w.deleteNow("x-0-2", metav1.DeletePropagationOrphan) },
		"worker replaced unseen": func(w *world) { w.deleteNow("x-0-1", metav1.DeletePropagationBackground); w.endPods(); w.makePods() },
		"worker replaced and runs": func(w *world) {
			w.deleteNow("x-0-1", metav1.DeletePropagationBackground)
			w.endPods()
			w.makePods()
			w.runPods()
		},
		"worker StatefulSet deleted in the background": func(w *world) {
			w.remove(w.workers("x-0"), metav1.DeletePropagationBackground)
			w.collectGarbage()
		},
		"worker StatefulSet deleted in the foreground": func(w *world) {
			w.remove(w.workers("x-0"), metav1.DeletePropagationForeground)
			w.collectGarbage()
		},
	}
	for _, name := range slices.Sorted(maps.Keys(causes)) {
		for _, restart := range []bool{false, true} {
			ginkgo.It(fmt.Sprintf("recreates the group once: %s, manager down %v", name, restart), func(ctx ginkgo.SpecContext) {
				w := running(ctx, ofSize(3))
				before := w.uids()
				causes[name](w)
				if restart {
					w.sync()
					w.restart()
				}
				w.settle()
				w.expectRunning("x-0", "x-0-1", "x-0-2")
				w.expectAllNew(before)
				Expect(w.wrote()).To(Equal(recreation))
				Expect(w.toldReasons()).To(Equal([]string{lwsv1.ReasonRecreateGroup}))
				w.expectNoErrors()
			})
		}
	}

	ginkgo.It("is told with its cause", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(3))
		w.restartContainer("x-0-2", 1)
		w.work()
		Expect(w.told()).To(Equal([]string{
			"Normal RecreateGroup Recreating group 0: container worker of pod x-0-2 restarted (OOMKilled, exit code 137)",
		}))
		leader := w.pod("x-0")
		Expect(leader.Finalizers).To(ContainElement(metav1.FinalizerDeleteDependents), "leader and workers end together")
	})

	ginkgo.It("before the group was whole recreates it as well", func(ctx ginkgo.SpecContext) {
		w := newWorld(ctx, ofSize(3))
		w.pending["x-0-2"] = ""
		w.settle()
		before := w.uids()
		w.deleteNow("x-0-1", metav1.DeletePropagationBackground)
		w.endPods()
		w.makePods()
		delete(w.pending, "x-0-2")
		w.settle()
		w.expectRunning("x-0", "x-0-1", "x-0-2")
		w.expectAllNew(before)
		Expect(w.toldReasons()).To(Equal([]string{lwsv1.ReasonRecreateGroup}))
	})

	ginkgo.It("of an init container while the pod is pending recreates the group", func(ctx ginkgo.SpecContext) {
		w := newWorld(ctx, ofSize(2))
		w.pending["x-0-1"] = ""
		w.settle()
		before := w.pod("x-0").UID
		w.setStatus("x-0-1", func(s *corev1.PodStatus) {
			s.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", RestartCount: 1}}
		})
		delete(w.pending, "x-0-1")
		w.settle()
		Expect(w.pod("x-0").UID).NotTo(Equal(before))
	})

	ginkgo.It("of the leader is one recreation, by its StatefulSet", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(3))
		before := w.uids()
		w.setStatus("x-0", func(s *corev1.PodStatus) { s.Phase = corev1.PodFailed })
		w.settle()
		w.expectRunning("x-0", "x-0-1", "x-0-2")
		w.expectAllNew(before)
		Expect(w.toldReasons()).NotTo(ContainElement(lwsv1.ReasonRecreateGroup))
		w.expectNoErrors()
	})

	ginkgo.It("of a pod that a finalizer of others holds waits for that pod and says so", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(3, func(b *lwstest.Builder) { b.Replicas(2) }))
		p := w.pod("x-0-1")
		p.Finalizers = append(p.Finalizers, "example.com/hold")
		Expect(live.Update(ctx, p)).To(Succeed())
		other := w.pod("x-1").UID
		w.deleteNow("x-0-2", metav1.DeletePropagationBackground)
		w.settle()
		Expect(w.pod("x-1").UID).To(Equal(other))
		Expect(w.problem(0)).To(BeNil(), "not before the grace period is over")
		Expect(w.after[w.group(0)]).To(BeNumerically(">", 0))

		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		w.wake(0)
		Expect(w.problem(0).Reason).To(Equal(lwsv1.ReasonPredecessorTerminating))
		Expect(w.problem(0).Message).To(ContainSubstring("pod x-0-1 on node node-a, which is held by the finalizer example.com/hold"))
		w.wake(0)
		w.removeFinalizer(w.pod("x-0-1"), "example.com/hold")
		w.settle()
		w.expectRunning("x-0", "x-0-1", "x-0-2", "x-1", "x-1-1", "x-1-2")
		Expect(w.problem(0)).To(BeNil())
		w.expectNoErrors()
	})

	ginkgo.It("of a node says which pod it waits for, and what frees it", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2))
		w.hanging["x-0-1"] = true
		w.deleteNow("x-0-1", metav1.DeletePropagationBackground)
		w.settle()
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		w.told()
		w.wake(0)
		Expect(w.problem(0).Message).To(And(ContainSubstring("pod x-0-1 on node node-a"),
			ContainSubstring("Node node-a is deleted"), ContainSubstring("node.kubernetes.io/out-of-service")))
		Expect(w.toldReasons()).To(Equal([]string{lwsv1.ReasonGroupReplacementDeferred}))
		w.wake(0)
		Expect(w.told()).To(BeEmpty(), "told once")
		delete(w.hanging, "x-0-1")
		w.settle()
		w.expectRunning("x-0", "x-0-1")
	})

	ginkgo.It("follows the policy of the moment", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(3))
		uids := w.uids()
		w.change(func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.RestartPolicy = lwsv1.NoneRestartPolicy
		})
		w.settle()
		Expect(w.uids()).To(Equal(uids), "a change of the policy restarts nothing")
		w.deleteNow("x-0-1", metav1.DeletePropagationBackground)
		w.settle()
		Expect(w.pod("x-0").UID).To(Equal(uids["x-0"]))
		Expect(w.pod("x-0-1").UID).NotTo(Equal(uids["x-0-1"]))
	})
})

var _ = ginkgo.Describe("RecreateGroupAfterStart", func() {
	afterStart := restartPolicy(lwsv1.RecreateGroupAfterStart)

	ginkgo.It("leaves failures before the start to Kubernetes", func(ctx ginkgo.SpecContext) {
		w := newWorld(ctx, ofSize(3, afterStart))
		w.pending["x-0-2"] = "0/4 nodes are available"
		w.settle()
		leader := w.pod("x-0").UID
		w.restartContainer("x-0-1", 2)
		w.settle()
		Expect(w.told()).To(Equal([]string{"Warning GroupUnschedulable Not recreating group 0: container worker of pod x-0-1 restarted " +
			"(OOMKilled, exit code 137) while pod x-0-2 cannot be scheduled: 0/4 nodes are available"}))
		w.wake(0)
		Expect(w.told()).To(BeEmpty(), "told once for each cause")

		ginkgo.By("and takes what the group is when it has started for the baseline")
		delete(w.pending, "x-0-2")
		w.settle()
		Expect(w.pod("x-0").UID).To(Equal(leader))
		Expect(parseMemory(w.pod("x-0").Annotations[lwsv1.GroupMembersAnnotationKey]).Restarts).To(Equal(map[string]int32{"1/worker": 2}))
		w.restart()
		w.settle()
		Expect(w.pod("x-0").UID).To(Equal(leader))

		ginkgo.By("from which on every failure counts")
		before := w.uids()
		w.restartContainer("x-0-1", 3)
		w.settle()
		w.expectRunning("x-0", "x-0-1", "x-0-2")
		w.expectAllNew(before)
	})

	ginkgo.It("counts a loss also if the replacement is pending", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(3, afterStart))
		before := w.uids()
		w.pending["x-0-1"] = "0/4 nodes are available"
		w.deleteNow("x-0-1", metav1.DeletePropagationBackground)
		w.settle()
		delete(w.pending, "x-0-1")
		w.settle()
		w.expectRunning("x-0", "x-0-1", "x-0-2")
		w.expectAllNew(before)
	})
})

// orders are ways to delete pods of a group.
var _ = ginkgo.Describe("deletions of any pods in any way", func() {
	policies := []metav1.DeletionPropagation{
		metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
	}
	members := []string{"x-0", "x-0-1", "x-0-2"}
	for subset := 1; subset < 1<<len(members); subset++ {
		for _, policy := range policies {
			for _, eager := range []bool{true, false} {
				ginkgo.It(fmt.Sprintf("are one recreation: subset %03b, %s, manager at once %v", subset, policy, eager), func(ctx ginkgo.SpecContext) {
					w := running(ctx, ofSize(3))
					before := w.uids()
					// The leader last: its replacement comes while workers are ending.
					for i := range slices.Backward(members) {
						if subset&(1<<i) == 0 {
							continue
						}
						w.deleteNow(members[i], policy)
						if eager {
							w.work()
						}
					}
					w.settle()
					w.expectRunning(members...)
					w.expectAllNew(before)
					w.expectOneGeneration(before)
					w.expectNoErrors()
				})
			}
		}
	}
})

// expectOneGeneration checks that the manager deleted no leader but the one that was
// there before, and that nothing else is left.
func (w *world) expectOneGeneration(before map[string]types.UID) {
	ginkgo.GinkgoHelper()
	recreated := 0
	for _, reason := range w.toldReasons() {
		if reason == lwsv1.ReasonRecreateGroup {
			recreated++
		}
	}
	Expect(recreated).To(BeNumerically("<=", 1))
	Expect(w.statefulSets()).To(HaveLen(2))
	owner := metav1.GetControllerOf(w.workers("x-0"))
	Expect(owner.UID).To(Equal(w.pod("x-0").UID))
	Expect(w.leaders).To(HaveLen(2), "leaders that were made, the first one included")
}
