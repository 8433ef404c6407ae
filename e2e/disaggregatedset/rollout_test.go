package disaggregatedset

import (
	"fmt"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/rollout"
	"sigs.k8s.io/lws/e2e/cluster/sim"
	"sigs.k8s.io/lws/e2e/harness"
)

const (
	better = "server:2"
	best   = "server:3"
)

var _ = Describe("A rollout", func() {
	It("with opposite budgets of one replica each ends, and no revision is ever without a role", func() {
		s := begin()
		s.up(dstest.New(set).Roles(newRole("prefill", 1, "1", "0"), newRole("decode", 1, "0", "1")))
		mark := s.History().Mark()
		s.settle(image(better), slow("500ms"))
		watch := s.report(mark)
		expectWhole(watch)
		Expect(watch.Roles["0/decode"].MinReady).To(Equal(1))
		Expect(watch.Roles["0/prefill"].MaxWanted).To(BeNumerically("<=", 2), "one replica is borrowed")
		Expect(watch.Roles["0/decode"].MaxWanted).To(BeNumerically("<=", 2))
		s.expectOnly(0, "prefill", "decode")
	})

	It("from one of each to one and two is never below one of each", func() {
		s := begin()
		s.up(dstest.New(set).Roles(newRole("prefill", 1, "0", "1"), newRole("decode", 1, "0", "1")))
		mark := s.History().Mark()
		s.settle(image(better), replicas("decode", 2), slow("500ms"))
		watch := s.report(mark)
		expectWhole(watch)
		Expect(watch.Roles["0/prefill"].MinReady).To(Equal(1))
		Expect(watch.Roles["0/decode"].MinReady).To(Equal(1))
		s.expectOnly(0, "prefill", "decode")
	})

	It("with the default budgets starts new groups before old ones go", func() {
		s := begin()
		s.up(dstest.New(set).Roles(newRole("prefill", 2).Size(2), newRole("decode", 2)))
		mark := s.History().Mark()
		s.settle(image(better), slow("500ms"))
		watch := s.report(mark)
		expectWhole(watch)
		for _, role := range []string{"0/prefill", "0/decode"} {
			Expect(watch.Roles[role].MinReady).To(Equal(2), role)
			Expect(watch.Roles[role].MaxWanted).To(Equal(3), role)
		}
		Expect(s.History().Told(set, dsv1.ReasonRollingUpdateStarted)).To(Equal(1))
		s.awaitTold(dsv1.ReasonRollingUpdateCompleted, 1)
	})

	It("drains a broken revision before the one that serves", func() {
		s := begin()
		s.up(dstest.New(set).Roles(newRole("prefill", 3), newRole("decode", 2)))
		first := s.now().Status.CurrentRevision
		mark := s.History().Mark()
		s.change(image("broken"), asking(sim.HangAnnotation, sim.HangUnready))
		s.awaitSet("the second revision has pods", func(now *dsv1.DisaggregatedSet) bool {
			return now.Status.RoleStatuses[0].UpdatedReplicas > 0 && now.Status.RoleStatuses[1].UpdatedReplicas > 0
		})
		second := s.now().Status.CurrentRevision
		third := s.History().Mark()
		s.settle(image(best), func(spec *dsv1.DisaggregatedSetSpec) { slow("1s")(spec) })
		watch := s.report(mark)
		expectWhole(watch)
		Expect(watch.Roles["0/prefill"].MinReady).To(Equal(3))
		Expect(watch.Roles["0/decode"].MinReady).To(Equal(2))
		s.expectOnly(0, "prefill", "decode")
		Expect(s.shrankBefore(second, first, third)).To(BeEmpty())
	})

	It("takes roles that are renamed, added and removed with the others", func() {
		s := begin()
		s.up(dstest.New(set).Roles(newRole("prefill", 3), newRole("decode", 2), newRole("cache", 1)))
		mark := s.History().Mark()
		s.settle(func(spec *dsv1.DisaggregatedSetSpec) {
			spec.Roles = []dsv1.DisaggregatedRoleSpec{
				newRole("context", 3).Obj(), newRole("decode", 2).Obj(), newRole("router", 1).Obj(),
			}
		}, image(better), slow("500ms"))
		watch := s.report(mark)
		expectWhole(watch)
		Expect(watch.Roles["0/decode"].MinReady).To(Equal(2))
		Expect(watch.Roles["0/decode"].MaxWanted).To(BeNumerically("<=", 3))
		s.expectOnly(0, "context", "decode", "router")
		Expect(s.now().Status.Summary).To(Equal("context 3/3 decode 2/2 router 1/1"))
	})

	It("takes roles from ordinal groups to keyed ones and back", func() {
		s := begin()
		s.up(dstest.New(set).Roles(newRole("prefill", 2).Size(2), newRole("decode", 1)))
		first := s.now().Status.CurrentRevision
		for _, to := range []struct {
			identity    lwsv1.GroupIdentityType
			replacement lwsv1.GroupReplacementPolicyType
		}{
			{lwsv1.HashGroupIdentity, lwsv1.ImmediateGroupReplacement},
			{lwsv1.OrdinalGroupIdentity, lwsv1.PostTerminationGroupReplacement},
		} {
			By("rolling out " + string(to.identity))
			mark := s.History().Mark()
			s.settle(func(spec *dsv1.DisaggregatedSetSpec) {
				for i := range spec.Roles {
					spec.Roles[i].Spec.GroupIdentity, spec.Roles[i].Spec.GroupReplacementPolicy = to.identity, to.replacement
				}
			})
			watch := s.report(mark)
			expectWhole(watch)
			Expect(watch.Roles["0/prefill"].MinReady).To(Equal(2))
			Expect(watch.Roles["0/decode"].MinReady).To(Equal(1))
			Expect(watch.Roles["0/prefill"].MaxWanted).To(Equal(3))
			s.expectOnly(0, "prefill", "decode")
			for name, child := range s.children() {
				Expect(child.Spec.GroupIdentity).To(Equal(to.identity), name)
			}
		}
		Expect(s.now().Status.CurrentRevision).To(Equal(first))
	})

	It("of three slices of 8 and 4 takes little longer than its plan, whenever pods start", func() {
		s := begin()
		s.up(dstest.New(set).Slices(3).Roles(newRole("prefill", 8, "0", "2"), newRole("decode", 4, "0", "1")))
		mark := s.History().Mark()
		begun := time.Now()
		s.settle(image(better), slow("2s-5s"))
		took := time.Since(begun)
		revision := s.now().Status.CurrentRevision
		watch := s.report(mark)
		expectWhole(watch)
		var ofPods, ofReplicas time.Duration
		for slice := range 3 {
			index := strconv.Itoa(slice)
			ofPods = max(ofPods, s.simulate(index, revision, s.History().StartTimes))
			ofReplicas = max(ofReplicas, s.simulate(index, revision, s.History().ReplicaTimes))
			AddReportEntry("slice "+index, "\n"+harness.Table(s.History().Steps(set, index, revision, mark), begun), ReportEntryVisibilityAlways)
			Expect(watch.Roles[index+"/prefill"].MinReady).To(Equal(8))
			Expect(watch.Roles[index+"/decode"].MinReady).To(Equal(4))
			Expect(watch.Roles[index+"/prefill"].MaxWanted).To(BeNumerically("<=", 10))
			Expect(watch.Roles[index+"/decode"].MaxWanted).To(BeNumerically("<=", 5))
		}
		AddReportEntry("makespan", fmt.Sprintf("%.1fs; planned with the times of pods %.1fs (ratio %.2f), of replicas %.1fs (ratio %.2f)",
			took.Seconds(), ofPods.Seconds(), took.Seconds()/ofPods.Seconds(), ofReplicas.Seconds(), took.Seconds()/ofReplicas.Seconds()),
			ReportEntryVisibilityAlways)
		Expect(took.Seconds()).To(BeNumerically("<=", 1.5*ofReplicas.Seconds()))
	})
})

