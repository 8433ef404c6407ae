package leaderworkerset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-base/config/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/managers"
)

// atOnce is a manager that does not wait for the lease of one that was killed.
var atOnce = managers.Options{Configure: func(c *configv1.Configuration) {
	c.LeaderElection = &v1alpha1.LeaderElectionConfiguration{LeaderElect: new(false)}
}}

// disturb kills the manager again and again, each time after a random part of a
// span, until stop is called; then the manager runs, and stays.
func (s *scenario) disturb(seed uint64, span time.Duration) *disturbance {
	GinkgoHelper()
	Expect(s.env.Manager.RestartWith(s.ctx, atOnce)).To(Succeed())
	random := rand.New(rand.NewPCG(seed, seed))
	ctx, cancel := context.WithCancel(s.ctx)
	d := &disturbance{scenario: s}
	done := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Duration(random.Int64N(int64(span)))):
			}
			s.env.Manager.Kill()
			d.kills.Add(1)
			Expect(s.env.Manager.Launch(s.ctx, atOnce)).To(Succeed())
		}
	}()
	d.end = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	DeferCleanup(func() {
		d.end()
		Expect(s.env.Manager.Restart(s.ctx)).To(Succeed())
	})
	return d
}

// disturbance is a manager that is killed again and again.
type disturbance struct {
	scenario *scenario
	kills    atomic.Int32
	end      func()
}

// stop ends it and reports how often the manager was killed.
func (d *disturbance) stop() {
	GinkgoHelper()
	d.end()
	AddReportEntry("kills", d.kills.Load(), ReportEntryVisibilityAlways)
	Expect(d.scenario.env.Manager.Process().AwaitReady(d.scenario.ctx)).To(Succeed())
}

// state is what a set has come to, without what differs from run to run.
func (s *scenario) state(name string) map[string]string {
	GinkgoHelper()
	found := map[string]string{}
	for pod, object := range s.Pods(name) {
		found["pod "+pod] = fmt.Sprintf("%v %v ready %v", object.Labels[lwsv1.RevisionLabelKey],
			object.Annotations[lwsv1.GroupMembersAnnotationKey] != "", isReady(object))
	}
	sets, services := &appsv1.StatefulSetList{}, &corev1.ServiceList{}
	for _, list := range []client.ObjectList{sets, services} {
		s.list(list, lwsv1.SetNameLabelKey, name)
	}
	for _, set := range sets.Items {
		delete(set.Labels, lwsv1.GroupKeyLabelKey) // another one in each namespace
		delete(set.Labels, touchedLabel)
		found["StatefulSet "+set.Name] = fmt.Sprintf("%d %v %v", *set.Spec.Replicas, set.Labels, set.Spec.UpdateStrategy.String())
	}
	for _, service := range services.Items {
		found["Service "+service.Name] = fmt.Sprint(service.Spec.Selector)
	}
	for _, revision := range s.revisions(name) {
		found["revision "+revision.Name] = string(revision.Data.Raw)
	}
	for _, c := range s.Set(name).Status.Conditions {
		found["condition "+c.Type] = fmt.Sprintf("%s %s %s", c.Status, c.Reason, c.Message)
	}
	status := s.Set(name).Status
	found["numbers"] = fmt.Sprint(status.Replicas, status.ReadyReplicas, status.UpdatedReplicas, status.ObservedGeneration)
	return found
}

var _ = Describe("A manager that is killed again and again", Serial, func() {
	DescribeTable("brings sets up as if nothing had happened",
		func(seed uint64) {
			sets := func() []*lwstest.Builder {
				pods := template("worker")
				pods.Annotations = map[string]string{"sim.lws.x-k8s.io/start-delay": "200ms-3s"}
				return []*lwstest.Builder{
					newSet("shared").Replicas(4).Size(3).WorkerTemplate(pods),
					newSet("unique").Replicas(3).Size(2).WorkerTemplate(pods).SubdomainPolicy(lwsv1.SubdomainUniquePerReplica),
					newSet("ready-first").Replicas(3).Size(3).WorkerTemplate(pods).StartupPolicy(lwsv1.LeaderReadyStartupPolicy),
					newSet("alone").Replicas(3).WorkerTemplate(pods),
				}
			}
			undisturbed, disturbed := begin(), begin()
			for _, set := range sets() {
				undisturbed.create(set)
			}
			for _, set := range sets() {
				name := set.Obj().Name
				undisturbed.awaitAvailable(name)
				undisturbed.awaitMemoryOf(name)
			}

			disturbance := disturbed.disturb(seed, 2500*time.Millisecond)
			for _, set := range sets() {
				Eventually(func() error {
					return disturbed.env.Client.Create(disturbed.ctx, set.Namespace(disturbed.namespace).Obj())
				}).WithTimeout(patience).Should(Succeed(), "when the webhook answers")
			}
			Eventually(disturbance.kills.Load).WithTimeout(patience).Should(BeNumerically(">=", 6))
			disturbance.stop()
			for _, set := range sets() {
				name := set.Obj().Name
				disturbed.awaitAvailable(name)
				disturbed.awaitMemoryOf(name)
				disturbed.expectUndisturbed(name)
				Eventually(func() map[string]string { return disturbed.state(name) }).WithTimeout(patience).
					Should(Equal(undisturbed.state(name)))
			}
		},
		Entry("seed 1", uint64(1)), Entry("seed 2", uint64(2)), Entry("seed 3", uint64(3)),
	)

	It("rolls sets out within their budgets, each group once", func() {
		s := begin()
		shapes := map[string]struct{ replicas, maxUnavailable, maxSurge int }{
			"wide": {12, 4, 0}, "surging": {6, 0, 2}, "both": {8, 2, 1},
		}
		for name, shape := range shapes {
			s.create(rolling(name, int32(shape.replicas), 3, strconv.Itoa(shape.maxUnavailable), strconv.Itoa(shape.maxSurge)))
		}
		for name := range shapes {
			s.awaitAvailable(name)
			s.awaitMemoryOf(name)
		}
		mark := s.History().Mark()
		for name := range shapes {
			s.change(name, image(better))
		}
		disturbance := s.disturb(7, 4*time.Second)
		s.await("every group of a set is replaced", func() (string, bool) {
			replaced := s.History().Replaced("wide", mark)
			return strings.Join(replaced, " "), len(replaced) >= shapes["wide"].replicas
		})
		disturbance.stop()
		for name, shape := range shapes {
			s.awaitObserved(name)
			s.awaitAvailable(name)
			s.expectBudget(name, shape.replicas, shape.maxUnavailable, shape.maxSurge, mark)
			s.expectUpdated(name, 0)
			s.awaitPods(name, podNames(name, shape.replicas, 3)...)
			for _, pod := range podNames(name, shape.replicas, 3) {
				Expect(s.History().UIDs(name)[pod]).To(HaveLen(2), pod)
			}
		}
	})
})

// awaitMemoryOf waits for the memory of all groups of a set.
func (s *scenario) awaitMemoryOf(name string) {
	GinkgoHelper()
	s.awaitMemory(name, int(lwsv1.Replicas(s.Set(name))))
}
