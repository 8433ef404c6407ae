package leaderworkerset

import (
	"fmt"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/cluster/sim"
)

// slow is a template whose pods take some time to end.
func slow(seconds int64) corev1.PodTemplateSpec {
	pods := template("worker")
	pods.Spec.TerminationGracePeriodSeconds = &seconds
	return pods
}

// awaitHeld waits for the leader that replaces a group and is held for it.
func (s *scenario) awaitHeld(name, replaces string) *corev1.Pod {
	GinkgoHelper()
	var held *corev1.Pod
	s.await("a leader waits for "+replaces, func() (string, bool) {
		for _, leader := range s.standing(name) {
			if leader.Annotations[lwsv1.ReplacesAnnotationKey] == replaces {
				held = leader
			}
		}
		return "", held != nil && len(held.Spec.SchedulingGates) > 0
	})
	return held
}

// awaitRunningFor waits for the leader that replaces a group to be admitted and ready.
func (s *scenario) awaitReplaced(name, replaced string) *corev1.Pod {
	GinkgoHelper()
	var found *corev1.Pod
	s.await("a leader replaces "+replaced, func() (string, bool) {
		for _, leader := range s.standing(name) {
			if leader.Annotations[lwsv1.ReplacesAnnotationKey] == replaced && isReady(leader) {
				found = leader
			}
		}
		return "", found != nil
	})
	return found
}

// restartWorker lets the first worker of a group restart.
func (s *scenario) restartWorker(name, key string) {
	GinkgoHelper()
	s.await("the group of "+key+" remembers", func() (string, bool) {
		group := s.keyedGroups(name)[key]
		return "", group != nil && group.leader != nil && group.leader.Annotations[lwsv1.GroupMembersAnnotationKey] != ""
	})
	worker := s.keyedGroups(name)[key].workers[0].Name
	Expect(sim.Restart(s.ctx, s.env.Kube, s.namespace, worker, "worker")).To(Succeed())
}

