package leaderworkerset

import (
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

const reconciles = "controller_runtime_reconcile_total"

var _ = Describe("The manager", Serial, func() {
	It("asks for nothing and writes nothing at rest, however often it is woken", func(ctx SpecContext) {
		s := begin()
		s.create(newSet("rest").Replicas(3).Size(3))
		s.create(newSet("quiet").Replicas(2).Size(1))
		for _, name := range []string{"rest", "quiet"} {
			s.awaitAvailable(name)
			s.touchAndAwaitReaction(name)
		}
		s.awaitMemory("rest", 3)
		metrics, err := s.env.Metrics(ctx, s.namespace)
		Expect(err).NotTo(HaveOccurred())
		looks := func(controller string) float64 {
			sum, err := metrics.Sum(ctx, reconciles, map[string]string{"controller": controller})
			Expect(err).NotTo(HaveOccurred())
			return sum
		}
		audit := s.env.Audit(managers.LWS())
		_, err = audit.Next()
		Expect(err).NotTo(HaveOccurred())
		for _, nonce := range []string{"a", "b", "c", "d", "e"} {
			before := looks("leaderworkerset")
			for _, pod := range []string{"rest-0", "rest-1-2", "rest-2", "quiet-1"} {
				s.patch(&corev1.Pod{}, pod, `{"metadata":{"annotations":{"somebody":"`+nonce+`"}}}`)
			}
			Eventually(func() float64 { return looks("leaderworkerset") }).WithTimeout(patience).Should(BeNumerically(">", before))
		}
		Expect(s.sent(audit)).To(BeEmpty())

		By("starting anew, which looks at everything")
		Expect(s.env.Manager.Restart(ctx)).To(Succeed())
		metrics, err = s.env.Metrics(ctx, s.namespace)
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() bool {
			return looks("leaderworkerset") >= 2 && looks("group") >= 5
		}).WithTimeout(patience).Should(BeTrue(), "two sets and five groups are looked at")
		for _, request := range s.sent(audit) {
			Expect(request.IsWrite()).To(BeFalse(), "%v %s", request, request.Name)
		}
		s.expectUndisturbed("rest")
		s.expectUndisturbed("quiet")
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

	It("may be down without others noticing", func() {
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

// sent are the requests about the namespace since the audit log was read.
func (s *scenario) sent(audit *harness.AuditLog) []harness.Request {
	GinkgoHelper()
	requests, err := audit.Next()
	Expect(err).NotTo(HaveOccurred())
	return slices.DeleteFunc(requests, func(r harness.Request) bool { return r.Namespace != s.namespace })
}
