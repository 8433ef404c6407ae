package disaggregatedset

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/e2e/harness"
)

// lifetime is all that a set goes through: it comes up, is rolled out, gets a second
// slice, has one role scaled, and loses the slice again. begins is called before each.
func (s *scenario) lifetime(begins func(part int)) {
	GinkgoHelper()
	begins(0)
	object := disturbedSet().Namespace(s.namespace).Obj()
	Eventually(func() error { return shared.Client.Create(s.ctx, object) }).WithTimeout(patience).Should(Succeed(), "when the webhook answers")
	s.awaitAvailable()
	for i, change := range []func(*dsv1.DisaggregatedSetSpec){
		image(better), sliced(2), replicas("decode", 3), sliced(1),
	} {
		begins(i + 1)
		Eventually(func() error {
			return harness.Change(s.ctx, shared.Client, s.Key(set), &dsv1.DisaggregatedSet{}, func(found *dsv1.DisaggregatedSet) client.Object {
				change(&found.Spec)
				return found
			})
		}).WithTimeout(patience).Should(Succeed(), "when the webhook answers")
		s.awaitAvailable()
		s.await("the set has what it wants and no more", func() (string, bool) {
			last, sets, services := s.now(), len(s.children()), len(s.services())
			want := 2 * int(*last.Spec.Slices)
			return fmt.Sprintf("%d LeaderWorkerSets and %d Services, want %d; %s", sets, services, want, statusLine(last)),
				last.Status.UpdatedSlices == *last.Spec.Slices && sets == want && services == want
		})
	}
}

// ended is what came of a lifetime: what exists, and how many lives each pod had.
func (s *scenario) ended() map[string]string {
	GinkgoHelper()
	found := map[string]string{"services": fmt.Sprint(s.services())}
	for name, child := range s.children() {
		found["LeaderWorkerSet "+name] = fmt.Sprintf("%d replicas, labels %v", *child.Spec.Replicas, child.Labels)
	}
	for name, uids := range s.everUIDs() {
		found["lives of "+name] = fmt.Sprint(len(uids))
	}
	for _, c := range s.now().Status.Conditions {
		found["condition "+c.Type] = fmt.Sprintf("%s %s %s", c.Status, c.Reason, c.Message)
	}
	return found
}

func sliced(n int32) func(*dsv1.DisaggregatedSetSpec) {
	return func(spec *dsv1.DisaggregatedSetSpec) { spec.Slices = &n }
}

var _ = Describe("A manager that dies at its writes", Serial, func() {
	It("before and after them in turn, ends where it would have ended", func(ctx SpecContext) {
		calm := begin()
		calm.lifetime(func(int) {})

		s := begin()
		breaker, err := shared.NewBreaker(s.ctx, atOnce)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			_, err := breaker.Disarm(ctx)
			Expect(err).NotTo(HaveOccurred())
			Expect(shared.Manager.Restart(ctx)).To(Succeed())
			breaker.Close()
		})
		s.lifetime(func(part int) {
			breaker.Arm([]harness.Moment{harness.AfterWrite, harness.BeforeWrite}[part%2])
		})
		crashes, err := breaker.Disarm(ctx)
		Expect(err).NotTo(HaveOccurred())
		AddReportEntry("crashes", crashes, ReportEntryVisibilityAlways)
		Expect(crashes).To(BeNumerically(">", 15))
		Expect(s.ended()).To(Equal(calm.ended()))
	})
})