var _ = Describe("Replacement with Hash identity", func() {
	It("waits for its own group, not for one that is scaled away", func() {
		s := begin()
		name := s.create(newSet("pair").Hash().Replicas(4).Size(2).WorkerTemplate(slow(20))).Name
		s.awaitAvailable(name)
		s.awaitGroups(name, 4, 2)
		s.awaitMemory(name, 4)

		By("scaling two away, which take long to end")
		s.change(name, replicas(2))
		s.await("two groups stand", func() (string, bool) { n := len(s.standing(name)); return fmt.Sprint(n), n == 2 })
		var scaled []string
		for key, group := range s.keyedGroups(name) {
			if group.leader == nil || group.leader.DeletionTimestamp != nil {
				scaled = append(scaled, key)
			}
		}
		Expect(scaled).To(HaveLen(2))

		By("losing one of the others at once")
		victim := slices.Min(slices.Collect(maps.Keys(s.standing(name))))
		group := s.keyedGroups(name)[victim]
		for _, pod := range append(group.workers, group.leader) {
			s.remove(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: s.namespace}}, client.GracePeriodSeconds(0))
		}
		s.await("another group takes its place", func() (string, bool) {
			ready := 0
			for _, leader := range s.standing(name) {
				if isReady(leader) {
					ready++
				}
			}
			left := 0
			for _, key := range scaled {
				if s.keyedGroups(name)[key] != nil {
					left++
				}
			}
			Expect(left).NotTo(BeZero(), "the groups that are scaled away were waited for")
			return fmt.Sprintf("%d ready, %d left", ready, left), ready == 2
		})
		s.awaitAvailable(name)
		s.awaitGroups(name, 2, 2)
	})

	It("holds its leader gated, without workers or a Service, until nothing is left of the group", func() {
		s := begin()
		name := s.create(newSet("held").Hash().Replicas(2).Size(2).WorkerTemplate(slow(8)).
			SubdomainPolicy(lwsv1.SubdomainUniquePerReplica)).Name
		s.awaitAvailable(name)
		groups := s.awaitGroups(name, 2, 2)
		s.awaitMemory(name, 2)
		s.awaitServices(name, hostNames(name, groups)...)
		victim := slices.Min(slices.Collect(maps.Keys(groups)))
		s.removePod(groups[victim].workers[0].Name)
		held := s.awaitHeld(name, victim)
		Expect(held.Annotations).To(HaveKeyWithValue(corev1.PodDeletionCost, "-100"))
		scheduled := held.Status.Conditions
		Expect(scheduled).To(ContainElement(And(HaveField("Type", corev1.PodScheduled), HaveField("Reason", corev1.PodReasonSchedulingGated))))
		own := name + "-" + held.Labels[lwsv1.GroupKeyLabelKey][:8]
		for _, object := range []client.Object{&appsv1.StatefulSet{}, &corev1.Service{}} {
			err := s.env.Client.Get(s.ctx, s.Key(own), object)
			Expect(client.IgnoreNotFound(err)).To(Succeed())
			Expect(err).To(HaveOccurred(), "%T %s", object, own)
		}
		s.awaitAvailable(name)
		groups = s.awaitGroups(name, 2, 2)
		s.awaitServices(name, hostNames(name, groups)...)
		history := s.History()
		var gone, ran uint64
		for _, state := range history.Pods {
			if state.Group == victim && state.Gone {
				gone = max(gone, state.Version)
			}
			if state.UID == held.UID && !state.Gated && ran == 0 {
				ran = state.Version
			}
		}
		Expect(ran).To(BeNumerically(">", gone), "the leader was admitted before its predecessor was gone")
	})

	DescribeTable("on a full cluster preempts what is beside it only with Immediate",
		func(policy lwsv1.GroupReplacementPolicyType, preempts bool) {
			s := begin()
			room := map[string]string{"room": s.namespace}
			node := sim.Node{
				Name: "room-" + s.namespace, Labels: room,
				Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")},
				Taints:   []corev1.Taint{{Key: "room", Value: s.namespace, Effect: corev1.TaintEffectNoSchedule}},
			}
			Expect(sim.AddNode(s.ctx, s.env.Kube, node)).To(Succeed())
			DeferCleanup(func() { Expect(sim.RemoveNode(s.ctx, s.env.Kube, node.Name)).To(Succeed()) })
			high := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high-" + s.namespace}, Value: 1000}
			Expect(s.env.Client.Create(s.ctx, high)).To(Succeed())
			DeferCleanup(func() { Expect(s.env.Client.Delete(s.ctx, high)).To(Succeed()) })
			pods := slow(6)
			pods.Spec.NodeSelector = room
			pods.Spec.PriorityClassName = high.Name
			pods.Spec.Tolerations = []corev1.Toleration{{Key: "room", Operator: corev1.TolerationOpExists}}
			pods.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
			name := s.create(newSet("full").Hash().Replicas(1).Size(2).WorkerTemplate(pods).GroupReplacementPolicy(policy)).Name
			s.awaitAvailable(name)
			groups := s.awaitGroups(name, 1, 2)
			s.awaitMemory(name, 1)

			low := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "low", Namespace: s.namespace}, Spec: *pods.Spec.DeepCopy()}
			low.Spec.PriorityClassName = ""
			Expect(s.env.Client.Create(s.ctx, low)).To(Succeed())
			Eventually(func(g Gomega) {
				g.Expect(s.env.Client.Get(s.ctx, client.ObjectKeyFromObject(low), low)).To(Succeed())
				g.Expect(low.Status.Phase).To(Equal(corev1.PodRunning))
			}).WithTimeout(patience).Should(Succeed())

			for key, group := range groups {
				s.removePod(group.workers[0].Name)
				s.awaitReplaced(name, key)
			}
			s.awaitAvailable(name)
			s.awaitGroups(name, 1, 2)
			after := &corev1.Pod{}
			err := s.env.Client.Get(s.ctx, client.ObjectKeyFromObject(low), after)
			Expect(client.IgnoreNotFound(err)).To(Succeed())
			Expect(err != nil || after.DeletionTimestamp != nil).To(Equal(preempts), "the workload beside it was preempted")
		},
		Entry("not with PostTermination", lwsv1.PostTerminationGroupReplacement, false),
		Entry("but with Immediate", lwsv1.ImmediateGroupReplacement, true),
	)

	It("takes the restart count along, stops a group that has spent it, and recovers", func() {
		s := begin()
		name := s.create(newSet("count").Hash().Replicas(2).Size(2).MaxGroupRestarts(3)).Name
		s.awaitAvailable(name)
		groups := s.awaitGroups(name, 2, 2)
		revision := s.Set(name).Status.UpdateRevision
		keys := slices.Sorted(maps.Keys(groups))
		other := s.standing(name)[keys[1]].UID
		key := keys[0]
		for round := 1; round <= 3; round++ {
			s.restartWorker(name, key)
			key = s.awaitReplaced(name, key).Labels[lwsv1.GroupKeyLabelKey]
			s.awaitSet(name, fmt.Sprintf("has moved count %d", round), func(set *lwsv1.LeaderWorkerSet) bool {
				return set.Annotations[lwsv1.GroupRestartCountsAnnotationKey] == fmt.Sprintf(`{"%s/%s":%d}`, revision, key, round)
			})
		}

		By("stopping it")
		s.restartWorker(name, key)
		s.awaitSet(name, "is degraded", func(set *lwsv1.LeaderWorkerSet) bool {
			return isTrue(set, lwsv1.ConditionDegraded) && !isTrue(set, lwsv1.ConditionProgressing) &&
				condition(set, lwsv1.ConditionAvailable).Reason == lwsv1.ReasonReplicaRestartBudgetExceeded
		})
		held := s.awaitHeld(name, key)
		s.change(name, func(set *lwsv1.LeaderWorkerSet) {
			set.Spec.GroupReplacementPolicy = lwsv1.ImmediateGroupReplacement
		})
		s.awaitHashReaction(name)
		Expect(s.standing(name)[held.Labels[lwsv1.GroupKeyLabelKey]].Spec.SchedulingGates).NotTo(BeEmpty(), "Immediate does not admit it")

		By("passing the pair on")
		s.removePod(held.Name)
		s.await("another leader is held", func() (string, bool) {
			for _, leader := range s.standing(name) {
				if leader.UID != held.UID && leader.Annotations[lwsv1.ReplacesAnnotationKey] == key && len(leader.Spec.SchedulingGates) > 0 {
					held = leader
					return "", true
				}
			}
			return "none is", false
		})

		By("starting it again")
		s.patch(&corev1.Pod{}, s.keyedGroups(name)[key].leader.Name, `{"metadata":{"annotations":{"`+lwsv1.RecoverAnnotationKey+`":"true"}}}`)
		s.awaitAvailable(name)
		s.awaitGroups(name, 2, 2)
		s.awaitSet(name, "has a fresh budget", func(set *lwsv1.LeaderWorkerSet) bool {
			return set.Annotations[lwsv1.GroupRestartCountsAnnotationKey] == "" && !isTrue(set, lwsv1.ConditionDegraded)
		})
		Expect(s.standing(name)[keys[1]].UID).To(Equal(other))
		Expect(s.standing(name)).To(HaveKey(held.Labels[lwsv1.GroupKeyLabelKey]))
	})

	It("lets go of an exhausted group that is scaled away, or that a rollout replaces", func() {
		s := begin()
		name := s.create(newSet("spent").Hash().Replicas(2).Size(2).MaxGroupRestarts(0)).Name
		s.awaitAvailable(name)
		keys := slices.Sorted(maps.Keys(s.awaitGroups(name, 2, 2)))
		s.restartWorker(name, keys[0])
		s.awaitHeld(name, keys[0])
		s.awaitSet(name, "is degraded", func(set *lwsv1.LeaderWorkerSet) bool { return isTrue(set, lwsv1.ConditionDegraded) })
		s.settle(name, replicas(1))
		s.awaitGroups(name, 1, 2)
		Expect(s.standing(name)).To(HaveKey(keys[1]))

		s.restartWorker(name, keys[1])
		s.awaitHeld(name, keys[1])
		s.settle(name, image(better))
		s.awaitGroups(name, 1, 2)
		s.expectNothingOfDeadGroups(name, 1)
	})

	It("leaves nothing of dead groups after many replacements", func() {
		s := begin()
		name := s.create(newSet("churn").Hash().Replicas(5).Size(2).MaxGroupRestarts(100).
			SubdomainPolicy(lwsv1.SubdomainUniquePerReplica)).Name
		s.awaitAvailable(name)
		s.awaitGroups(name, 5, 2)
		for range 10 {
			before := s.standing(name)
			for key := range before {
				s.restartWorker(name, key)
			}
			s.await("all groups are others", func() (string, bool) {
				replaced := 0
				for key, leader := range s.standing(name) {
					if before[key] == nil && leader.Annotations[lwsv1.ReplacesAnnotationKey] != "" && isReady(leader) && leader.Annotations[lwsv1.GroupMembersAnnotationKey] != "" {
						replaced++
					}
				}
				return fmt.Sprint(replaced), replaced == 5 && len(s.keyedGroups(name)) == 5
			})
		}
		s.awaitAvailable(name)
		groups := s.awaitGroups(name, 5, 2)
		s.awaitServices(name, hostNames(name, groups)...)
		s.expectNothingOfDeadGroups(name, 5)
		s.awaitSet(name, "has counted fifty", func(set *lwsv1.LeaderWorkerSet) bool { return set.Status.GroupRestarts == 50 })
	})

	It("deletes a leader that has ended, also with None", func() {
		s := begin()
		name := s.create(newSet("ended").Hash().Replicas(2).Size(2).RestartPolicy(lwsv1.NoneRestartPolicy)).Name
		s.awaitAvailable(name)
		groups := s.awaitGroups(name, 2, 2)
		key := slices.Min(slices.Collect(maps.Keys(groups)))
		Expect(sim.Fail(s.ctx, s.env.Kube, s.namespace, groups[key].leader.Name, "Evicted")).To(Succeed())
		s.await("its group is gone", func() (string, bool) { return "", s.keyedGroups(name)[key] == nil })
		s.awaitAvailable(name)
		s.awaitGroups(name, 2, 2)
	})
})

