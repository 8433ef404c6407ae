package leaderworkerset

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/cluster/sim"
)

// keyed is a group of a set with Hash identity: the pods that it has.
type keyed struct {
	key     string
	leader  *corev1.Pod
	workers []*corev1.Pod
}

// keyedGroups are the groups of a set that have pods, by key.
func (s *scenario) keyedGroups(set string) map[string]*keyed {
	groups := map[string]*keyed{}
	for _, pod := range s.Pods(set) {
		key := pod.Labels[lwsv1.GroupIndexLabelKey]
		group := groups[key]
		if group == nil {
			group = &keyed{key: key}
			groups[key] = group
		}
		if pod.Labels[lwsv1.WorkerIndexLabelKey] == "0" {
			group.leader = pod
		} else {
			group.workers = append(group.workers, pod)
		}
	}
	return groups
}

// standing are the leaders of a set that are not being deleted, by key.
func (s *scenario) standing(set string) map[string]*corev1.Pod {
	leaders := map[string]*corev1.Pod{}
	for key, group := range s.keyedGroups(set) {
		if group.leader != nil && group.leader.DeletionTimestamp == nil {
			leaders[key] = group.leader
		}
	}
	return leaders
}

// awaitGroups waits until a set has exactly so many groups, whole and ready, and nothing
// is left of others.
func (s *scenario) awaitGroups(set string, replicas, size int) map[string]*keyed {
	GinkgoHelper()
	var groups map[string]*keyed
	s.await(fmt.Sprintf("%d groups of %d pods", replicas, size), func() (string, bool) {
		groups = s.keyedGroups(set)
		var seen []string
		ok := len(groups) == replicas
		for key, group := range groups {
			ready := 0
			for _, pod := range append(slices.Clone(group.workers), group.leader) {
				if pod != nil && isReady(pod) && pod.DeletionTimestamp == nil {
					ready++
				}
			}
			ok = ok && ready == size && len(group.workers) == size-1
			seen = append(seen, fmt.Sprintf("%.8s: leader %t, %d workers, %d ready", key, group.leader != nil, len(group.workers), ready))
		}
		slices.Sort(seen)
		return strings.Join(seen, "; "), ok
	})
	return groups
}

// awaitHashReaction labels a set and waits until the manager has repeated the label on
// the leader Deployment.
func (s *scenario) awaitHashReaction(name string) {
	GinkgoHelper()
	value := strconv.Itoa(len(s.History().Sets))
	s.change(name, func(set *lwsv1.LeaderWorkerSet) {
		metav1.SetMetaDataLabel(&set.ObjectMeta, "touched", value)
	})
	Eventually(func(g Gomega) {
		leaders := &appsv1.Deployment{}
		g.Expect(s.env.Client.Get(s.ctx, s.Key(name), leaders)).To(Succeed())
		g.Expect(leaders.Labels).To(HaveKeyWithValue("touched", value))
	}).WithTimeout(patience).Should(Succeed())
}

func uidsOf(leaders map[string]*corev1.Pod) map[string]types.UID {
	uids := map[string]types.UID{}
	for key, leader := range leaders {
		uids[key] = leader.UID
	}
	return uids
}

