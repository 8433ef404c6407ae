package scheduling

import (
	"fmt"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/config/v1alpha1"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/cluster/sim"
	"sigs.k8s.io/lws/e2e/harness"
)

// story is what happens to a set "story" with gangs while the manager dies at its writes.
type story struct {
	set func(s *scenario) *lwstest.Builder
	// happen is nil where it is the story that the set comes up.
	happen func(s *scenario)
	// At the end there are so many PodGroups, and so many pods were ever made.
	podGroups, pods int
	moments         []harness.Moment
	// shares: leaders come into a PodGroup that others were in.
	shares bool
}

var bothMoments = []harness.Moment{harness.BeforeWrite, harness.AfterWrite}

var stories = map[string]story{
	"a bring-up": {
		set: func(s *scenario) *lwstest.Builder {
			return s.newSet("story").Replicas(2).Size(2).Scheduling(gangOfGroups())
		},
		podGroups: 2, pods: 4, moments: bothMoments,
	},
	"the failure of a gang": {
		set: func(s *scenario) *lwstest.Builder {
			return s.newSet("story").Replicas(2).Size(2).Scheduling(gangOfGroups())
		},
		happen:    (*scenario).failWorker,
		podGroups: 2, pods: 6, moments: []harness.Moment{harness.BeforeWrite},
	},
	"the failure of a gang with a key": {
		set: func(s *scenario) *lwstest.Builder {
			return s.newSet("story").Hash().Replicas(2).Size(2).Scheduling(gangOfGroups())
		},
		happen:    (*scenario).failWorker,
		podGroups: 2, pods: 6, moments: bothMoments,
	},
	"the growth of one gang": {
		set: func(s *scenario) *lwstest.Builder {
			return s.newSet("story").Replicas(1).Size(2).Scheduling(gangOfSet())
		},
		happen: func(s *scenario) {
			Eventually(func() error { return s.tryChange("story", replicas(2)) }).
				WithTimeout(patience).Should(Succeed(), "when the webhook answers")
			s.awaitSet("story", "has grown", func(set *lwsv1.LeaderWorkerSet) bool {
				return harness.IsAvailable(set) && set.Status.ReadyReplicas == 2
			})
			s.awaitMinimum("story", 4)
		},
		podGroups: 1, pods: 4, shares: true, moments: []harness.Moment{harness.AfterWrite},
	},
}

// failWorker lets a worker restart and waits until its group is another.
func (s *scenario) failWorker() {
	GinkgoHelper()
	var worker string
	for _, name := range slices.Sorted(maps.Keys(s.Pods("story"))) {
		if s.Pods("story")[name].Labels[lwsv1.WorkerIndexLabelKey] == "1" {
			worker = name
			break
		}
	}
	before := s.uids("story")[worker]
	s.await("the group remembers its members", func() (string, bool) {
		for _, pod := range s.Pods("story") {
			if pod.Labels[lwsv1.WorkerIndexLabelKey] == "0" && pod.Annotations[lwsv1.GroupMembersAnnotationKey] == "" {
				return pod.Name + " has no memory", false
			}
		}
		return "", true
	})
	Expect(sim.Restart(s.ctx, s.env.Kube, s.namespace, worker, "main")).To(Succeed())
	s.await("the group is made anew", func() (string, bool) {
		ready := 0
		for _, pod := range s.Pods("story") {
			if pod.UID == before {
				return worker + " is there", false
			}
			if harness.IsReady(pod) {
				ready++
			}
		}
		return fmt.Sprintf("%d pods are ready", ready), ready == 4
	})
}

var _ = Describe("A manager that dies at its writes", Serial, func() {
	entries := []any{func(ctx SpecContext, name string, moment harness.Moment) {
		story := stories[name]
		s := begin()
		s.addNode(100, nil)
		options := running(configv1.KubernetesSchedulerProvider, true, false)
		configure := options.Configure
		options.Configure = func(c *configv1.Configuration) {
			configure(c)
			c.LeaderElection = &v1alpha1.LeaderElectionConfiguration{LeaderElect: new(false)}
		}
		breaker, err := s.env.NewBreaker(s.ctx, options)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			_, err := breaker.Disarm(ctx)
			Expect(err).NotTo(HaveOccurred())
			Expect(s.env.Manager.Restart(ctx)).To(Succeed())
			breaker.Close()
		})
		s.env.Nudge(s.ctx, s.namespace)

		if story.happen == nil {
			breaker.Arm(moment)
		}
		object := story.set(s).Obj()
		Eventually(func() error { return s.env.Client.Create(s.ctx, object) }).WithTimeout(patience).Should(Succeed(), "when the webhook answers")
		s.awaitAvailable("story")
		if story.happen != nil {
			breaker.Arm(moment)
			story.happen(s)
			s.awaitAvailable("story")
		}
		crashes, err := breaker.Disarm(ctx)
		Expect(err).NotTo(HaveOccurred())
		AddReportEntry("crashes", crashes, ReportEntryVisibilityAlways)
		Expect(crashes).To(BeNumerically(">", 2))

		s.awaitPodGroups("story", story.podGroups, story.shares)
		made := map[types.UID]bool{}
		for _, pod := range s.History().Pods {
			made[pod.UID] = true
		}
		Expect(made).To(HaveLen(story.pods), "pods that were ever made")
	}}
	for _, name := range slices.Sorted(maps.Keys(stories)) {
		for _, moment := range stories[name].moments {
			entries = append(entries, Entry(fmt.Sprintf("%s, %s each", name, moment), name, moment))
		}
	}
	DescribeTable("leaves gangs as they are to be", entries...)
})
