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

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

func restartPolicy(p lwsv1.RestartPolicyType) func(*lwstest.Builder) {
	return func(b *lwstest.Builder) { b.RestartPolicy(p) }
}

func replicas(n int) func(*lwstest.Builder) {
	return func(b *lwstest.Builder) { b.Replicas(int32(n)) }
}

// causes are failures of a group of three by the name of its leader.
var causes = map[string]func(w *world, leader string){
	"worker deleted": func(w *world, leader string) {
		w.deleteNow(leader+"-1", metav1.DeletePropagationBackground)
	},
	"worker gone": func(w *world, leader string) {
		w.deleteNow(leader+"-1", metav1.DeletePropagationBackground)
		w.endPods()
	},
	"worker's container": func(w *world, leader string) { w.restartContainer(leader+"-2", 1) },
	"leader's container": func(w *world, leader string) { w.restartContainer(leader, 1) },
	"worker failed": func(w *world, leader string) {
		w.setStatus(leader+"-2", func(s *corev1.PodStatus) { s.Phase, s.Reason = corev1.PodFailed, "Evicted" })
	},
	"two workers at once": func(w *world, leader string) {
		w.restartContainer(leader+"-1", 1)
		w.deleteNow(leader+"-2", metav1.DeletePropagationOrphan)
	},
	"worker replaced": func(w *world, leader string) {
		w.deleteNow(leader+"-1", metav1.DeletePropagationBackground)
		w.endPods()
		w.makePods()
	},
	"worker replaced and running": func(w *world, leader string) {
		w.deleteNow(leader+"-1", metav1.DeletePropagationBackground)
		w.endPods()
		w.makePods()
		w.runPods()
	},
	"worker StatefulSet deleted in the background": func(w *world, leader string) {
		w.remove(w.workers(leader), metav1.DeletePropagationBackground)
		w.collectGarbage()
	},
	"worker StatefulSet deleted in the foreground": func(w *world, leader string) {
		w.remove(w.workers(leader), metav1.DeletePropagationForeground)
		w.collectGarbage()
	},
}

var _ = ginkgo.Describe("a failure", func() {
	for _, down := range []bool{false, true} {
		ginkgo.It(fmt.Sprintf("recreates its group once, whatever it is; manager down %v", down), func(ctx ginkgo.SpecContext) {
			names := slices.Sorted(maps.Keys(causes))
			w := running(ctx, ofSize(3, replicas(len(names))))
			before := w.uids()
			for i, name := range names {
				ginkgo.By(name)
				causes[name](w, identity.LeaderName("x", int32(i)))
			}
			if down {
				w.sync()
				w.restart()
			}
			w.settle()
			Expect(w.uids()).To(HaveLen(3 * len(names)))
			w.expectAllNew(before)
			writes := w.wrote()
			for i, name := range names {
				leader := identity.LeaderName("x", int32(i))
				Expect(ofGroup(writes, leader)).To(Equal([]string{
					"delete Pod " + leader, "patch Pod " + leader, "create StatefulSet " + leader, "patch Pod " + leader,
				}), name)
			}
			Expect(w.toldReasons()).To(HaveLen(len(names)))
			w.expectNoErrors()
		})
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

var _ = ginkgo.Describe("deletions of any pods in any way", func() {
	policies := []metav1.DeletionPropagation{
		metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
	}
	const subsets = 7 // of three pods, without the empty one
	for _, eager := range []bool{true, false} {
		ginkgo.It(fmt.Sprintf("are one recreation; manager at once %v", eager), func(ctx ginkgo.SpecContext) {
			w := running(ctx, ofSize(3, replicas(subsets*len(policies))))
			before := w.uids()
			// The leader last: its replacement comes while workers are ending.
			for member := 2; member >= 0; member-- {
				for group := range subsets * len(policies) {
					if subset := group%subsets + 1; subset&(1<<member) != 0 {
						name := identity.MemberName(identity.LeaderName("x", int32(group)), int32(member))
						w.deleteNow(name, policies[group/subsets])
					}
				}
				if eager {
					w.work()
				}
			}
			w.settle()
			Expect(w.uids()).To(HaveLen(3 * subsets * len(policies)))
			w.expectAllNew(before)
			w.expectOneGeneration(subsets * len(policies))
			w.expectNoErrors()
		})
	}
})

// expectOneGeneration checks that leaders were made twice, at first and once since,
// and that nothing but the living generations is left.
func (w *world) expectOneGeneration(groups int) {
	ginkgo.GinkgoHelper()
	Expect(w.leaders).To(HaveLen(2*groups), "leaders that were made")
	Expect(w.statefulSets()).To(HaveLen(groups + 1))
	for i := range groups {
		leader := identity.LeaderName("x", int32(i))
		Expect(metav1.GetControllerOf(w.workers(leader)).UID).To(Equal(w.pod(leader).UID))
	}
}
