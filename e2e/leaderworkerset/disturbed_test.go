package leaderworkerset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
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
// span, until the function returned is called; then the manager runs, and stays.
func (s *scenario) disturb(seed uint64, span time.Duration) (enough func() (kills int)) {
	GinkgoHelper()
	Expect(s.env.Manager.RestartWith(s.ctx, atOnce)).To(Succeed())
	random := rand.New(rand.NewPCG(seed, seed))
	ctx, cancel := context.WithCancel(s.ctx)
	done := make(chan int, 1)
	go func() {
		defer GinkgoRecover()
		kills := 0
		defer func() { done <- kills }()
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Duration(random.Int64N(int64(span)))):
			}
			s.env.Manager.Kill()
			kills++
			Expect(s.env.Manager.Launch(s.ctx, atOnce)).To(Succeed())
		}
	}()
	stop := sync.OnceValue(func() int {
		cancel()
		return <-done
	})
	DeferCleanup(func() {
		stop()
		Expect(s.env.Manager.Restart(s.ctx)).To(Succeed())
	})
	return func() int {
		GinkgoHelper()
		kills := stop()
		Expect(s.env.Manager.Process().AwaitReady(s.ctx)).To(Succeed())
		return kills
	}
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

			enough := disturbed.disturb(seed, 5*time.Second)
			for _, set := range sets() {
				Eventually(func() error {
					return disturbed.env.Client.Create(disturbed.ctx, set.Namespace(disturbed.namespace).Obj())
				}).WithTimeout(patience).Should(Succeed(), "when the webhook answers")
			}
			disturbed.await("half of the pods exist", func() (string, bool) {
				count := len(disturbed.History().UIDs("shared"))
				return fmt.Sprintf("%d", count), count >= 6
			})
			AddReportEntry("kills", enough())
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
})

// awaitMemoryOf waits for the memory of all groups of a set.
func (s *scenario) awaitMemoryOf(name string) {
	GinkgoHelper()
	s.awaitMemory(name, int(lwsv1.Replicas(s.Set(name))))
}
