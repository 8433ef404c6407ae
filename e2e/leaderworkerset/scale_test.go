package leaderworkerset

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/lws/e2e/managers"
)

var _ = Describe("Scaling", func() {
	It("adds and removes the highest groups, whole, to zero and back", func() {
		s := begin()
		s.create(newSet("web").Replicas(1).Size(3))
		s.awaitAvailable("web")

		By("adding")
		s.settle("web", replicas(4))
		s.awaitPods("web", podNames("web", 4, 3)...)

		By("removing, by the scale subresource")
		mark := s.History().Mark()
		_, err := managers.Kubectl(s.ctx, s.env.Cluster, nil, "scale", "lws/web", "-n", s.namespace, "--replicas=2")
		Expect(err).NotTo(HaveOccurred())
		s.awaitObserved("web")
		s.awaitPods("web", podNames("web", 2, 3)...)
		s.awaitAvailable("web")
		Expect(s.History().Replaced("web", mark)).To(ConsistOf("web-2", "web-3"))
		Expect(s.History().Extremes("web", mark).MinReady).To(Equal(2), "what stays is not disturbed")
		for pod, uids := range s.History().UIDs("web") {
			Expect(uids).To(HaveLen(1), pod)
		}

		By("going to zero")
		s.settle("web", replicas(0))
		s.awaitPods("web")
		Expect(s.Set("web").Status.Summary).To(Equal("AllGroupsReady"))
		Eventually(func() int32 { return s.Set("web").Status.Replicas }).WithTimeout(patience).Should(BeZero())

		By("coming back")
		s.settle("web", replicas(2))
		s.awaitPods("web", podNames("web", 2, 3)...)
		for _, name := range podNames("web", 2, 3) {
			Expect(s.History().UIDs("web")[name]).To(HaveLen(2), name)
		}
	})

	It("follows when it is changed faster than pods start", func() {
		s := begin()
		pods := template("worker")
		pods.Annotations = map[string]string{"sim.lws.x-k8s.io/start-delay": "500ms-2s"}
		s.create(newSet("busy").Replicas(3).Size(2).WorkerTemplate(pods))
		for _, n := range []int32{6, 1, 4, 0, 5, 2} {
			s.change("busy", replicas(n))
		}
		s.awaitObserved("busy")
		s.awaitAvailable("busy")
		s.awaitPods("busy", podNames("busy", 2, 2)...)
	})

	It("makes a group and a single pod of each other with the size", func() {
		s := begin()
		s.create(newSet("size").Replicas(2).Size(1))
		s.awaitAvailable("size")
		s.settle("size", size(3))
		s.awaitPods("size", podNames("size", 2, 3)...)
		s.settle("size", size(1))
		s.awaitPods("size", podNames("size", 2, 1)...)
		Expect(s.History().Told("size", "CreatingRevision")).To(Equal(2), "the first size has its revision still")
	})
})
