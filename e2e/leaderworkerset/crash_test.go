package leaderworkerset

import (
	"fmt"
	"maps"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
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
			s.awaitSet("story", "is degraded", func(set *lwsv1.LeaderWorkerSet) bool { return isTrue(set, lwsv1.ConditionDegraded) })
			s.patch(&corev1.Pod{}, "story-1", `{"metadata":{"annotations":{"`+lwsv1.RecoverAnnotationKey+`":"true"}}}`)
			s.awaitSet("story", "is not degraded", func(set *lwsv1.LeaderWorkerSet) bool { return !isTrue(set, lwsv1.ConditionDegraded) })
		},
	},
	"a rollout": {
		isRollout: true,
		set:       func() *lwstest.Builder { return rolling("story", 3, 2, "1", "1") },
		happen: func(s *scenario) {
			Eventually(func() error {
				return s.tryChange("story", func(set *lwsv1.LeaderWorkerSet) client.Object {
					image(better)(set)
					return set
				})
			}).WithTimeout(patience).Should(Succeed(), "when the webhook answers")
			s.awaitObserved("story")
		},
	},
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
	s.touchAndAwaitReaction("story")
	s.awaitPods("story", podNames("story", replicas, int(*object.Spec.LeaderWorkerTemplate.Size))...)
	s.awaitSet("story", "has what it wants and no more", func(set *lwsv1.LeaderWorkerSet) bool {
		return harness.IsAvailable(set) && int(set.Status.Replicas) == replicas
	})
	found := s.state("story")
	for pod, uids := range s.History().UIDs("story") {
		found["lives of "+pod] = fmt.Sprint(len(uids))
	}
	found["restart counts"] = s.Set("story").Annotations[lwsv1.GroupRestartCountsAnnotationKey]
	if story.isRollout {
		s.expectBudget("story", replicas, 1, 1, mark)
	}
	return found
}

// nudge wakes the StatefulSet controller until the spec ends: after some pods that it
// could not make while the webhook was down it would wait for minutes.
func (s *scenario) nudge() {
	go func() {
		for {
			select {
			case <-s.ctx.Done():
				return
			case <-time.After(3 * time.Second):
			}
			sets := &appsv1.StatefulSetList{}
			if s.env.Client.List(s.ctx, sets, client.InNamespace(s.namespace)) != nil {
				continue
			}
			for i := range sets.Items {
				patch := fmt.Sprintf(`{"metadata":{"annotations":{"nudged":%q}}}`, time.Now().String())
				// One that is gone, or an API server that is busy: the next round is soon.
				_ = s.env.Client.Patch(s.ctx, &sets.Items[i], client.RawPatch(types.MergePatchType, []byte(patch)))
			}
		}
	}()
}

var _ = Describe("A manager that dies at its writes", Serial, func() {
	entries := []any{func(name string, moment harness.Moment) {
		story := stories[name]
		undisturbed := story.play(begin(), func() {}, func() {})

		s := begin()
		breaker, err := s.env.NewBreaker(s.ctx, atOnce)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() {
			_, err := breaker.Disarm(s.ctx)
			Expect(err).NotTo(HaveOccurred())
			Expect(s.env.Manager.Restart(s.ctx)).To(Succeed())
			breaker.Close()
		})
		s.nudge()
		crashes := 0
		disturbed := story.play(s, func() { breaker.Arm(moment) }, func() {
			crashes, err = breaker.Disarm(s.ctx)
			Expect(err).NotTo(HaveOccurred())
		})
		AddReportEntry("crashes", crashes, ReportEntryVisibilityAlways)
		Expect(crashes).To(BeNumerically(">", 2))
		Expect(disturbed).To(Equal(undisturbed))
	}}
	for _, name := range slices.Sorted(maps.Keys(stories)) {
		for _, moment := range []harness.Moment{harness.BeforeWrite, harness.AfterWrite} {
			entries = append(entries, Entry(fmt.Sprintf("%s, %s each", name, moment), name, moment))
		}
	}
	DescribeTable("ends where it would have ended", entries...)
})
