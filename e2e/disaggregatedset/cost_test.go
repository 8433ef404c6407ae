package disaggregatedset

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

const (
	rest = time.Minute
	// manyPatience is for 300 LeaderWorkerSets and their pods on a machine that has
	// other work.
	manyPatience = 10 * time.Minute
	// calm is how long nothing is written before a set counts as being at rest.
	calm = 3 * time.Second
)

// manySets is how many sets are at rest; SETS_AT_REST=50 takes minutes to bring them up.
func manySets() int {
	GinkgoHelper()
	text := os.Getenv("SETS_AT_REST")
	if text == "" {
		return 12
	}
	n, err := strconv.Atoi(text)
	Expect(err).NotTo(HaveOccurred(), "SETS_AT_REST")
	return n
}

// onlyStartup changes a live field.
func onlyStartup(spec *dsv1.DisaggregatedSetSpec) {
	spec.Roles[0].Spec.StartupPolicy = lwsv1.LeaderReadyStartupPolicy
}

// sent are the requests about the namespace since the audit log was read.
func (s *scenario) sent(audit *harness.AuditLog) []harness.Request {
	GinkgoHelper()
	requests, err := audit.Next()
	Expect(err).NotTo(HaveOccurred())
	return slices.DeleteFunc(requests, func(r harness.Request) bool { return r.Namespace != s.namespace })
}

// awaitRest waits until nothing is written about the namespace any more.
func (s *scenario) awaitRest(audits ...*harness.AuditLog) {
	GinkgoHelper()
	last := time.Now()
	Eventually(func() time.Duration {
		for _, audit := range audits {
			for _, request := range s.sent(audit) {
				if request.IsWrite() && request.At.After(last) {
					last = request.At
				}
			}
		}
		return time.Since(last)
	}).WithTimeout(patience).WithPolling(200 * time.Millisecond).Should(BeNumerically(">", calm))
}

var _ = Describe("Many sets of three roles and two slices", Serial, func() {
	It("cost no request at rest", func() {
		s := begin()
		begun := time.Now()
		for i := range manySets() {
			build := dstest.New(fmt.Sprintf("set-%d", i)).Slices(2).
				Roles(newRole("prefill", 1), newRole("decode", 1), newRole("router", 1))
			Expect(shared.Client.Create(s.ctx, build.Namespace(s.namespace).Obj())).To(Succeed())
		}
		err := s.Await(s.ctx, manyPatience, func() (string, bool) {
			available := map[string]bool{}
			for _, state := range s.History().Further {
				if found, is := state.Object.(*dsv1.DisaggregatedSet); is {
					available[found.Name] = isTrue(found, dsv1.ConditionAvailable)
				}
			}
			maps.DeleteFunc(available, func(_ string, is bool) bool { return !is })
			return fmt.Sprintf("%d of %d", len(available), manySets()), len(available) == manySets()
		})
		Expect(err).NotTo(HaveOccurred(), "all are available")
		AddReportEntry("all are available after", time.Since(begun).Round(time.Millisecond), ReportEntryVisibilityAlways)
		audits := map[string]*harness.AuditLog{}
		for _, shipped := range managers.All() {
			audits[shipped.Name] = shared.Audit(shipped)
		}
		ours := audits[managers.DisaggregatedSet().Name]
		AddReportEntry("writes that brought them up", counted(s.sent(ours)), ReportEntryVisibilityAlways)
		s.awaitRest(slices.Collect(maps.Values(audits))...)
		before := cpuOf(shared.Manager)
		Consistently(func() []harness.Request {
			return slices.Concat(s.sent(ours), s.sent(audits[managers.LWS().Name]))
		}).WithTimeout(rest).WithPolling(time.Second).Should(BeEmpty())
		AddReportEntry("CPU of a minute at rest", cpuOf(shared.Manager)-before, ReportEntryVisibilityAlways)
		for _, name := range s.History().DisaggregatedSetNames() {
			watch := s.History().WatchRoles(name, harness.Mark{})
			Expect(watch.Orphans).To(BeEmpty(), name)
		}
	})
})

// cpuOf is what a manager has used.
func cpuOf(manager *harness.Manager) time.Duration {
	GinkgoHelper()
	used, err := manager.Process().CPU()
	Expect(err).NotTo(HaveOccurred())
	return used
}

// counted are requests that write by what they ask for.
func counted(requests []harness.Request) string {
	counts := map[string]int{}
	for _, request := range requests {
		if request.IsWrite() {
			counts[request.String()]++
		}
	}
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s: %d", what, counts[what]))
	}
	return strings.Join(parts, ", ")
}
