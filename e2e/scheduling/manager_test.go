package scheduling

import (
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/managers"
)

// runManager runs the manager of the shared environment otherwise for a spec.
func runManager(ctx SpecContext, options managers.Options) {
	GinkgoHelper()
	Expect(shared.Manager.RestartWith(ctx, options)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(shared.Manager.Restart(ctx)).To(Succeed()) })
}

var _ = Describe("The feature gate", Serial, func() {
	It("switched off later touches nothing that runs, and starts nothing", func(ctx SpecContext) {
		s := begin()
		s.addNode(100, nil)
		name := s.create(s.newSet("gate").Replicas(2).Size(2).Scheduling(gangOfGroups()))
		s.awaitAvailable(name)
		before, objects := s.uids(name), s.podGroups()

		Expect(shared.Manager.RestartWith(ctx, running(configv1.KubernetesSchedulerProvider, false, false))).To(Succeed())
		s.awaitCondition(name, lwsv1.ConditionWorkloadSchedulingCreated, lwsv1.ReasonAPINotAvailable, "feature gate WorkloadAwareScheduling")
		err := s.env.Client.Create(s.ctx, s.newSet("late").Scheduling(gangOfGroups()).Obj(), client.DryRunAll)
		s.expectRefused(err, "spec.scheduling", "feature gate WorkloadAwareScheduling")
		s.change(name, replicas(3))
		s.awaitCondition(name, lwsv1.ConditionProgressing, lwsv1.ReasonFailedCreate, "feature gate WorkloadAwareScheduling")
		Expect(s.Pods(name)).To(HaveKey(name + "-2"))
		Expect(s.Pods(name)[name+"-2"].Spec.SchedulingGates).NotTo(BeEmpty())
		for pod, uid := range before {
			Expect(s.uids(name)).To(HaveKeyWithValue(pod, uid))
		}
		Expect(s.podGroups()).To(HaveLen(len(objects)))

		Expect(shared.Manager.Restart(ctx)).To(Succeed())
		s.awaitAvailable(name)
		s.awaitPodGroups(name, 3, false)
	})
})

var _ = Describe("Groups of groups", Serial, func() {
	It("are scheduled as the tree says, and a flat shape stays flat", func(ctx SpecContext) {
		runManager(ctx, running(configv1.KubernetesSchedulerProvider, true, true))
		s := begin()
		s.addNode(6, nil)
		tree := gangOfSet()
		tree.Replica = &lwsv1.LeaderWorkerSetReplicaScheduling{SchedulingPolicy: gangOfSet().SchedulingPolicy}
		Eventually(func() error {
			return s.env.Client.Create(s.ctx, s.newSet("tree").Replicas(2).Size(4).Scheduling(tree).Obj(), client.DryRunAll)
		}).WithTimeout(patience).Should(Succeed())
		name := s.create(s.newSet("tree").Replicas(2).Size(4).Scheduling(tree))
		s.awaitSet(name, "cannot be placed", func(set *lwsv1.LeaderWorkerSet) bool { return set.Status.UnschedulableReplicas == 2 })
		Expect(s.placed(name)).To(BeEmpty())
		var roots schedulingv1alpha3.CompositePodGroupList
		Expect(s.env.Client.List(s.ctx, &roots, client.InNamespace(s.namespace))).To(Succeed())
		Expect(roots.Items).To(ConsistOf(And(HaveField("Name", name), HaveField("Spec.SchedulingPolicy.Gang.MinGroupCount", BeEquivalentTo(2)))))
		s.addNode(2, nil)
		s.awaitAvailable(name)
		s.awaitPodGroups(name, 2, false)
		for _, podGroup := range s.podGroups() {
			Expect(podGroup.Spec.ParentCompositePodGroupName).To(HaveValue(Equal(name)))
		}
		before := s.uids(name)
		s.removePod(name + "-1-1")
		s.awaitAnew(name, before, name+"-1", name+"-1-1")
		s.awaitPodGroups(name, 2, false)
		Expect(s.env.Client.Delete(s.ctx, s.Set(name))).To(Succeed())
		Eventually(s.podGroups).WithTimeout(patience).Should(BeEmpty())

		flat := s.create(s.newSet("flat").Size(4).Scheduling(gangOfGroups()))
		s.awaitAvailable(flat)
		s.awaitPodGroups(flat, 1, false)
		for _, podGroup := range s.podGroups() {
			Expect(podGroup.Spec.ParentCompositePodGroupName).To(BeNil())
		}
	})
})

