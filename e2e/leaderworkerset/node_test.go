package leaderworkerset

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/cluster/sim"
)

// nodePool makes nodes that only pods from ownNodes can be placed on.
func (s *scenario) nodePool(count int) {
	GinkgoHelper()
	for i := range count {
		name := fmt.Sprintf("%s-%d", s.namespace, i)
		Expect(sim.AddNode(s.ctx, s.env.Kube, sim.Node{
			Name:   name,
			Labels: map[string]string{"pool": s.namespace, sim.RackLabel: name},
			Taints: []corev1.Taint{{Key: "pool", Value: s.namespace, Effect: corev1.TaintEffectNoSchedule}},
		})).To(Succeed())
		DeferCleanup(func() { Expect(sim.RemoveNode(s.ctx, s.env.Kube, name)).To(Succeed()) })
	}
}

// ownNodes are pods for the pool, each of a group on a node of its own, that are
// evicted a second after their node is known to be dead.
func (s *scenario) ownNodes() corev1.PodTemplateSpec {
	pods := template("worker")
	pods.Spec.NodeSelector = map[string]string{"pool": s.namespace}
	pods.Spec.Tolerations = []corev1.Toleration{{Key: "pool", Operator: corev1.TolerationOpExists}}
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		pods.Spec.Tolerations = append(pods.Spec.Tolerations, corev1.Toleration{
			Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(1)),
		})
	}
	pods.Labels = map[string]string{"spread": "wide"}
	pods.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector: &metav1.LabelSelector{MatchLabels: pods.Labels},
	}}
	return pods
}

var _ = Describe("A node that dies", func() {
	// dying brings a set up, kills the node of a worker of its last group and waits
	// until the set says that it waits for that node.
	dying := func(set *lwstest.Builder) (s *scenario, name, pod, node string) {
		GinkgoHelper()
		s = begin()
		s.nodePool(8)
		object := s.create(set.Replicas(2).Size(3).WorkerTemplate(s.ownNodes()))
		name = object.Name
		s.awaitAvailable(name)
		if lwsv1.RestartPolicy(object) != lwsv1.NoneRestartPolicy {
			s.awaitMemory(name, 2)
		}
		pod = name + "-1-1"
		node = s.Pods(name)[pod].Spec.NodeName
		Expect(sim.Kill(s.ctx, s.env.Kube, node)).To(Succeed())
		return s, name, pod, node
	}
	outOfService := func(s *scenario, node string) {
		s.patch(&corev1.Node{}, node, `{"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","value":"nodeshutdown","effect":"NoExecute"}]}}`)
	}
	remove := func(s *scenario, node string) { Expect(sim.RemoveNode(s.ctx, s.env.Kube, node)).To(Succeed()) }
	// The pods of a Node that is gone go with pod garbage collection, within a minute
	// after it, and what they hold back with garbage collection after that.
	awaitElsewhere := func(s *scenario, name, dead string) {
		GinkgoHelper()
		s.awaitFor(longPatience, "all pods run on other nodes", func() (string, bool) {
			pods := s.Pods(name)
			for _, pod := range podNames(name, 2, 3) {
				if pods[pod] == nil || !isReady(pods[pod]) || pods[pod].Spec.NodeName == dead || pods[pod].DeletionTimestamp != nil {
					return pod + " does not", false
				}
			}
			return "", true
		})
		s.awaitAvailable(name)
	}

	DescribeTable("is told of, and its group comes back elsewhere once the node is given up",
		func(set *lwstest.Builder, giveUp func(*scenario, string)) {
			s, name, pod, node := dying(set)
			s.awaitSet(name, "says which pod on which node it waits for", func(set *lwsv1.LeaderWorkerSet) bool {
				progressing := condition(set, lwsv1.ConditionProgressing)
				return progressing.Reason == lwsv1.ReasonPredecessorTerminating &&
					strings.Contains(progressing.Message, pod) && strings.Contains(progressing.Message, node) &&
					strings.Contains(progressing.Message, "out-of-service")
			})
			Expect(s.Set(name).Status.ReadyReplicas).To(Equal(int32(1)))
			s.expectLives(name, 1, "lost-0", "lost-0-1", "lost-0-2")
			giveUp(s, node)
			awaitElsewhere(s, name, node)
			s.expectLives(name, 2, "lost-1", "lost-1-2")
			s.expectLives(name, 1, "lost-0", "lost-0-1", "lost-0-2")
		},
		Entry("by deletion", newSet("lost"), remove),
		Entry("by the out-of-service taint", newSet("lost"), outOfService),
		Entry("by deletion, after the start", newSet("lost").RestartPolicy(lwsv1.RecreateGroupAfterStart), remove),
		Entry("by the taint, with Parallel", newSet("lost").PodTerminationPolicy(lwsv1.ParallelPodTermination), outOfService),
	)

	It("takes only its own pods with None", func() {
		s, name, pod, node := dying(newSet("lost").RestartPolicy(lwsv1.NoneRestartPolicy))
		s.await("the worker ends", func() (string, bool) {
			seen := s.Pods(name)[pod]
			return "", seen != nil && seen.DeletionTimestamp != nil
		})
		remove(s, node)
		awaitElsewhere(s, name, node)
		moved := 0
		for _, pod := range podNames(name, 2, 3) {
			moved += len(s.History().UIDs(name)[pod]) - 1
		}
		Expect(moved).To(Equal(1))
	})
})
