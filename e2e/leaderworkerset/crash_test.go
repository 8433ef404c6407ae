package leaderworkerset

import (
	"fmt"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/harness"
)

// story is what happens to a set "story" while the manager dies at its writes.
type story struct {
	set func() *lwstest.Builder
	// isNew: that it comes up is the story. Else it is up when the story begins.
	isNew bool
	// isRollout: one group may be missing, one more may exist.
	isRollout bool
	happen    func(s *scenario)
}

var stories = map[string]story{
	"a bring-up": {
		set: func() *lwstest.Builder {
			return newSet("story").Replicas(2).Size(2).SubdomainPolicy(lwsv1.SubdomainUniquePerReplica)
		}, isNew: true,
		happen: func(*scenario) {},
	},
	"the failure of a worker": {
		set: func() *lwstest.Builder { return newSet("story").Replicas(2).Size(3).MaxGroupRestarts(3) },
		happen: func(s *scenario) {
			s.restart("story-0-1")
			s.awaitRecreated("story", podNames("story", 1, 3)...)
		},
	},
	"the failure of a leader": {
		set: func() *lwstest.Builder { return newSet("story").Replicas(2).Size(3) },
		happen: func(s *scenario) {
			s.removePod("story-1")
			s.awaitRecreated("story", "story-1", "story-1-1", "story-1-2")
		},
	},
	"exhaustion and recovery": {
		set: func() *lwstest.Builder { return newSet("story").Replicas(2).Size(2).MaxGroupRestarts(0) },
		happen: func(s *scenario) {
			s.restart("story-1-1")
			s.awaitSet("story", "is degraded", isDegraded)
			s.recoverGroup("story-1")
		},
	},
	"a rollout": {
		isRollout: true,
		set:       func() *lwstest.Builder { return rolling("story", 3, 2, "1", "1") },
		happen:    rollOut,
	},
	"the failure of a worker of a group with a key": {
		set: func() *lwstest.Builder { return newSet("story").Hash().Replicas(2).Size(3).MaxGroupRestarts(3) },
		happen: func(s *scenario) {
			key := s.firstKey("story")
			s.restartWorker("story", key)
			s.awaitReplaced("story", key)
		},
	},
	"exhaustion and recovery of a group with a key": {
		set: func() *lwstest.Builder { return newSet("story").Hash().Replicas(2).Size(2).MaxGroupRestarts(0) },
		happen: func(s *scenario) {
			key := s.firstKey("story")
			s.restartWorker("story", key)
			s.awaitSet("story", "is degraded", isDegraded)
			s.recoverGroup(s.keyedGroups("story")[key].leader.Name)
		},
	},
	"a rollout of groups with keys": {
		isRollout: true,
		set:       func() *lwstest.Builder { return rolling("story", 3, 2, "1", "1").Hash() },
		happen:    rollOut,
	},
}

func rollOut(s *scenario) {
	GinkgoHelper()
	Eventually(func() error {
		return s.tryChange("story", func(set *lwsv1.LeaderWorkerSet) client.Object {
			image(better)(set)
			return set
		})
	}).WithTimeout(patience).Should(Succeed(), "when the webhook answers")
	s.awaitObserved("story")
}

func isDegraded(set *lwsv1.LeaderWorkerSet) bool { return isTrue(set, lwsv1.ConditionDegraded) }

// recoverGroup asks for a group that has spent its restarts, and waits until none is left.
func (s *scenario) recoverGroup(leader string) {
	GinkgoHelper()
	s.patch(&corev1.Pod{}, leader, `{"metadata":{"annotations":{"`+lwsv1.RecoverAnnotationKey+`":"true"}}}`)
	s.awaitSet("story", "is not degraded", func(set *lwsv1.LeaderWorkerSet) bool { return !isDegraded(set) })
}

// play begins a story, calls armed before it happens and returns what came of it:
// the state at its end, and how many lives each pod had.
func (story story) play(s *scenario, armed, end func()) map[string]string {
	GinkgoHelper()
	if story.isNew {
		armed()
	}
	object := story.set().Namespace(s.namespace).Obj()
	Eventually(func() error { return s.env.Client.Create(s.ctx, object) }).WithTimeout(patience).Should(Succeed(), "when the webhook answers")
	replicas := int(*object.Spec.Replicas)
	s.awaitAvailable("story")
	s.awaitMemory("story", replicas)
	mark := s.History().Mark()
	if !story.isNew {
		armed()
	}
	story.happen(s)
	s.awaitAvailable("story")
	s.awaitMemory("story", replicas)
	end()
	endOf := s.endOf
	if lwsv1.GroupIdentity(object) == lwsv1.HashGroupIdentity {
		endOf = s.endOfKeyed
	}
	found := endOf("story", replicas, int(*object.Spec.LeaderWorkerTemplate.Size))
	if story.isRollout {
		s.expectBudget("story", replicas, 1, 1, mark)
	}
	return found
}

// endOf is the state of a set that has come to rest, and how many lives each pod had.
func (s *scenario) endOf(set string, replicas, size int) map[string]string {
	GinkgoHelper()
	s.touchAndAwaitReaction(set)
	s.awaitPods(set, podNames(set, replicas, size)...)
	s.awaitNoMore(set, replicas)
	found := s.state(set)
	for pod, uids := range s.History().UIDs(set) {
		found["lives of "+pod] = fmt.Sprint(len(uids))
	}
	found["restart counts"] = s.Set(set).Annotations[lwsv1.GroupRestartCountsAnnotationKey]
	return found
}

// awaitNoMore waits until a set counts the groups that it wants and no others.
func (s *scenario) awaitNoMore(set string, replicas int) {
	GinkgoHelper()
	s.awaitSet(set, "has what it wants and no more", func(set *lwsv1.LeaderWorkerSet) bool {
		return harness.IsAvailable(set) && int(set.Status.Replicas) == replicas
	})
}

var _ = Describe("A manager that dies at its writes", Serial, func() {
	entries := []any{func(name string) {
		story := stories[name]
		undisturbed := story.play(begin(), func() {}, func() {})
		for _, moment := range []harness.Moment{harness.BeforeWrite, harness.AfterWrite} {
			By(fmt.Sprintf("dying %s each write", moment))
			Expect(story.playDisturbed(moment)).To(Equal(undisturbed), "%s each write", moment)
		}
	}}
	for _, name := range slices.Sorted(maps.Keys(stories)) {
		entries = append(entries, Entry(name, name))
	}
	DescribeTable("ends where it would have ended", entries...)
})

// playDisturbed plays a story with a manager that dies at its writes.
func (story story) playDisturbed(moment harness.Moment) map[string]string {
	GinkgoHelper()
	s := begin()
	breaker, err := s.env.NewBreaker(s.ctx, atOnce)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		_, err := breaker.Disarm(s.ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(s.env.Manager.Restart(s.ctx)).To(Succeed())
		breaker.Close()
	})
	s.env.Nudge(s.ctx, s.namespace)
	crashes := 0
	found := story.play(s, func() { breaker.Arm(moment) }, func() {
		crashes, err = breaker.Disarm(s.ctx)
		Expect(err).NotTo(HaveOccurred())
	})
	AddReportEntry(fmt.Sprintf("crashes %s writes", moment), crashes, ReportEntryVisibilityAlways)
	Expect(crashes).To(BeNumerically(">", 2))
	return found
}