// awaitTold waits until an event about the set was told so many times, and no more.
func (s *scenario) awaitTold(reason string, times int) {
	GinkgoHelper()
	s.await("event "+reason, func() (string, bool) {
		told := s.History().Told(set, reason)
		return fmt.Sprintf("told %d times", told), told == times
	})
}

// shrankBefore tells where a revision lost replicas before another was gone, since a
// mark.
func (s *scenario) shrankBefore(first, later string, since harness.Mark) []string {
	var violations []string
	left := map[string]int32{}
	total := func(revision string) (sum int32) {
		for name, n := range left {
			if revisionOf(name, s) == revision {
				sum += n
			}
		}
		return sum
	}
	for _, state := range s.History().Sets {
		before := left[state.Name]
		left[state.Name] = lwsv1.Replicas(state.LeaderWorkerSet)
		if state.Gone {
			left[state.Name] = 0
		}
		shrank := left[state.Name] < before
		if since.Before(state) && shrank && state.Labels[dsv1.RevisionLabelKey] == later && total(first) > 0 {
			violations = append(violations, fmt.Sprintf("%s shrank to %d while %s had %d", state.Name, left[state.Name], first, total(first)))
		}
	}
	return violations
}

func revisionOf(name string, s *scenario) string {
	for _, state := range s.History().Sets {
		if state.Name == name {
			return state.Labels[dsv1.RevisionLabelKey]
		}
	}
	return ""
}

// startTimes are those of the new replicas of a role, in their order.
type startTimes func(set, slice, role, revision string) []time.Duration

// simulate is the makespan of the plan of a slice, with the times that its new
// replicas took and nothing else that takes time.
func (s *scenario) simulate(slice, revision string, times startTimes) time.Duration {
	GinkgoHelper()
	roles := []rollout.Role{
		{Name: "prefill", Wanted: true, Target: 8, Surge: 2},
		{Name: "decode", Wanted: true, Target: 4, Surge: 1},
	}
	starts := [][]time.Duration{}
	for _, role := range roles {
		took := times(set, slice, role.Name, revision)
		Expect(took).To(HaveLen(role.Target), "replicas of %s in slice %s", role.Name, slice)
		starts = append(starts, took)
	}
	return makespan(roles, starts)
}
