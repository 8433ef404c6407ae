//go:build integration

package group

import (
	"errors"
	"time"

	"github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

func maxRestarts(n int32) func(*lwstest.Builder) {
	return func(b *lwstest.Builder) { b.MaxGroupRestarts(n) }
}

// failOnce lets a container restart and everybody act until all is at rest.
func (w *world) failOnce() {
	ginkgo.GinkgoHelper()
	w.restartContainer("x-0-1", 1)
	w.settle()
}

func (w *world) counts() (restarts, leaders string) {
	annotations := w.set().Annotations
	return annotations[lwsv1.GroupRestartCountsAnnotationKey], annotations[lwsv1.GroupRestartLeadersAnnotationKey]
}

func (w *world) entry(index string) string {
	return Entry{Revision: w.pod("x-" + index).Labels[lwsv1.RevisionLabelKey], Index: index}.String()
}

// annotate does what a user does with kubectl annotate.
func (w *world) annotate(name, key, value string) {
	ginkgo.GinkgoHelper()
	p := w.pod(name)
	p.Annotations[key] = value
	Expect(live.Update(w.ctx, p)).To(Succeed())
}

// expectStopped checks that the group is exhausted and its pods have ended but stay.
func (w *world) expectStopped(names ...string) {
	ginkgo.GinkgoHelper()
	Expect(IsExhausted(w.pod("x-0"))).To(BeTrue())
	for _, name := range names {
		p := w.pod(name)
		Expect(IsRetained(p)).To(BeTrue(), w.describePods())
		Expect(p.DeletionTimestamp).NotTo(BeNil(), w.describePods())
		Expect(p.Status.Phase).To(Equal(corev1.PodSucceeded), w.describePods())
	}
	Expect(w.pods()).To(HaveLen(len(names)))
}

var _ = ginkgo.Describe("the restart budget", func() {
	ginkgo.It("is counted before the deletion, and stops the group when it is spent", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(3, maxRestarts(2)))
		entry := w.entry("0")
		first := w.pod("x-0").UID
		w.failOnce()
		w.expectRunning("x-0", "x-0-1", "x-0-2")
		restarts, leaders := w.counts()
		Expect(restarts).To(Equal(`{"` + entry + `":1}`))
		Expect(leaders).To(Equal(`{"` + entry + `":"` + string(first) + `"}`))
		Expect(w.reports.ForSet(w.key())).To(BeEmpty(), "nothing is asked for any more")
		w.failOnce()
		w.expectRunning("x-0", "x-0-1", "x-0-2")
		w.told()
		w.wrote()

		w.failOnce()
		w.expectStopped("x-0", "x-0-1", "x-0-2")
		Expect(w.told()).To(Equal([]string{"Warning ReplicaRestartBudgetExceeded Stopping group 0: container worker of pod x-0-1 restarted " +
			"(OOMKilled, exit code 137), and the group was recreated 2 times with a maximum of 2"}))
		Expect(w.wrote()).To(Equal([]string{"patch Pod x-0", "patch Pod x-0-1", "patch Pod x-0-2", "delete Pod x-0"}))
		restarts, _ = w.counts()
		Expect(restarts).To(Equal(`{"` + entry + `":2}`))

		ginkgo.By("for good: nothing but the annotation recovers it")
		w.change(func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.MaxGroupRestarts = nil })
		w.annotate("x-0", lwsv1.RecoverAnnotationKey, "yes")
		w.deleteNow("x-0-1", metav1.DeletePropagationForeground)
		w.restart()
		w.settle()
		w.expectStopped("x-0", "x-0-1", "x-0-2")
		Expect(w.wrote()).To(BeEmpty())

		ginkgo.By("which starts it with a fresh budget")
		limit := int32(1)
		w.change(func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.MaxGroupRestarts = &limit })
		w.annotate("x-0", lwsv1.RecoverAnnotationKey, "true")
		w.settle()
		w.expectRunning("x-0", "x-0-1", "x-0-2")
		restarts, leaders = w.counts()
		Expect([]string{restarts, leaders}).To(Equal([]string{"", ""}))
		Expect(w.toldReasons()).To(Equal([]string{lwsv1.ReasonGroupRecovered}))
		w.failOnce()
		w.expectRunning("x-0", "x-0-1", "x-0-2")
		w.failOnce()
		w.expectStopped("x-0", "x-0-1", "x-0-2")
		w.expectNoErrors()
	})

	ginkgo.It("of 0 stops the group at its first failure, and again after a recovery", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2, maxRestarts(0)))
		w.failOnce()
		w.expectStopped("x-0", "x-0-1")
		w.annotate("x-0", lwsv1.RecoverAnnotationKey, "true")
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		w.failOnce()
		w.expectStopped("x-0", "x-0-1")
		w.expectNoErrors()
	})

	ginkgo.It("is not charged for what others delete", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2, maxRestarts(1)))
		for range 3 {
			w.deleteNow("x-0", metav1.DeletePropagationBackground)
			w.settle()
		}
		w.setStatus("x-0", func(s *corev1.PodStatus) { s.Phase = corev1.PodFailed })
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		restarts, _ := w.counts()
		Expect(restarts).To(BeEmpty())
	})

	ginkgo.It("is counted once when the manager stops between count and deletion", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2, maxRestarts(3)))
		entry := w.entry("0")
		before := w.uids()
		w.fail = func(write string) error {
			if write == "delete Pod x-0" {
				return errors.New("the manager stops here")
			}
			return nil
		}
		w.restartContainer("x-0-1", 1)
		w.work()
		restarts, _ := w.counts()
		Expect(restarts).To(Equal(`{"` + entry + `":1}`))
		Expect(w.pod("x-0").UID).To(Equal(before["x-0"]))

		w.fail = nil
		w.errs = nil
		w.restart()
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		w.expectAllNew(before)
		restarts, _ = w.counts()
		Expect(restarts).To(Equal(`{"` + entry + `":1}`))
		w.expectNoErrors()
	})

	ginkgo.It("does not delete before the count is stored", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2, maxRestarts(3)))
		w.setsOff = true
		before := w.uids()
		w.restartContainer("x-0-1", 1)
		w.settle()
		Expect(w.uids()).To(Equal(before))
		Expect(w.wrote()).To(BeEmpty())
		w.setsOff = false
		w.reconcileSet()
		w.settle()
		w.expectAllNew(before)
	})

	ginkgo.It("gets on after a stop of the manager at any write of an exhaustion", func(ctx ginkgo.SpecContext) {
		for _, at := range []string{"patch Pod x-0", "patch Pod x-0-1", "delete Pod x-0"} {
			ginkgo.By(at)
			w := running(ctx, ofSize(2, maxRestarts(0)))
			w.fail = func(write string) error {
				if write == at {
					return errors.New("the manager stops here")
				}
				return nil
			}
			w.restartContainer("x-0-1", 1)
			w.work()
			w.fail, w.errs = nil, nil
			w.restart()
			w.settle()
			w.expectStopped("x-0", "x-0-1")
			w.expectNoErrors()
		}
	})

	ginkgo.It("drops a request for recovery that comes before the group is stopped", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2, maxRestarts(0)))
		w.annotate("x-0", lwsv1.RecoverAnnotationKey, "true")
		w.settle()
		Expect(w.pod("x-0").Annotations).NotTo(HaveKey(lwsv1.RecoverAnnotationKey))
		w.failOnce()
		w.expectStopped("x-0", "x-0-1")
	})

	ginkgo.It("frees a group whose finalizers somebody strips, without a reset", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(3, maxRestarts(1)))
		entry := w.entry("0")
		w.failOnce()
		w.failOnce()
		w.expectStopped("x-0", "x-0-1", "x-0-2")
		w.removeFinalizer(w.pod("x-0"), metav1.FinalizerDeleteDependents)
		w.removeFinalizer(w.pod("x-0"), lwsv1.GroupRestartBudgetCleanupFinalizer)
		w.settle()
		w.expectRunning("x-0", "x-0-1", "x-0-2")
		restarts, _ := w.counts()
		Expect(restarts).To(Equal(`{"` + entry + `":1}`))
		w.failOnce()
		w.expectStopped("x-0", "x-0-1", "x-0-2")
		w.expectNoErrors()
	})

	ginkgo.It("lets a stopped group go with what ends it", func(ctx ginkgo.SpecContext) {
		ends := map[string]func(*world){
			"scaled away": func(w *world) {
				none := int32(0)
				w.change(func(set *lwsv1.LeaderWorkerSet) { set.Spec.Replicas = &none })
				w.rollOut()
			},
			"set deleted":                   func(w *world) { w.remove(w.set(), metav1.DeletePropagationBackground) },
			"set deleted in the foreground": func(w *world) { w.remove(w.set(), metav1.DeletePropagationForeground) },
		}
		for name, end := range ends {
			ginkgo.By(name)
			w := running(ctx, ofSize(3, maxRestarts(0)))
			w.failOnce()
			w.expectStopped("x-0", "x-0-1", "x-0-2")
			end(w)
			w.settle()
			Expect(w.pods()).To(BeEmpty(), w.describePods())
			w.expectNoErrors()
		}
	})

	ginkgo.It("lets a stopped group go with a rollout, whose revision has a budget of its own", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2, maxRestarts(1)))
		w.failOnce()
		w.failOnce()
		w.expectStopped("x-0", "x-0-1")
		w.change(func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = "new"
		})
		w.rollOut()
		w.settle()
		w.expectRunning("x-0", "x-0-1")
		w.failOnce()
		w.expectRunning("x-0", "x-0-1")
		w.expectNoErrors()
	})
})

