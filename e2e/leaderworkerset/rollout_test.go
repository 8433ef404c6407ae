package leaderworkerset

import (
	"fmt"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/cluster/controlplane"
	"sigs.k8s.io/lws/e2e/cluster/sim"
	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

const better = "registry.k8s.io/pause:3.11"

// hanging makes all pods of the next revision never ready, in a way of the node.
func hanging(way string) func(*lwsv1.LeaderWorkerSet) {
	return func(set *lwsv1.LeaderWorkerSet) {
		annotations := map[string]string{sim.HangAnnotation: way}
		if way == "" {
			annotations = nil
		}
		set.Spec.LeaderWorkerTemplate.WorkerTemplate.Annotations = annotations
	}
}

// all makes several changes in one update.
func all(changes ...func(*lwsv1.LeaderWorkerSet)) func(*lwsv1.LeaderWorkerSet) {
	return func(set *lwsv1.LeaderWorkerSet) {
		for _, change := range changes {
			change(set)
		}
	}
}

func partition(n int32) func(*lwsv1.LeaderWorkerSet) {
	return func(set *lwsv1.LeaderWorkerSet) {
		set.Spec.RolloutStrategy.RollingUpdateConfiguration.Partition = &n
	}
}

// rolling is a set with budgets whose pods start at random times.
func rolling(name string, replicas, size int32, maxUnavailable, maxSurge string) *lwstest.Builder {
	pods := template("worker")
	pods.Annotations = map[string]string{sim.StartDelayAnnotation: "100ms-1500ms"}
	return newSet(name).Replicas(replicas).Size(size).WorkerTemplate(pods).MaxUnavailable(maxUnavailable).MaxSurge(maxSurge)
}

// up creates a set and waits until it is at rest.
func (s *scenario) up(set *lwstest.Builder) string {
	GinkgoHelper()
	name := s.create(set).Name
	s.awaitAvailable(name)
	s.awaitMemoryOf(name)
	return name
}

// expectBudget checks what a rollout used since a mark, and reports it. Groups with keys
// that are going come on top of the budget.
func (s *scenario) expectBudget(name string, replicas, maxUnavailable, maxSurge int, since harness.Mark) harness.Extremes {
	GinkgoHelper()
	e := s.History().Extremes(name, since)
	AddReportEntry(fmt.Sprintf("%s: %d groups, maxUnavailable %d, maxSurge %d", name, replicas, maxUnavailable, maxSurge),
		fmt.Sprintf("fewest ready %d, most existing %d", e.MinReady, e.MaxExisting), ReportEntryVisibilityAlways)
	Expect(e.MinReady).To(BeNumerically(">=", replicas-maxUnavailable), "ready groups went %v", e.Readies)
	if lwsv1.GroupIdentity(s.Set(name)) != lwsv1.HashGroupIdentity {
		Expect(e.MaxExisting).To(BeNumerically("<=", replicas+maxSurge))
	}
	return e
}

// expectUpdated checks that all groups from an index on are of the update revision,
// and those below of another.
func (s *scenario) expectUpdated(name string, from int) {
	GinkgoHelper()
	revision := s.Set(name).Status.UpdateRevision
	for pod, object := range s.Pods(name) {
		index, err := strconv.Atoi(object.Labels[lwsv1.GroupIndexLabelKey])
		Expect(err).NotTo(HaveOccurred())
		isUpdated := Equal(revision)
		if index < from {
			isUpdated = Not(isUpdated)
		}
		Expect(object.Labels[lwsv1.RevisionLabelKey]).To(isUpdated, pod)
	}
}

func leaders(name string, indexes ...int) []string {
	var names []string
	for _, index := range indexes {
		names = append(names, fmt.Sprintf("%s-%d", name, index))
	}
	return names
}

// rollouts are the specs that must hold whatever the StatefulSet controller can do.
func rollouts(in func() *scenario) {
	DescribeTable("keeps its budget, replaces each group once, and tells it once",
		func(replicas, maxUnavailable, maxSurge int) {
			s := in()
			name := s.up(rolling("roll", int32(replicas), 2, strconv.Itoa(maxUnavailable), strconv.Itoa(maxSurge)))
			mark := s.History().Mark()
			s.settle(name, image(better))
			s.awaitPods(name, podNames(name, replicas, 2)...)
			s.expectBudget(name, replicas, maxUnavailable, maxSurge, mark)
			s.expectUpdated(name, 0)
			for _, pod := range podNames(name, replicas, 2) {
				Expect(s.History().UIDs(name)[pod]).To(HaveLen(2), pod)
			}
			Expect(s.History().Course(name, lwsv1.ConditionAvailable, mark)).To(Equal([]string{
				"True AllGroupsReady", "False GroupsNotReady", "True AllGroupsReady",
			}))
			Expect(s.History().Course(name, lwsv1.ConditionUpdateInProgress, mark)).To(Equal([]string{
				"False NoUpdate", "True GroupsUpdating", "False NoUpdate",
			}))
			Expect(s.History().Course(name, lwsv1.ConditionProgressing, mark)[:2]).To(Equal([]string{"False AllGroupsReady", "True GroupsUpdating"}))
			Eventually(func() int { return s.History().Told(name, lwsv1.ReasonAllGroupsReady) }).WithTimeout(patience).Should(Equal(2))
			Expect(s.History().Told(name, lwsv1.ReasonGroupsUpdating)).To(Equal(1))
			Expect(s.History().Told(name, lwsv1.ReasonCreatingRevision)).To(Equal(2))
			Expect(s.History().Told(name, lwsv1.ReasonRecreateGroup)).To(BeZero())
		},
		Entry("one at a time", 3, 1, 0),
		Entry("with surge only", 3, 0, 1),
		Entry("of one group with surge", 1, 0, 1),
		Entry("of one group without", 1, 1, 0),
		Entry("with both", 4, 1, 2),
	)

	It("replaces several groups at a time, the highest first", func() {
		s := in()
		name := s.up(rolling("wide", 8, 2, "4", "0"))
		mark := s.History().Mark()
		s.settle(name, image(better))
		e := s.expectBudget(name, 8, 4, 0, mark)
		Expect(e.MinReady).To(Equal(4), "four at a time; ready groups went %v", e.Readies)
		Expect(s.History().Replaced(name, mark)[:4]).To(ConsistOf(leaders(name, 4, 5, 6, 7)))
	})

	It("of a set that was never ready proceeds", func() {
		s := in()
		set := newSet("bad").Replicas(4).Size(2).MaxUnavailable("0").MaxSurge("1")
		object := set.Namespace(s.namespace).Obj()
		hanging(sim.HangImage)(object)
		Expect(s.env.Client.Create(s.ctx, object)).To(Succeed())
		s.await("all pods wait for their image", func() (string, bool) {
			pending := 0
			for _, pod := range s.Pods("bad") {
				if pod.Spec.NodeName != "" {
					pending++
				}
			}
			return strconv.Itoa(pending), pending == 8
		})
		mark := s.History().Mark()
		s.settle("bad", all(hanging(""), image(better)))
		s.awaitPods("bad", podNames("bad", 4, 2)...)
		s.expectBudget("bad", 4, 4, 1, mark)
	})

	It("replaces a broken group first, and no other while that is down", func() {
		s := in()
		name := s.up(rolling("sick", 2, 2, "1", "0"))
		Expect(sim.Hang(s.ctx, s.env.Kube, s.namespace, "sick-0-1")).To(Succeed())
		s.awaitSet(name, "has one ready group", func(set *lwsv1.LeaderWorkerSet) bool { return set.Status.ReadyReplicas == 1 })
		mark := s.History().Mark()
		s.settle(name, image(better))
		Expect(s.History().Replaced(name, mark)).To(Equal(leaders(name, 0, 1)))
		Expect(s.History().Extremes(name, mark).MinReady).To(Equal(1), "number 1 serves until number 0 does")
	})

	It("rounds so that it can proceed, also when it is scaled", func() {
		s := in()
		name := s.up(rolling("percent", 5, 1, "10%", "0"))
		mark := s.History().Mark()
		s.settle(name, image(better))
		s.expectBudget(name, 5, 1, 0, mark)
		for _, n := range []string{"20", "5", "1"} {
			_, err := managers.Kubectl(s.ctx, s.env.Cluster, nil, "scale", "lws/"+name, "-n", s.namespace, "--replicas="+n)
			Expect(err).NotTo(HaveOccurred(), n)
		}
		s.awaitObserved(name)
		s.awaitAvailable(name)
		s.awaitPods(name, podNames(name, 1, 1)...)
	})

	DescribeTable("of template, size and replicas at once ends without room for both generations",
		func(maxSurge string) {
			s := in()
			room := map[string]string{"room": s.namespace}
			node := sim.Node{
				Name: "room-" + s.namespace, Labels: room,
				Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("6")},
				Taints:   []corev1.Taint{{Key: "room", Value: s.namespace, Effect: corev1.TaintEffectNoSchedule}},
			}
			Expect(sim.AddNode(s.ctx, s.env.Kube, node)).To(Succeed())
			DeferCleanup(func() { Expect(sim.RemoveNode(s.ctx, s.env.Kube, node.Name)).To(Succeed()) })
			pods := template("worker")
			pods.Spec.NodeSelector = room
			pods.Spec.Tolerations = []corev1.Toleration{{Key: "room", Operator: corev1.TolerationOpExists}}
			pods.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
			name := s.up(newSet("full").Replicas(3).Size(2).WorkerTemplate(pods).MaxUnavailable("1").MaxSurge(maxSurge))
			s.settle(name, all(image(better), size(3), replicas(2)))
			s.awaitPods(name, podNames(name, 2, 3)...)
			s.expectUpdated(name, 0)
		},
		Entry("with the default budget", "0"),
		Entry("with a surge that finds no room", "1"),
	)

	It("with another size leaves no group in between, whatever is deleted", func() {
		s := in()
		name := s.up(newSet("sized").Replicas(4).Size(2).MaxUnavailable("1").MaxSurge("0").Partition(1))
		old := s.Set(name).Status.UpdateRevision
		s.change(name, all(size(3), hanging(sim.HangUnready)))
		s.await("the first group is replaced and stays unready", func() (string, bool) {
			pods := s.Pods(name)
			return strconv.Itoa(len(pods)), pods["sized-3-2"] != nil
		})
		for _, reached := range []string{"sized-0", "sized-1"} {
			s.removePod(reached)
		}
		s.await("both groups are whole again", func() (string, bool) {
			pods := s.Pods(name)
			for _, leader := range []string{"sized-0", "sized-1"} {
				pod := pods[leader]
				if pod == nil || pod.DeletionTimestamp != nil || len(s.History().UIDs(name)[leader]) < 2 || pod.Annotations[lwsv1.GroupMembersAnnotationKey] == "" {
					return leader + " is not", false
				}
			}
			return "", true
		})
		for _, leader := range []string{"sized-0", "sized-1"} {
			pods := s.Pods(name)
			revision := pods[leader].Labels[lwsv1.RevisionLabelKey]
			members := 0
			for pod, object := range pods {
				if pod == leader || strings.HasPrefix(pod, leader+"-") {
					members++
					Expect(object.Labels[lwsv1.RevisionLabelKey]).To(Equal(revision), pod)
					Expect(object.Annotations[lwsv1.SizeAnnotationKey]).To(Equal(pods[leader].Annotations[lwsv1.SizeAnnotationKey]), pod)
				}
			}
			Expect(strconv.Itoa(members)).To(Equal(pods[leader].Annotations[lwsv1.SizeAnnotationKey]), leader)
			if leader == "sized-0" {
				Expect(revision).To(Equal(old), "below the partition")
			}
		}
		s.settle(name, hanging(""))
		s.expectUpdated(name, 1)
		s.settle(name, partition(0))
		s.awaitPods(name, podNames(name, 4, 3)...)
		s.expectUpdated(name, 0)
	})

	It("undone halfway leaves alone what it has not reached", func() {
		s := in()
		name := s.up(newSet("undo").Replicas(5).Size(2).MaxUnavailable("2").MaxSurge("0"))
		first := s.Set(name).Status.UpdateRevision
		before := s.History().UIDs(name)
		s.change(name, hanging(sim.HangUnready))
		s.await("two groups are replaced", func() (string, bool) {
			uids := s.History().UIDs(name)
			return fmt.Sprint(len(uids["undo-4"]), len(uids["undo-3-1"])), len(uids["undo-4-1"]) == 2 && len(uids["undo-3-1"]) == 2
		})
		mark := s.History().Mark()
		s.settle(name, hanging(""))
		s.awaitPods(name, podNames(name, 5, 2)...)
		Expect(s.Set(name).Status.UpdateRevision).To(Equal(first))
		after := s.History().UIDs(name)
		for _, pod := range podNames(name, 3, 2) {
			Expect(after[pod]).To(Equal(before[pod]), pod)
		}
		Expect(s.History().Replaced(name, mark)).To(ConsistOf(leaders(name, 3, 4)))
		Expect(s.History().Told(name, lwsv1.ReasonCreatingRevision)).To(Equal(2), "the first revision is used again")
	})

	It("stops at the partition, and surge goes then", func() {
		s := in()
		name := s.up(rolling("part", 4, 2, "1", "1").Partition(2))
		before := s.History().UIDs(name)
		mark := s.History().Mark()
		s.settle(name, image(better))
		s.awaitPods(name, podNames(name, 4, 2)...)
		s.expectBudget(name, 4, 1, 1, mark)
		s.expectUpdated(name, 2)
		s.awaitSet(name, "counts two updated groups", func(set *lwsv1.LeaderWorkerSet) bool { return set.Status.UpdatedReplicas == 2 })
		for _, pod := range podNames(name, 2, 2) {
			Expect(s.History().UIDs(name)[pod]).To(Equal(before[pod]), pod)
		}

		By("making a group below it again as it was")
		s.removePod("part-0")
		s.awaitRecreated(name, "part-0", "part-0-1")
		s.expectUpdated(name, 2)

		By("going on when the partition goes")
		s.settle(name, partition(0))
		s.expectUpdated(name, 0)
	})

	It("goes on from what there is when the template changes again", func() {
		s := in()
		name := s.up(rolling("twice", 5, 2, "2", "1"))
		mark := s.History().Mark()
		s.change(name, image(better))
		s.await("a group is of the second revision", func() (string, bool) {
			uids := s.History().UIDs(name)["twice-4"]
			return fmt.Sprint(len(uids)), len(uids) > 1
		})
		s.settle(name, image("registry.k8s.io/pause:3.12"))
		s.awaitPods(name, podNames(name, 5, 2)...)
		s.expectBudget(name, 5, 2, 1, mark)
		s.expectUpdated(name, 0)
	})

	It("does not hold up a change of replicas", func() {
		s := in()
		name := s.up(rolling("scaled", 4, 2, "1", "1"))
		mark := s.History().Mark()
		s.change(name, image(better))
		s.await("the rollout has begun", func() (string, bool) {
			return "no leader ended", len(s.History().Replaced(name, mark)) > 0
		})
		s.change(name, replicas(7))
		s.await("new groups exist", func() (string, bool) {
			pods := s.Pods(name)
			return fmt.Sprint(len(pods)), pods["scaled-5"] != nil && pods["scaled-6"] != nil
		})
		s.change(name, replicas(2))
		s.awaitObserved(name)
		s.awaitAvailable(name)
		s.awaitPods(name, podNames(name, 2, 2)...)
		s.expectUpdated(name, 0)
		s.expectBudget(name, 2, 1, 6, mark)
	})
}

