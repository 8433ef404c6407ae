package disaggregatedset

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/component-base/config/v1alpha1"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

// atOnce is a manager that does not wait for the lease of one that was killed.
var atOnce = managers.Options{Configure: func(c *configv1.Configuration) {
	c.LeaderElection = &v1alpha1.LeaderElectionConfiguration{LeaderElect: new(false)}
}}

// disturbedSet is rolled out in steps whose order does not depend on which pod is
// ready first.
func disturbedSet() *dstest.Builder {
	return dstest.New(set).Roles(newRole("prefill", 4, "0", "1"), newRole("decode", 2, "0", "1"))
}

// courses are those of a rollout that is over.
func (s *scenario) courses(since harness.Mark) map[string][]string {
	return s.History().Courses(set, "0", s.now().Status.CurrentRevision, since)
}

var _ = Describe("A manager", Serial, func() {
	It("that is killed at every step of a rollout takes the same steps", func(ctx SpecContext) {
		calm := begin()
		calm.up(disturbedSet())
		calmMark := calm.History().Mark()
		calm.settle(image(better), slow("500ms"))

		s := begin()
		s.up(disturbedSet())
		Expect(shared.Manager.RestartWith(ctx, atOnce)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(shared.Manager.Restart(ctx)).To(Succeed()) })
		mark := s.History().Mark()
		s.change(image(better), slow("500ms"))
		writes, kills := 0, 0
		s.await("the rollout is over", func() (string, bool) {
			now := s.scalingsSince(mark)
			if now > writes {
				shared.Manager.Kill()
				kills++
				// The one that comes counts what the one before it wrote to its end.
				writes = s.scalingsSince(mark)
				Expect(shared.Manager.Launch(ctx, atOnce)).To(Succeed())
			}
			states := s.History().DisaggregatedSets(set)
			last := states[len(states)-1]
			done := last.Status.ObservedGeneration == last.Generation && isTrue(last, "Available") && last.Status.UpdatedSlices == 1
			return statusLine(last), done && now == writes
		})
		AddReportEntry("kills", kills, ReportEntryVisibilityAlways)
		Expect(shared.Manager.Process().AwaitReady(ctx)).To(Succeed())
		watch := s.report(mark)
		Expect(watch.Roles["0/prefill"].MinReady).To(Equal(4))
		Expect(watch.Roles["0/decode"].MinReady).To(Equal(2))
		Expect(watch.Roles["0/prefill"].MaxWanted).To(Equal(5))
		Expect(watch.Roles["0/decode"].MaxWanted).To(Equal(3))
		Expect(kills).To(BeNumerically(">=", 6))
		Expect(watch.Orphans).To(BeEmpty(), "what a dead one left is made whole before anything else")
		AddReportEntry("courses", fmt.Sprint(s.courses(mark)), ReportEntryVisibilityAlways)
		Expect(s.courses(mark)).To(Equal(calm.courses(calmMark)))
		s.expectOnly(0, "prefill", "decode")
	})

	It("that starts anew, as after an upgrade, changes nothing and writes nothing", func(ctx SpecContext) {
		s := begin()
		s.up(dstest.New(set).Roles(newRole("prefill", 2).Size(2).External(), newRole("decode", 1)).Slices(2))
		before, pods := s.now(), s.podsAsText()
		audit := shared.Audit(managers.DisaggregatedSet())
		s.awaitRest(audit)
		Expect(shared.Manager.RestartWith(ctx, atOnce)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(shared.Manager.Restart(ctx)).To(Succeed()) })
		Consistently(func() string { return counted(s.sent(audit)) }).WithTimeout(calm).WithPolling(200 * time.Millisecond).Should(BeEmpty())
		s.settle(onlyStartup)
		Expect(counted(s.sent(audit))).NotTo(BeEmpty(), "it is awake")
		s.expectUntouched(before, pods)
	})
})

// scalingsSince counts how often a LeaderWorkerSet was given another number.
func (s *scenario) scalingsSince(mark harness.Mark) int {
	count, replicas := 0, map[string]int32{}
	for _, state := range s.History().Sets {
		now := lwsv1.Replicas(state.LeaderWorkerSet)
		if mark.Before(state) && now != replicas[state.Name] {
			count++
		}
		replicas[state.Name] = now
	}
	return count
}
