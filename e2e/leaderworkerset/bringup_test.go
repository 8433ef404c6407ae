package leaderworkerset

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

var _ = Describe("A new set", func() {
	DescribeTable("comes up whole, with a few writes, and tells it once",
		func(set *lwstest.Builder, writesPerGroup int) {
			s := begin()
			created := s.create(set)
			name, groups, size := created.Name, int(lwsv1.Replicas(created)), int(lwsv1.Size(&created.Spec.LeaderWorkerTemplate))
			s.awaitAvailable(name)
			s.awaitPods(name, podNames(name, groups, size)...)

			status := s.Set(name).Status
			Expect(status.Replicas).To(BeEquivalentTo(groups))
			Expect(status.ReadyReplicas).To(BeEquivalentTo(groups))
			Expect(status.UpdatedReplicas).To(BeEquivalentTo(groups))
			Expect(status.Summary).To(Equal(lwsv1.ReasonAllGroupsReady))

			By("telling its course once")
			start := harness.Mark{}
			Expect(s.History().Course(name, lwsv1.ConditionAvailable, start)).To(Equal([]string{"False GroupsNotReady", "True AllGroupsReady"}))
			Expect(s.History().Course(name, lwsv1.ConditionProgressing, start)).To(Equal([]string{"True GroupsProgressing", "False AllGroupsReady"}))
			Expect(s.History().Course(name, lwsv1.ConditionUpdateInProgress, start)).To(Equal([]string{"False NoUpdate"}))
			Expect(s.History().Course(name, lwsv1.ConditionDegraded, start)).To(Equal([]string{"False AsExpected"}))
			Eventually(func() []string { return s.History().Reasons(name) }).WithTimeout(patience).
				Should(Equal([]string{lwsv1.ReasonCreatingRevision, lwsv1.ReasonGroupsProgressing, lwsv1.ReasonAllGroupsReady}))

			By("making every pod once")
			for pod, uids := range s.History().UIDs(name) {
				Expect(uids).To(HaveLen(1), pod)
			}

			By("writing little")
			s.awaitMemory(name, groups)
			ofGroups, ofSet := s.writes(name)
			Expect(ofGroups).To(HaveLen(writesPerGroup*groups), "%v", ofGroups)
			Expect(len(ofSet)).To(BeNumerically("<=", 30), "%v", ofSet)
		},
		Entry("with a Service for all", newSet("shared").Replicas(3).Size(4), 3),
		Entry("with a Service for each group", newSet("unique").Replicas(3).Size(3).SubdomainPolicy(lwsv1.SubdomainUniquePerReplica), 4),
		Entry("with workers after their leader", newSet("ready-first").Replicas(2).Size(3).StartupPolicy(lwsv1.LeaderReadyStartupPolicy), 3),
		Entry("with leaders alone", newSet("alone").Replicas(3).Size(1), 2),
		Entry("with two templates", newSet("two").Replicas(2).Size(3).LeaderTemplate(template("leader")), 3),
		Entry("with defaults", newSet("plain"), 2),
	)

	It("makes workers only when the leader is ready, if asked for", func() {
		s := begin()
		leader := template("leader")
		leader.Annotations = map[string]string{"sim.lws.x-k8s.io/hang": "unready"}
		s.create(newSet("patient").Size(3).LeaderTemplate(leader).StartupPolicy(lwsv1.LeaderReadyStartupPolicy))
		s.await("the leader runs", func() (string, bool) {
			pod := s.Pods("patient")["patient-0"]
			return "not yet", pod != nil && pod.Status.Phase == corev1.PodRunning
		})
		s.touchAndAwaitReaction("patient")
		s.awaitPods("patient", "patient-0")

		s.request("patient-0", "sim.lws.x-k8s.io/hang", "")
		s.awaitAvailable("patient")
		history := s.History().Pods
		leaderReady, workerThere := -1, -1
		for i, state := range history {
			if state.Worker == 0 && state.Ready && leaderReady < 0 {
				leaderReady = i
			}
			if state.Worker > 0 && workerThere < 0 {
				workerThere = i
			}
		}
		Expect(leaderReady).To(BeNumerically("<", workerThere), "the leader is ready before a worker exists")
	})

	It("has the objects of the wire format", func() {
		s := begin()
		s.create(newSet("wire").Replicas(2).Size(3).Label("team", "red").Annotation("note", "hello").
			Annotation("kubectl.kubernetes.io/last-applied-configuration", "{}"))
		s.awaitAvailable("wire")
		set := &lwsv1.LeaderWorkerSet{}
		s.get("wire", set)
		revision := set.Status.UpdateRevision

		leaders := &appsv1.StatefulSet{}
		s.get("wire", leaders)
		Expect(leaders.Labels).To(Equal(map[string]string{
			"team": "red", lwsv1.SetNameLabelKey: "wire", lwsv1.RevisionLabelKey: revision,
		}))
		Expect(leaders.Annotations).To(Equal(map[string]string{"note": "hello", lwsv1.ReplicasAnnotationKey: "2"}))
		Expect(leaders.Spec.Selector).To(Equal(&metav1.LabelSelector{MatchLabels: map[string]string{
			lwsv1.SetNameLabelKey: "wire", lwsv1.WorkerIndexLabelKey: "0",
		}}))
		Expect(leaders.Spec.Template.Labels).To(Equal(map[string]string{
			lwsv1.SetNameLabelKey: "wire", lwsv1.WorkerIndexLabelKey: "0", lwsv1.RevisionLabelKey: revision,
		}))
		Expect(leaders.Spec.Template.Annotations).To(Equal(map[string]string{lwsv1.SizeAnnotationKey: "3"}))
		Expect(leaders.Spec.Template.Spec.SchedulingGates).To(BeEmpty())
		Expect(leaders.Spec.ServiceName).To(Equal("wire"))
		Expect(leaders.Spec.PodManagementPolicy).To(Equal(appsv1.ParallelPodManagement))
		expectOwner(leaders, set)

		workers, leader := &appsv1.StatefulSet{}, &corev1.Pod{}
		s.get("wire-1", workers)
		s.get("wire-1", leader)
		ofGroup := map[string]string{
			lwsv1.SetNameLabelKey: "wire", lwsv1.GroupIndexLabelKey: "1",
			lwsv1.GroupKeyLabelKey: sha1Of(s.namespace + "/wire-1"),
		}
		Expect(workers.Labels).To(Equal(with(ofGroup, "team", "red", lwsv1.RevisionLabelKey, revision)))
		Expect(workers.Annotations).To(Equal(map[string]string{"note": "hello"}))
		Expect(workers.Spec.Selector).To(Equal(&metav1.LabelSelector{MatchLabels: ofGroup}))
		Expect(workers.Spec.Template.Labels).To(Equal(with(ofGroup, lwsv1.RevisionLabelKey, revision)))
		Expect(workers.Spec.Template.Annotations).To(Equal(map[string]string{
			lwsv1.SizeAnnotationKey: "3", lwsv1.LeaderPodNameAnnotationKey: "wire-1",
		}))
		Expect(workers.Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))
		Expect(workers.Spec.Ordinals.Start).To(BeEquivalentTo(1))
		Expect(workers.Spec.ServiceName).To(Equal("wire"))
		expectOwner(workers, leader)

		service := &corev1.Service{}
		s.get("wire", service)
		Expect(service.Spec.ClusterIP).To(Equal(corev1.ClusterIPNone))
		Expect(service.Spec.PublishNotReadyAddresses).To(BeTrue())
		Expect(service.Spec.Selector).To(Equal(map[string]string{lwsv1.SetNameLabelKey: "wire"}))
		expectOwner(service, set)

		revisions := s.revisions("wire")
		Expect(revisions).To(HaveLen(1))
		Expect(revisions[0].Labels).To(Equal(map[string]string{lwsv1.SetNameLabelKey: "wire", lwsv1.RevisionLabelKey: revision}))
		Expect(revisions[0].Name).To(Equal("wire-" + revision + "-1"))
		expectOwner(&revisions[0], set)
	})

	It("is shown by kubectl with its columns", func() {
		s := begin()
		s.create(newSet("shown").Replicas(2).Size(2))
		s.awaitAvailable("shown")
		out, err := managers.Kubectl(s.ctx, s.env.Cluster, nil, "get", "lws", "shown", "-n", s.namespace, "-o", "wide")
		Expect(err).NotTo(HaveOccurred())
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		Expect(lines).To(HaveLen(2))
		Expect(strings.Fields(lines[0])).To(Equal([]string{"NAME", "READY", "DESIRED", "UP-TO-DATE", "STATUS", "SIZE", "IDENTITY", "RESTARTS", "AGE"}))
		fields := strings.Fields(lines[1])
		Expect(fields[:5]).To(Equal([]string{"shown", "2", "2", "2", "AllGroupsReady"}))
		Expect(fields[5:7]).To(Equal([]string{"2", "Ordinal"}))
	})
})