var _ = Describe("A rollout", func() {
	rollouts(begin)

	It("of 20 groups of 4 keeps its budget", func() {
		s := begin()
		name := s.up(rolling("large", 20, 4, "25%", "2"))
		mark := s.History().Mark()
		s.settle(name, image(better))
		s.awaitPods(name, podNames(name, 20, 4)...)
		s.expectBudget(name, 20, 5, 2, mark)
		for _, pod := range podNames(name, 20, 4) {
			Expect(s.History().UIDs(name)[pod]).To(HaveLen(2), pod)
		}
	})

	It("keeps ten revisions and reuses them", func() {
		s := begin()
		name := s.up(newSet("old").Replicas(1).Size(1))
		first := s.Set(name).Status.UpdateRevision
		for n := range 11 {
			s.settle(name, image("image:"+strconv.Itoa(n)))
		}
		s.awaitRevisions(name, 10)
		s.settle(name, image("image:5"))
		s.awaitRevisions(name, 10)
		s.settle(name, image(lwstest.Image))
		Expect(s.Set(name).Status.UpdateRevision).To(Equal(first), "the same content has the same key, stored or not")
	})
})

var _ = Describe("A rollout without StatefulSets' own maxUnavailable", Ordered, ContinueOnFailure, SpecPriority(1), func() {
	var env *harness.Environment
	BeforeAll(func(ctx SpecContext) {
		var err error
		env, err = harness.Start(ctx, harness.Options{
			Suite: "rollout", Shipped: managers.LWS(), Log: GinkgoWriter,
			Cluster: func(o *controlplane.Options) { o.FeatureGates = "MaxUnavailableStatefulSet=false" },
		})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(env.Stop)
	})
	rollouts(func() *scenario { return beginIn(env) })
})