var _ = Describe("Hash identity", func() {
	It("brings groups up whose names are drawn, with the labels, names and addresses of the documents", func() {
		s := begin()
		name := s.create(newSet("hash").Hash().Replicas(2).Size(3)).Name
		s.awaitAvailable(name)
		groups := s.awaitGroups(name, 2, 3)
		s.awaitMemory(name, 2)
		set := s.Set(name)
		for key, group := range groups {
			Expect(key).To(MatchRegexp(`^[0-9a-f]{40}$`))
			host := name + "-" + key[:8]
			address := host + ".hash." + s.namespace
			Expect(group.leader.Labels).To(HaveKeyWithValue(prefix+"group-key", key))
			Expect(group.leader.Spec.Hostname).To(Equal(host))
			Expect(group.leader.Spec.Subdomain).To(Equal("hash"))
			Expect(group.leader.Annotations).To(HaveKeyWithValue(prefix+"group-identity", "Hash"))
			Expect(group.leader.Annotations).NotTo(HaveKey(corev1.PodDeletionCost))
			Expect(group.leader.Annotations).NotTo(HaveKey(prefix + "replaces"))
			Expect(group.leader.Spec.SchedulingGates).To(BeEmpty())
			Expect(group.leader.Spec.ReadinessGates).To(ConsistOf(corev1.PodReadinessGate{ConditionType: prefix + "group-ready"}))
			var names []string
			for _, worker := range group.workers {
				names = append(names, worker.Name)
				Expect(worker.Labels).To(HaveKeyWithValue(prefix+"group-key", key))
				Expect(worker.Labels).To(HaveKeyWithValue(prefix+"template-revision-hash", set.Status.UpdateRevision))
				Expect(worker.Annotations).To(And(
					HaveKeyWithValue(prefix+"leader-name", group.leader.Name),
					HaveKeyWithValue(prefix+"leader-address", address),
					HaveKeyWithValue(prefix+"group-identity", "Hash"),
				))
			}
			Expect(names).To(ConsistOf(host+"-1", host+"-2"))
			for _, pod := range append(group.workers, group.leader) {
				Expect(pod.Spec.Containers[0].Env[0]).To(Equal(corev1.EnvVar{Name: "LWS_LEADER_ADDRESS", Value: address}))
			}
			workers := &appsv1.StatefulSet{}
			s.get(host, workers)
			Expect(metav1.GetControllerOf(workers).UID).To(Equal(group.leader.UID))
		}
		leaders := &appsv1.Deployment{}
		s.get(name, leaders)
		Expect(metav1.GetControllerOf(leaders).UID).To(Equal(set.UID))
		Expect(leaders.Spec.ProgressDeadlineSeconds).To(HaveValue(BeEquivalentTo(2147483647)))
		Expect(leaders.Spec.Template.Spec.SchedulingGates).To(BeEmpty())
		Expect(leaders.Spec.Template.Labels).NotTo(HaveKey(prefix + "group-key"))
		Expect(set.Status.HPAPodSelector).To(Equal(prefix + "name=hash," + prefix + "worker-index=0"))
		Expect(set.Status.ReadyReplicas).To(BeEquivalentTo(2))
	})

	It("scales to zero and back, and removes groups that are not ready before those that are", func() {
		s := begin()
		name := s.create(newSet("scale").Hash().Replicas(4).Size(2)).Name
		s.awaitAvailable(name)
		groups := s.awaitGroups(name, 4, 2)
		s.awaitMemory(name, 4)
		before := uidsOf(s.standing(name))

		By("making a worker of one and the leader of another not ready")
		keys := slices.Sorted(maps.Keys(groups))
		broken := []string{keys[0], keys[2]}
		Expect(sim.Hang(s.ctx, s.env.Kube, s.namespace, groups[broken[0]].workers[0].Name)).To(Succeed())
		Expect(sim.Hang(s.ctx, s.env.Kube, s.namespace, groups[broken[1]].leader.Name)).To(Succeed())
		s.awaitSet(name, "has two ready groups", func(set *lwsv1.LeaderWorkerSet) bool { return set.Status.ReadyReplicas == 2 })
		s.await("both leaders count as not ready", func() (string, bool) {
			for _, key := range broken {
				if leader := s.standing(name)[key]; leader == nil || isReady(leader) {
					return key + " is ready", false
				}
			}
			return "", true
		})
		s.settle(name, replicas(2))
		s.awaitGroups(name, 2, 2)
		for _, key := range broken {
			delete(before, key)
		}
		Expect(uidsOf(s.standing(name))).To(Equal(before))

		By("going to zero and back")
		s.settle(name, replicas(0))
		s.awaitPods(name)
		s.settle(name, replicas(3))
		s.awaitGroups(name, 3, 2)
		s.expectNothingOfDeadGroups(name, 3)
	})

	It("replaces a group that fails, and no other", func() {
		s := begin()
		name := s.create(newSet("heal").Hash().Replicas(3).Size(3)).Name
		s.awaitAvailable(name)
		groups := s.awaitGroups(name, 3, 3)
		s.awaitMemory(name, 3)
		before := uidsOf(s.standing(name))
		victim := slices.Min(slices.Collect(maps.Keys(groups)))
		s.removePod(groups[victim].workers[0].Name)
		s.await("the group is gone", func() (string, bool) { return "", s.keyedGroups(name)[victim] == nil })
		s.awaitAvailable(name)
		s.awaitGroups(name, 3, 3)
		s.awaitHashReaction(name)
		after := uidsOf(s.standing(name))
		delete(before, victim)
		for key, uid := range before {
			Expect(after).To(HaveKeyWithValue(key, uid))
		}
		Expect(s.History().Told(name, lwsv1.ReasonRecreateGroup)).To(Equal(1))
		for key, leader := range s.standing(name) {
			if before[key] == "" {
				Expect(leader.Annotations).To(HaveKeyWithValue(prefix+"replaces", victim))
			}
		}
		s.expectNothingOfDeadGroups(name, 3)
	})
})

