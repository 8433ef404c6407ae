package leaderworkerset

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

const reconciles = "controller_runtime_reconcile_total"

var _ = Describe("The manager", Serial, func() {
	It("writes nothing at rest, however often it is woken", func(ctx SpecContext) {
		s := begin()
		s.create(newSet("rest").Replicas(3).Size(3))
		s.create(newSet("quiet").Replicas(2).Size(1))
		s.awaitAvailable("rest")
		s.awaitAvailable("quiet")
		s.awaitMemory("rest", 3)
		metrics, err := s.env.Metrics(ctx, s.namespace)
		Expect(err).NotTo(HaveOccurred())
		reconciled := func(controller string) float64 {
			sum, err := metrics.Sum(ctx, reconciles, map[string]string{"controller": controller})
			Expect(err).NotTo(HaveOccurred())
			return sum
		}
		s.touchAndAwaitReaction("rest")
		audit := s.env.Audit(managers.LWS())
		_, err = audit.Next()
		Expect(err).NotTo(HaveOccurred())

		for _, nonce := range []string{"a", "b", "c", "d", "e"} {
			sets, groups := reconciled("leaderworkerset"), reconciled("group")
			for _, pod := range []string{"rest-0", "rest-1-2", "rest-2", "quiet-1"} {
				s.patch(&corev1.Pod{}, pod, `{"metadata":{"annotations":{"somebody":"`+nonce+`"}}}`)
			}
			Eventually(func() bool {
				return reconciled("leaderworkerset") > sets && reconciled("group") > groups
			}).WithTimeout(patience).Should(BeTrue(), "both controllers look")
		}
		requests, err := audit.Next()
		Expect(err).NotTo(HaveOccurred())
		var sent []harness.Request
		for _, request := range requests {
			if request.Resource != "leases" && request.Verb != "watch" && request.Group != "authentication.k8s.io" && request.Group != "authorization.k8s.io" {
				sent = append(sent, request)
			}
		}
		Expect(sent).To(BeEmpty(), "neither writes nor reads")
	})

	It("serves metrics to those who may read them", func(ctx SpecContext) {
		s := begin()
		metrics, err := s.env.Metrics(ctx, s.namespace)
		Expect(err).NotTo(HaveOccurred())
		code, err := metrics.Status(ctx, "")
		Expect(err).NotTo(HaveOccurred())
		Expect(code).To(Equal(http.StatusUnauthorized))
		sum, err := metrics.Sum(ctx, "controller_runtime_active_workers", nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(sum).To(BeNumerically(">=", 0))
	})

	It("may be down without others noticing", func(ctx SpecContext) {
		s := begin()
		Expect(s.env.Manager.Stop()).To(Succeed())
		DeferCleanup(func() { Expect(s.env.Manager.Restart(s.ctx)).To(Succeed()) })
		pod := &corev1.Pod{Spec: template("theirs").Spec}
		pod.Name, pod.Namespace = "theirs", s.namespace
		Expect(s.env.Client.Create(s.ctx, pod)).To(Succeed())
		Eventually(func() bool {
			s.get("theirs", pod)
			return isReady(pod)
		}).WithTimeout(patience).Should(BeTrue())
	})
})
