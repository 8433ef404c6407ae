package leaderworkerset

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

var _ = Describe("The termination policy", func() {
	const grace = 20

	// span are the moments at which the first pods of a set began to end and the last
	// were gone.
	span := func(s *scenario, set string) (first, lastAsked, gone time.Time) {
		for _, pod := range s.History().Pods {
			switch {
			case pod.Set != set:
			case pod.Gone:
				gone = pod.At
			case pod.Ending && first.IsZero():
				first, lastAsked = pod.At, pod.At
			case pod.Ending && pod.Phase == "Running":
				lastAsked = pod.At
			}
		}
		return first, lastAsked, gone
	}

	It("of a leader that a user deletes ends the group in one grace period or in two", func() {
		s := begin()
		pods := template("worker")
		pods.Spec.TerminationGracePeriodSeconds = new(int64(grace))
		// Leaders do not come back: what is measured are the pods of one generation.
		for _, policy := range []lwsv1.PodTerminationPolicyType{lwsv1.SequentialPodTermination, lwsv1.ParallelPodTermination} {
			name := map[bool]string{true: "parallel", false: "sequential"}[policy == lwsv1.ParallelPodTermination]
			s.create(newSet(name).Size(4).WorkerTemplate(pods).PodTerminationPolicy(policy))
			s.awaitAvailable(name)
			s.awaitMemory(name, 1)
		}
		s.removePod("parallel-0")
		s.removePod("sequential-0")
		for _, name := range []string{"parallel", "sequential"} {
			s.await(name+": the old generation is gone", func() (string, bool) {
				gone := 0
				for _, pod := range s.History().Pods {
					if pod.Set == name && pod.Gone {
						gone++
					}
				}
				return fmt.Sprint(gone, " pods are gone"), gone >= 4
			})
		}
		first, asked, gone := span(s, "parallel")
		AddReportEntry("parallel", fmt.Sprint("signals within ", asked.Sub(first), ", gone after ", gone.Sub(first)))
		Expect(asked.Sub(first)).To(BeNumerically("<", grace*time.Second/4), "all get their signal together")
		Expect(gone.Sub(first)).To(BeNumerically("<", grace*time.Second*12/10))
		first, _, gone = span(s, "sequential")
		AddReportEntry("sequential", fmt.Sprint("gone after ", gone.Sub(first)))
		Expect(gone.Sub(first)).To(And(BeNumerically(">", grace*time.Second*18/10), BeNumerically("<", grace*time.Second*24/10)))
		for _, name := range []string{"parallel", "sequential"} {
			s.awaitRecreated(name, podNames(name, 1, 4)...)
			s.expectLives(name, 2, podNames(name, 1, 4)...)
		}
	})

	It("is switched live, without a restart", func() {
		s := begin()
		name := s.up(newSet("switched").Replicas(2).Size(2))
		s.change(name, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.PodTerminationPolicy = lwsv1.ParallelPodTermination
		})
		s.await("the leaders carry the policy", func() (string, bool) {
			seen := []string{}
			for _, leader := range leaders(name, 0, 1) {
				seen = append(seen, s.Pods(name)[leader].Annotations[lwsv1.PodTerminationPolicyAnnotationKey])
			}
			return fmt.Sprint(seen), seen[0] == string(lwsv1.ParallelPodTermination) && seen[1] == seen[0]
		})
		s.touchAndAwaitReaction(name)
		s.expectLives(name, 1, podNames(name, 2, 2)...)
	})
})