// expectNothingOfDeadGroups checks that there are as many worker StatefulSets as groups.
func (s *scenario) expectNothingOfDeadGroups(name string, replicas int) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		workers := &appsv1.StatefulSetList{}
		s.list(workers, lwsv1.SetNameLabelKey, name)
		g.Expect(workers.Items).To(HaveLen(replicas))
	}).WithTimeout(patience).Should(Succeed())
}

var _ = Describe("Hash identity with other features", func() {
	DescribeTable("comes up, and leaves nothing when it is deleted",
		func(set *lwstest.Builder, replicas, size int, check func(*scenario, string, map[string]*keyed)) {
			s := begin()
			object := s.create(set.Hash().Replicas(int32(replicas)).Size(int32(size)))
			s.awaitAvailable(object.Name)
			groups := s.awaitGroups(object.Name, replicas, size)
			check(s, object.Name, groups)
			s.remove(object)
			s.awaitNothingLeft(object.Name)
			Eventually(func(g Gomega) {
				for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &appsv1.ReplicaSetList{}} {
					g.Expect(s.env.Client.List(s.ctx, list, client.InNamespace(s.namespace))).To(Succeed())
					g.Expect(list).To(HaveField("Items", BeEmpty()))
				}
			}).WithTimeout(patience).Should(Succeed())
			Expect(s.History().UIDs(object.Name)).To(HaveLen(replicas*size), "nothing was made again")
		},
		Entry("groups in domains of their own", newSet("exclusive").GroupTopology(sim.RackLabel), 3, 3,
			func(s *scenario, name string, _ map[string]*keyed) {
				s.expectExclusive(name, lwsv1.GroupKeyLabelKey, sim.RackLabel, 3)
			}),
		Entry("subgroups", newSet("sub").SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker), 2, 4,
			func(_ *scenario, _ string, groups map[string]*keyed) {
				keys := map[string]int{}
				for _, group := range groups {
					for _, pod := range append(group.workers, group.leader) {
						keys[pod.Labels[lwsv1.SubGroupKeyLabelKey]]++
					}
				}
				Expect(keys).To(HaveLen(4))
				Expect(keys).To(HaveEach(2))
			}),
		Entry("TPUs, with a Service for each group", newSet("tpu").WorkerTemplate(tpuTemplate()).SubdomainPolicy(lwsv1.SubdomainUniquePerReplica), 2, 3,
			func(_ *scenario, _ string, groups map[string]*keyed) {
				for _, group := range groups {
					hosts := map[string]bool{}
					members := append(group.workers, group.leader)
					for _, pod := range members {
						hosts[pod.Spec.Hostname+"."+pod.Spec.Subdomain] = true
					}
					for _, pod := range members {
						listed := strings.Split(environment(&pod.Spec.Containers[0])["TPU_WORKER_HOSTNAMES"], ",")
						Expect(listed).To(HaveLen(3))
						for _, host := range listed {
							Expect(hosts).To(HaveKey(host))
						}
					}
				}
			}),
		Entry("workers that wait for their leader, which all end at once",
			newSet("late").StartupPolicy(lwsv1.LeaderReadyStartupPolicy).PodTerminationPolicy(lwsv1.ParallelPodTermination), 2, 3,
			func(_ *scenario, _ string, groups map[string]*keyed) {
				for _, group := range groups {
					Expect(group.leader.Annotations).To(HaveKeyWithValue(lwsv1.PodTerminationPolicyAnnotationKey, "Parallel"))
				}
			}),
		Entry("the longest name with workers", newSet(strings.Repeat("n", 43)), 1, 2, anything),
		Entry("the longest name without", newSet(strings.Repeat("n", 54)), 1, 1, anything),
	)

	It("refuses longer names", func() {
		s := begin()
		for characters, size := range map[int]int32{44: 2, 55: 1} {
			set := newSet(strings.Repeat("n", characters)).Hash().Size(size).Namespace(s.namespace).Obj()
			Expect(s.env.Client.Create(s.ctx, set)).To(MatchError(ContainSubstring("1 too many")), "%d characters", characters)
		}
	})

	It("removes the group whose node died first", func() {
		s := begin()
		var nodes []string
		for i := range 4 {
			node := sim.Node{
				Name: fmt.Sprintf("host-%d-%s", i, s.namespace), Labels: map[string]string{"hosts": s.namespace},
				Taints: []corev1.Taint{{Key: "hosts", Value: s.namespace, Effect: corev1.TaintEffectNoSchedule}},
			}
			Expect(sim.AddNode(s.ctx, s.env.Kube, node)).To(Succeed())
			DeferCleanup(func() { Expect(sim.RemoveNode(s.ctx, s.env.Kube, node.Name)).To(Succeed()) })
			nodes = append(nodes, node.Name)
		}
		pods := template("worker")
		pods.Spec.NodeSelector = map[string]string{"hosts": s.namespace}
		pods.Spec.Tolerations = []corev1.Toleration{{Key: "hosts", Operator: corev1.TolerationOpExists}}
		name := s.create(newSet("node").Hash().Replicas(4).Size(2).WorkerTemplate(pods).GroupTopology(corev1.LabelHostname)).Name
		s.awaitAvailable(name)
		groups := s.awaitGroups(name, 4, 2)
		s.awaitMemory(name, 4)
		before := uidsOf(s.standing(name))
		Expect(sim.Kill(s.ctx, s.env.Kube, nodes[0])).To(Succeed())
		var dead string
		for key, group := range groups {
			if group.leader.Spec.NodeName == nodes[0] {
				dead = key
			}
		}
		s.await("the leader of the dead node is not ready", func() (string, bool) {
			leader := s.standing(name)[dead]
			return "it is", leader == nil || !isReady(leader)
		})
		s.change(name, replicas(3))
		s.await("three groups stand", func() (string, bool) { n := len(s.standing(name)); return fmt.Sprint(n), n == 3 })
		delete(before, dead)
		Expect(uidsOf(s.standing(name))).To(Equal(before))
		s.awaitAvailable(name)
	})
})

func anything(*scenario, string, map[string]*keyed) {}

// tpuTemplate asks for TPUs.
func tpuTemplate() corev1.PodTemplateSpec {
	pods := template("worker")
	pods.Spec.Containers[0].Resources.Limits = corev1.ResourceList{lwsv1.TPUResourceName: resource.MustParse("4")}
	return pods
}