var _ = ginkgo.Describe("the restart backoff", func() {
	ginkgo.It("defers by the leader's age, tells it once, and keeps the deadline over a restart", func(ctx ginkgo.SpecContext) {
		w := newWorld(ctx, ofSize(3, func(b *lwstest.Builder) { b.RestartBackoff(10, 300) }))
		w.settle()
		w.told()
		w.wrote()
		created := w.pod("x-0").CreationTimestamp
		w.clock.SetTime(created.Add(4 * time.Second))
		before := w.uids()
		w.deleteNow("x-0-1", metav1.DeletePropagationBackground)
		w.settle()
		Expect(w.pod("x-0").UID).To(Equal(before["x-0"]), "nothing is deleted before the time")
		Expect(w.pod("x-0-1").UID).NotTo(Equal(before["x-0-1"]), "the worker's StatefulSet made it again")
		Expect(w.after[w.group(0)]).To(Equal(6 * time.Second))
		Expect(w.told()).To(Equal([]string{"Normal GroupRestartBackoff Recreating group 0 in 6s, after 0 recreations: pod x-0-1 was deleted"}))
		w.clock.SetTime(created.Add(7 * time.Second))
		w.wake(0)
		Expect(w.told()).To(BeEmpty())
		w.restart()
		w.settle()
		Expect(w.after[w.group(0)]).To(Equal(3 * time.Second))
		Expect(w.wrote()).To(BeEmpty())
		w.told()

		w.clock.SetTime(created.Add(10 * time.Second))
		w.wake(0)
		w.settle()
		w.expectRunning("x-0", "x-0-1", "x-0-2")
		w.expectAllNew(before)
		restarts, _ := w.counts()
		Expect(restarts).To(Equal(`{"` + w.entry("0") + `":1}`))

		ginkgo.By("for longer the next time")
		w.clock.SetTime(w.pod("x-0").CreationTimestamp.Time)
		w.restartContainer("x-0-1", 1)
		w.settle()
		Expect(w.after[w.group(0)]).To(Equal(20 * time.Second))

		ginkgo.By("and not if somebody else ends the group")
		w.deleteNow("x-0", metav1.DeletePropagationBackground)
		w.settle()
		w.expectRunning("x-0", "x-0-1", "x-0-2")
		restarts, _ = w.counts()
		Expect(restarts).To(Equal(`{"` + w.entry("0") + `":1}`))
		w.expectNoErrors()
	})

	ginkgo.It("does not defer a group that has been there for long", func(ctx ginkgo.SpecContext) {
		w := running(ctx, ofSize(2, func(b *lwstest.Builder) { b.RestartBackoff(10, 300).MaxGroupRestarts(5) }))
		w.clock.SetTime(w.clock.Now().Add(time.Hour))
		before := w.uids()
		w.failOnce()
		w.expectRunning("x-0", "x-0-1")
		w.expectAllNew(before)
		Expect(w.toldReasons()).To(And(ContainElement(lwsv1.ReasonRecreateGroup), Not(ContainElement(lwsv1.ReasonGroupRestartBackoff))))
	})
})
