package leaderworkerset

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/cluster/sim"
)

// exhaust makes a set of two groups of two, of which the second has stopped: its pods
// have ended and carry the manager's finalizer.
func (s *scenario) exhaust(name string) *lwsv1.LeaderWorkerSet {
	GinkgoHelper()
	set := s.create(newSet(name).Replicas(2).Size(2).MaxGroupRestarts(0))
	s.awaitAvailable(name)
	s.awaitMemory(name, 2)
	Expect(sim.Restart(s.ctx, s.env.Kube, s.namespace, name+"-1-1", "worker")).To(Succeed())
	s.awaitRetained(name+"-1", name+"-1-1")
	return set
}

// awaitRetained waits until these pods, and no others, have ended and are held by the
// manager's finalizer.
func (s *scenario) awaitRetained(names ...string) {
	GinkgoHelper()
	s.await(fmt.Sprintf("only %v are retained", names), func() (string, bool) {
		var pods corev1.PodList
		if err := s.env.Client.List(s.ctx, &pods, client.InNamespace(s.namespace)); err != nil {
			return err.Error(), false
		}
		var held []string
		for i := range pods.Items {
			pod := &pods.Items[i]
			hasEnded := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
			if pod.DeletionTimestamp != nil && hasEnded && slices.Contains(pod.Finalizers, lwsv1.GroupRestartBudgetCleanupFinalizer) {
				held = append(held, pod.Name)
			}
		}
		slices.Sort(held)
		return strings.Join(held, ", "), slices.Equal(held, names)
	})
}

var _ = Describe("Removing the manager", Serial, func() {
	It("after stopped groups were recovered leaves no pod stuck", func() {
		s := begin()
		set := s.exhaust("remove")
		out, errs := s.kubectl("lws", "drain")
		Expect(errs).To(BeEmpty())
		Expect(out).To(Equal("Group 1 of LeaderWorkerSet " + s.namespace + "/remove is asked for, by its leader remove-1\nNo pod is held by lws-manager\n"))
		s.awaitRetained()
		s.awaitAvailable("remove")
		Expect(s.env.Manager.Stop()).To(Succeed())
		DeferCleanup(func() { Expect(s.env.Manager.Restart(s.ctx)).To(Succeed()) })
		s.remove(set)
		s.awaitNothingLeft("remove")
	})

	It("too early leaves the pods of stopped groups, which go without their finalizer", func() {
		s := begin()
		set := s.exhaust("early")
		Expect(s.env.Manager.Stop()).To(Succeed())
		DeferCleanup(func() { Expect(s.env.Manager.Restart(s.ctx)).To(Succeed()) })
		s.remove(set)
		s.awaitPods("early", "early-1", "early-1-1")
		s.awaitRetained("early-1", "early-1-1")
		_, errs := s.kubectl("lws", "drain", "early", "--timeout=1s")
		Expect(errs).To(ContainSubstring("does lws-manager run?"))
		out, errs := s.kubectl("lws", "drain", "early", "--remove-finalizers")
		Expect(errs).To(BeEmpty())
		Expect(out).To(HaveSuffix("No pod is held by lws-manager\n"))
		s.awaitNothingLeft("early")
	})
})
