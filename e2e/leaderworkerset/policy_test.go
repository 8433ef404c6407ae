package leaderworkerset

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/cluster/sim"
)

// restartPolicy changes what a failure does.
func restartPolicy(policy lwsv1.RestartPolicyType) func(*lwsv1.LeaderWorkerSet) {
	return func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.RestartPolicy = policy }
}

// restart restarts the container of a pod once.
func (s *scenario) restart(pod string) {
	GinkgoHelper()
	Expect(sim.Restart(s.ctx, s.env.Kube, s.namespace, pod, "worker")).To(Succeed())
}

// expectLives checks how many pods each of some names has had.
func (s *scenario) expectLives(set string, lives int, pods ...string) {
	GinkgoHelper()
	uids := s.History().UIDs(set)
	for _, pod := range pods {
		Expect(uids[pod]).To(HaveLen(lives), pod)
	}
}

// awaitRestarted waits until a container of a pod has restarted.
func (s *scenario) awaitRestarted(set, pod string) {
	GinkgoHelper()
	s.await(pod+" has restarted", func() (string, bool) {
		seen := s.Pods(set)[pod]
		if seen == nil || len(seen.Status.ContainerStatuses) == 0 {
			return "it does not run", false
		}
		restarts := seen.Status.ContainerStatuses[0].RestartCount
		return fmt.Sprint(restarts, " restarts"), restarts > 0
	})
}

var _ = Describe("A restart policy", func() {
	It("is edited without a restart, and the next failure follows it", func() {
		s := begin()
		name := s.up(newSet("edited").Replicas(2).Size(2))
		s.change(name, restartPolicy(lwsv1.NoneRestartPolicy))
		s.awaitObserved(name)
		s.touchAndAwaitReaction(name)
		s.expectLives(name, 1, podNames(name, 2, 2)...)

		By("leaving the group alone with None")
		s.restart("edited-0-1")
		s.awaitRestarted(name, "edited-0-1")
		s.removePod("edited-1-1")
		s.awaitRecreated(name, "edited-1-1")
		s.touchAndAwaitReaction(name)
		s.expectLives(name, 1, "edited-0", "edited-0-1", "edited-1")

		By("starting from what exists with another policy")
		s.change(name, restartPolicy(lwsv1.RecreateGroupOnPodRestart))
		s.awaitObserved(name)
		s.touchAndAwaitReaction(name)
		s.awaitMemory(name, 2)
		s.expectLives(name, 1, "edited-0", "edited-0-1", "edited-1")

		By("recreating the group that fails then")
		s.removePod("edited-1-1")
		s.await("the group is made again", func() (string, bool) {
			lives := s.History().UIDs(name)
			return fmt.Sprint(lives), len(lives["edited-1"]) == 2 && len(lives["edited-1-1"]) == 3
		})
		s.awaitAvailable(name)
		s.expectLives(name, 1, "edited-0", "edited-0-1")
	})

	It("RecreateGroupAfterStart waits until the group was whole once", func() {
		s := begin()
		set := newSet("starting").Size(3).RestartPolicy(lwsv1.RecreateGroupAfterStart)
		pods := template("worker")
		pods.Annotations = map[string]string{sim.StartDelayAnnotation: "8s"}
		leader := template("worker")
		s.create(set.LeaderTemplate(leader).WorkerTemplate(pods))
		s.await("workers start", func() (string, bool) {
			pod := s.Pods("starting")["starting-0-1"]
			return fmt.Sprint(len(s.Pods("starting")), " pods"), pod != nil && pod.Spec.NodeName != ""
		})
		s.restart("starting-0")
		s.awaitRestarted("starting", "starting-0")
		s.awaitAvailable("starting")
		s.awaitMemory("starting", 1)
		s.expectLives("starting", 1, podNames("starting", 1, 3)...)
		Expect(s.History().Told("starting", lwsv1.ReasonRecreateGroup)).To(BeZero())

		By("recreating it from then on")
		s.restart("starting-0-2")
		s.awaitRecreated("starting", podNames("starting", 1, 3)...)
		s.expectLives("starting", 2, podNames("starting", 1, 3)...)
	})

	It("does not make one group wait for the foreign finalizer of another", func() {
		s := begin()
		name := s.up(newSet("held").Replicas(2).Size(2))
		s.patch(&corev1.Pod{}, "held-0-1", `{"metadata":{"finalizers":["example.com/keep"]}}`)
		s.restart("held-0")
		s.restart("held-1")
		s.await("the other group is made again", func() (string, bool) {
			lives := s.History().UIDs(name)
			return fmt.Sprint(lives), len(lives["held-1"]) == 2 && len(lives["held-1-1"]) == 2
		})
		s.awaitSet(name, "says what it waits for", func(set *lwsv1.LeaderWorkerSet) bool {
			progressing := condition(set, lwsv1.ConditionProgressing)
			return set.Status.ReadyReplicas == 1 && progressing.Status == metav1.ConditionTrue
		})
		s.patch(&corev1.Pod{}, "held-0-1", `{"metadata":{"finalizers":null}}`)
		s.awaitRecreated(name, podNames(name, 2, 2)...)
		s.expectLives(name, 2, podNames(name, 2, 2)...)
	})
})

var _ = Describe("An init container that always fails", func() {
	looping := func() corev1.PodTemplateSpec {
		pods := template("worker")
		pods.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "init"}}
		pods.Annotations = map[string]string{sim.CrashLoopAnnotation: "init/1"}
		return pods
	}

	It("ends at the restart budget, Degraded", func() {
		s := begin()
		s.create(newSet("looping").Size(2).WorkerTemplate(looping()).MaxGroupRestarts(3))
		s.awaitSet("looping", "is degraded", func(set *lwsv1.LeaderWorkerSet) bool { return isTrue(set, lwsv1.ConditionDegraded) })
		s.touchAndAwaitReaction("looping")
		s.expectLives("looping", 4, "looping-0") // the first and three recreations
		s.awaitSet("looping", "has counted three", func(set *lwsv1.LeaderWorkerSet) bool { return set.Status.GroupRestarts == 3 })
		Expect(s.History().Told("looping", lwsv1.ReasonRecreateGroup)).To(Equal(3))
	})

	It("is recreated later each time with a backoff, told once for each delay", func() {
		s := begin()
		s.create(newSet("backoff").Size(2).WorkerTemplate(looping()).RestartBackoff(2, 8))
		s.await("three recreations", func() (string, bool) {
			lives := s.History().UIDs("backoff")["backoff-0"]
			return fmt.Sprint(len(lives), " leaders so far"), len(lives) >= 4
		})
		born, ended := map[int]time.Time{}, map[int]time.Time{}
		lives := s.History().UIDs("backoff")["backoff-0"]
		for _, pod := range s.History().Pods {
			for i, uid := range lives {
				if pod.UID != uid {
					continue
				}
				if _, isKnown := born[i]; !isKnown {
					born[i] = pod.At
				}
				if _, isKnown := ended[i]; !isKnown && pod.Ending {
					ended[i] = pod.At
				}
			}
		}
		for i, least := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second} {
			// A creation timestamp has whole seconds and the first sight is later.
			Expect(ended[i].Sub(born[i])).To(BeNumerically(">=", least-1500*time.Millisecond), "leader %d", i)
		}
		Expect(s.History().Told("backoff", lwsv1.ReasonGroupRestartBackoff)).To(BeNumerically("<=", len(lives)))
		Expect(s.History().Told("backoff", lwsv1.ReasonGroupRestartBackoff)).To(BeNumerically(">=", 2))
	})
})