var _ = Describe("Volcano", Serial, func() {
	It("gets a PodGroup for each group of a set that uses it, and none for others", func(ctx SpecContext) {
		definition, err := os.ReadFile("testdata/volcano_podgroups.yaml")
		Expect(err).NotTo(HaveOccurred())
		_, err = managers.Kubectl(ctx, shared.Cluster, definition, "apply", "--server-side", "-f", "-")
		Expect(err).NotTo(HaveOccurred())
		runManager(ctx, running(configv1.VolcanoSchedulerProvider, true, false))
		s := begin()
		template := s.template()
		template.Spec.SchedulerName = "volcano"
		name := s.create(s.newSet("volcano").Replicas(2).Size(3).WorkerTemplate(template).
			Annotation("scheduling.volcano.sh/queue-name", "research").Annotation("volcano.sh/task-topology", "x"))
		s.await("all pods are there", func() (string, bool) { return "", len(s.Pods(name)) == 6 })
		podGroups := s.volcanoPodGroups()
		Expect(podGroups).To(HaveLen(2))
		for _, pod := range s.Pods(name) {
			podGroup, found := podGroups[pod.Annotations["scheduling.k8s.io/group-name"]]
			Expect(found).To(BeTrue(), pod.Name)
			Expect(podGroup.GetLabels()).To(HaveKeyWithValue(lwsv1.GroupIndexLabelKey, pod.Labels[lwsv1.GroupIndexLabelKey]))
			if pod.Labels[lwsv1.WorkerIndexLabelKey] == "0" {
				Expect(podGroup.GetOwnerReferences()).To(ConsistOf(And(HaveField("UID", pod.UID), HaveField("Kind", "Pod"))))
			}
			Expect(podGroup.Object["spec"]).To(Equal(map[string]any{
				"minMember": int64(3), "queue": "research", "minResources": map[string]any{"cpu": "3"},
			}))
			Expect(podGroup.GetAnnotations()).To(Equal(map[string]string{"volcano.sh/task-topology": "x"}))
		}

		By("recreating a group")
		before := s.uids(name)
		s.removePod(name + "-0")
		s.await("the group is made anew", func() (string, bool) {
			uids := s.uids(name)
			return "", len(uids) == 6 && uids[name+"-0"] != before[name+"-0"]
		})
		Eventually(s.volcanoPodGroups).WithTimeout(patience).Should(And(HaveLen(2),
			HaveKey(s.Pods(name)[name+"-0"].Annotations["scheduling.k8s.io/group-name"])))

		By("starting workers after their leader")
		ready := s.create(s.newSet("ready").Size(3).WorkerTemplate(template).StartupPolicy(lwsv1.LeaderReadyStartupPolicy))
		s.await("the leader is there", func() (string, bool) { return "", len(s.Pods(ready)) == 1 })
		Eventually(func(g Gomega) {
			found := s.volcanoPodGroups()[s.Pods(ready)[ready+"-0"].Annotations["scheduling.k8s.io/group-name"]]
			minimum, _, err := unstructured.NestedInt64(found.Object, "spec", "minMember")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(minimum).To(BeEquivalentTo(1))
		}).WithTimeout(patience).Should(Succeed())

		By("leaving other sets alone")
		s.addNode(4, nil)
		plain := s.create(s.newSet("plain").Size(2))
		s.awaitAvailable(plain)
		for _, pod := range s.Pods(plain) {
			Expect(pod.Annotations).NotTo(HaveKey("scheduling.k8s.io/group-name"))
		}
		Expect(s.volcanoPodGroups()).To(HaveLen(3))

		By("refusing what it cannot do")
		refused := func(scheduling lwsv1.LeaderWorkerSetScheduling, template corev1.PodTemplateSpec, field string) {
			GinkgoHelper()
			set := s.newSet("bad").Size(3).WorkerTemplate(template).Scheduling(scheduling)
			s.expectRefused(s.env.Client.Create(s.ctx, set.Obj(), client.DryRunAll), field, "volcano")
		}
		refused(gangOfSet(), template, "spec.scheduling.schedulingPolicy")
		refused(gangOfWorkers(), template, "spec.scheduling.replica.worker")
		refused(gangOfGroups(), s.template(), "spec.leaderWorkerTemplate.workerTemplate.spec.schedulerName")
		good := s.newSet("good").Size(3).WorkerTemplate(template).Scheduling(gangOfGroups())
		Expect(s.env.Client.Create(s.ctx, good.Obj(), client.DryRunAll)).To(Succeed())
	})
})

func (s *scenario) volcanoPodGroups() map[string]unstructured.Unstructured {
	GinkgoHelper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "scheduling.volcano.sh", Version: "v1beta1", Kind: "PodGroupList"})
	Expect(s.env.Client.List(s.ctx, list, client.InNamespace(s.namespace))).To(Succeed())
	found := map[string]unstructured.Unstructured{}
	for _, podGroup := range list.Items {
		found[podGroup.GetName()] = podGroup
	}
	return found
}

var _ = Describe("Names", func() {
	It("that others took are left alone and told", func() {
		s := begin()
		s.addNode(4, nil)
		foreign := &schedulingv1beta1.Workload{}
		foreign.Namespace, foreign.Name = s.namespace, "taken"
		foreign.Spec.PodGroupTemplates = []schedulingv1beta1.PodGroupTemplate{{
			Name: "x", SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}},
		}}
		Expect(s.env.Client.Create(s.ctx, foreign)).To(Succeed())
		name := s.create(s.newSet("taken").Size(2).Scheduling(gangOfGroups()))
		s.awaitCondition(name, lwsv1.ConditionWorkloadSchedulingCreated, lwsv1.ReasonWorkloadCreateFailed, "Workload taken exists")
		s.awaitCondition(name, lwsv1.ConditionProgressing, lwsv1.ReasonNameConflict, "Workload taken exists")
		Expect(s.placed(name)).To(BeEmpty())
		Expect(s.env.Client.Delete(s.ctx, foreign)).To(Succeed())
		s.awaitAvailable(name)

		group := &schedulingv1beta1.PodGroup{}
		group.Namespace, group.Name = s.namespace, "whole"
		group.Spec.SchedulingPolicy.Basic = &schedulingv1beta1.BasicSchedulingPolicy{}
		Expect(s.env.Client.Create(s.ctx, group)).To(Succeed())
		whole := s.create(s.newSet("whole").Size(2).Scheduling(gangOfSet()))
		s.awaitCondition(whole, lwsv1.ConditionWorkloadSchedulingCreated, lwsv1.ReasonPodGroupCreateFailed, "PodGroup whole exists")
		Expect(s.placed(whole)).To(BeEmpty())
		Expect(s.env.Client.Delete(s.ctx, group)).To(Succeed())
		s.awaitAvailable(whole)
	})
})
