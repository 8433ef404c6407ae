package leaderworkerset

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/cluster/sim"
)

func subdomains(policy lwsv1.SubdomainPolicy) func(*lwsv1.LeaderWorkerSet) {
	return func(set *lwsv1.LeaderWorkerSet) { set.Spec.NetworkConfig.SubdomainPolicy = &policy }
}

// awaitServices waits until the Services of a set are exactly those of some names.
func (s *scenario) awaitServices(set string, names ...string) {
	GinkgoHelper()
	Eventually(func() []string {
		services := &corev1.ServiceList{}
		s.list(services, lwsv1.SetNameLabelKey, set)
		var found []string
		for _, service := range services.Items {
			found = append(found, service.Name)
		}
		return found
	}).WithTimeout(patience).Should(ConsistOf(names))
}

var _ = Describe("The subdomain policy", func() {
	It("changes in a rollout: old groups keep their names, and a Service that nobody uses goes", func() {
		s := begin()
		name := s.up(newSet("net").Replicas(3).Size(2).MaxUnavailable("1").MaxSurge("0"))
		s.awaitServices(name, "net")

		By("rolling out names of their own, as far as the new groups start")
		s.change(name, all(subdomains(lwsv1.SubdomainUniquePerReplica), hanging(sim.HangUnready)))
		s.await("the first group is replaced", func() (string, bool) {
			pod := s.Pods(name)["net-2-1"]
			return "net-2-1 is not", pod != nil && len(s.History().UIDs(name)["net-2-1"]) == 2
		})
		s.awaitServices(name, "net", "net-2")
		for pod, address := range map[string]string{"net-2-1": "net-2.net-2", "net-1-1": "net-1.net"} {
			Expect(environment(&s.Pods(name)[pod].Spec.Containers[0])).To(HaveKeyWithValue("LWS_LEADER_ADDRESS", address+"."+s.namespace))
		}

		By("finishing")
		s.settle(name, hanging(""))
		s.awaitServices(name, "net-0", "net-1", "net-2")

		By("going back")
		s.settle(name, subdomains(lwsv1.SubdomainShared))
		s.awaitServices(name, "net")
		for index := range 3 {
			leader := &corev1.Pod{}
			s.get(fmt.Sprintf("net-%d", index), leader)
			Expect(leader.Spec.Subdomain).To(Equal("net"))
		}
	})
})