// hostNames are those of the leaders of groups.
func hostNames(set string, groups map[string]*keyed) []string {
	var names []string
	for key := range groups {
		names = append(names, set+"-"+key[:8])
	}
	return names
}

var _ = Describe("A rollout with Hash identity", func() {
	It("keeps all groups ready with surge and without unavailable ones", func() {
		s := begin()
		name := s.create(rolling("roll", 6, 2, "0", "1").Hash()).Name
		s.awaitAvailable(name)
		s.awaitGroups(name, 6, 2)
		mark := s.History().Mark()
		s.settle(name, image(better))
		s.awaitGroups(name, 6, 2)
		s.expectBudget(name, 6, 0, 1, mark)
		for _, leader := range s.standing(name) {
			Expect(leader.Labels).To(HaveKeyWithValue(lwsv1.RevisionLabelKey, s.Set(name).Status.UpdateRevision))
		}
		s.awaitSet(name, "is of one revision", func(set *lwsv1.LeaderWorkerSet) bool {
			return set.Status.CurrentRevision == set.Status.UpdateRevision && set.Status.UpdatedReplicas == 6
		})
	})

	It("of one group is told until the new group is ready", func() {
		s := begin()
		name := s.create(rolling("one", 1, 2, "1", "0").Hash()).Name
		s.awaitAvailable(name)
		s.awaitGroups(name, 1, 2)
		s.settle(name, image(better))
		s.awaitGroups(name, 1, 2)
		var readyThen []int32
		for _, state := range s.History().OfSet(name) {
			set := state.LeaderWorkerSet
			if set == nil || set.Status.ObservedGeneration != 2 {
				continue
			}
			if !isTrue(set, lwsv1.ConditionUpdateInProgress) {
				readyThen = append(readyThen, set.Status.ReadyReplicas)
			}
		}
		Expect(readyThen).NotTo(BeEmpty())
		Expect(readyThen).To(HaveEach(BeEquivalentTo(1)), "ready groups while no update is told")
	})

	It("changes the size and the subdomain policy", func() {
		s := begin()
		name := s.create(newSet("shape").Hash().Replicas(2).Size(2)).Name
		s.awaitAvailable(name)
		s.awaitGroups(name, 2, 2)
		s.settle(name, size(1))
		s.awaitGroups(name, 2, 1)
		s.expectNothingOfDeadGroups(name, 0)
		s.settle(name, size(3))
		s.awaitGroups(name, 2, 3)
		s.awaitServices(name, name)
		s.settle(name, subdomains(lwsv1.SubdomainUniquePerReplica))
		groups := s.awaitGroups(name, 2, 3)
		s.awaitServices(name, hostNames(name, groups)...)
		for key, group := range groups {
			host := name + "-" + key[:8]
			for _, pod := range append(group.workers, group.leader) {
				Expect(pod.Spec.Subdomain).To(Equal(host))
				Expect(environment(&pod.Spec.Containers[0])).To(HaveKeyWithValue("LWS_LEADER_ADDRESS", host+"."+host+"."+s.namespace))
			}
		}
	})
})
