package leaderworkerset

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/harness"
)

// awaitNothingLeft waits until nothing of a set exists.
func (s *scenario) awaitNothingLeft(name string) {
	GinkgoHelper()
	s.awaitPods(name)
	Eventually(func(g Gomega) {
		for _, list := range []client.ObjectList{
			&appsv1.StatefulSetList{}, &appsv1.ControllerRevisionList{}, &corev1.ServiceList{}, &lwsv1.LeaderWorkerSetList{},
		} {
			g.Expect(s.env.Client.List(s.ctx, list, client.InNamespace(s.namespace))).To(Succeed())
			g.Expect(list).To(HaveField("Items", BeEmpty()))
		}
	}).WithTimeout(patience).Should(Succeed())
}

var _ = Describe("Deletion", func() {
	DescribeTable("takes everything along",
		func(propagation metav1.DeletionPropagation, policy lwsv1.PodTerminationPolicyType) {
			s := begin()
			set := s.create(newSet("gone").Replicas(2).Size(3).PodTerminationPolicy(policy).SubdomainPolicy(lwsv1.SubdomainUniquePerReplica))
			s.awaitAvailable("gone")
			s.remove(set, client.PropagationPolicy(propagation))
			s.awaitNothingLeft("gone")
			for pod, uids := range s.History().UIDs("gone") {
				Expect(uids).To(HaveLen(1), "%s was not made again", pod)
			}
			// With Parallel garbage collection takes a leader and its workers, which both
			// end in the foreground, for a circle, and lets the set go early.
			if propagation == metav1.DeletePropagationForeground && policy == lwsv1.SequentialPodTermination {
				states := s.History().OfSet("gone")
				last := states[len(states)-1]
				Expect(last.Gone).To(BeTrue())
				for _, pod := range s.History().Pods {
					Expect(pod.Version).To(BeNumerically("<", harness.VersionOf(last)), "%s goes before the set", pod.Name)
				}
			}
		},
		Entry("in the background", metav1.DeletePropagationBackground, lwsv1.SequentialPodTermination),
		Entry("in the foreground", metav1.DeletePropagationForeground, lwsv1.SequentialPodTermination),
		Entry("in the background, in parallel", metav1.DeletePropagationBackground, lwsv1.ParallelPodTermination),
		Entry("in the foreground, in parallel", metav1.DeletePropagationForeground, lwsv1.ParallelPodTermination),
	)

	It("ends leaders before workers, or both at once", func() {
		s := begin()
		pods := template("worker")
		pods.Spec.TerminationGracePeriodSeconds = new(int64(4))
		sequential := s.create(newSet("sequential").Size(3).WorkerTemplate(pods))
		parallel := s.create(newSet("parallel").Size(3).WorkerTemplate(pods).PodTerminationPolicy(lwsv1.ParallelPodTermination))
		s.awaitAvailable("sequential")
		s.awaitAvailable("parallel")
		s.remove(sequential, client.PropagationPolicy(metav1.DeletePropagationBackground))
		s.remove(parallel, client.PropagationPolicy(metav1.DeletePropagationBackground))
		s.awaitPods("sequential")
		s.awaitPods("parallel")

		// endings are the indices of the leader's first ending, its end, and the
		// workers' first ending.
		endings := func(set string) (leaderEnding, leaderGone, workerEnding int) {
			leaderEnding, leaderGone, workerEnding = -1, -1, -1
			for i, pod := range s.History().Pods {
				switch {
				case pod.Set != set:
				case pod.Worker == 0 && pod.Gone:
					leaderGone = i
				case pod.Worker == 0 && pod.Ending && leaderEnding < 0:
					leaderEnding = i
				case pod.Worker > 0 && pod.Ending && workerEnding < 0:
					workerEnding = i
				}
			}
			return leaderEnding, leaderGone, workerEnding
		}
		_, gone, worker := endings("sequential")
		Expect(gone).To(BeNumerically("<", worker), "Sequential: the leader is gone before a worker ends")
		_, gone, worker = endings("parallel")
		Expect(worker).To(BeNumerically("<", gone), "Parallel: a worker ends before the leader is gone")
	})

	It("leaves pods to a new set of the name, if orphaned", func() {
		s := begin()
		set := s.create(newSet("heir").Replicas(2).Size(3))
		s.awaitAvailable("heir")
		before := s.History().UIDs("heir")
		s.remove(set, client.PropagationPolicy(metav1.DeletePropagationOrphan))
		s.await("the set goes", func() (string, bool) { return "it is there", s.Set("heir") == nil })
		leaders := &appsv1.StatefulSet{}
		s.get("heir", leaders)
		Expect(leaders.OwnerReferences).To(BeEmpty())

		heir := s.create(newSet("heir").Replicas(3).Size(3))
		s.awaitAvailable("heir")
		s.awaitPods("heir", podNames("heir", 3, 3)...)
		s.get("heir", leaders)
		expectOwner(leaders, heir)
		after := s.History().UIDs("heir")
		for name := range before {
			Expect(after[name]).To(Equal(before[name]), "%s goes on", name)
		}
		service := &corev1.Service{}
		s.get("heir", service)
		expectOwner(service, heir)

		By("ending with the new set")
		s.remove(heir)
		s.awaitNothingLeft("heir")
	})

	It("is waited for by a new set of the name", func() {
		s := begin()
		first := s.create(newSet("again").Replicas(2).Size(3))
		s.awaitAvailable("again")
		s.remove(first, client.PropagationPolicy(metav1.DeletePropagationBackground))
		s.create(newSet("again").Replicas(2).Size(3))
		s.await("the new set is available with pods of its own", func() (string, bool) {
			set := s.Set("again")
			if set == nil || set.UID == first.UID {
				return "there is no new set", false
			}
			return harness.StatusLine(set), harness.IsAvailable(set)
		})
		s.awaitPods("again", podNames("again", 2, 3)...)
		for name, uids := range s.History().UIDs("again") {
			Expect(uids).To(HaveLen(2), name)
		}
	})

	It("of the namespace ends in silence", func() {
		s := begin()
		s.create(newSet("inside").Replicas(2).Size(3))
		s.awaitAvailable("inside")
		s.awaitMemory("inside", 2)
		before := len(s.requests())
		Expect(s.env.Client.Delete(s.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}})).To(Succeed())
		Eventually(func() error {
			return s.env.Client.Get(s.ctx, client.ObjectKey{Name: s.namespace}, &corev1.Namespace{})
		}).WithTimeout(patience).Should(Satisfy(apierrors.IsNotFound))
		s.awaitPods("inside")
		attempts := map[string]int{}
		for _, request := range s.requests()[before:] {
			if request.Verb == "create" {
				Expect(request.Code).To(Equal(http.StatusForbidden), "%v %s", request, request.Name)
				attempts[request.Kind()+" "+request.Name]++
			}
		}
		for what, times := range attempts {
			Expect(times).To(BeNumerically("<=", 2), "creating %s is not tried again and again", what)
		}
		for name, uids := range s.History().UIDs("inside") {
			Expect(uids).To(HaveLen(1), name)
		}
	})
})
