package leaderworkerset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/cluster/sim"
)

// prefix is written out: other programs select by these keys.
const prefix = "leaderworkerset.sigs.k8s.io/"

// documented is what the documents say about one pod beside what is the same for
// all pods.
type documented struct {
	// address is that of the leader, without the namespace.
	address string
	// subgroup is its index; none if empty.
	subgroup string
	// annotations are without their prefix.
	annotations map[string]string
}

// ofKubernetes are the labels that a StatefulSet adds to its pods, and the scheduler
// when it places them.
var ofKubernetes = []string{
	appsv1.ControllerRevisionHashLabelKey, appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel,
	corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
}

// expectAsDocumented compares a pod with the documents.
func (s *scenario) expectAsDocumented(set *lwsv1.LeaderWorkerSet, name string, want documented) {
	GinkgoHelper()
	leader, worker := name, "0"
	if parts := strings.Split(strings.TrimPrefix(name, set.Name+"-"), "-"); len(parts) == 2 {
		leader, worker = set.Name+"-"+parts[0], parts[1]
	}
	size := strconv.Itoa(int(lwsv1.Size(&set.Spec.LeaderWorkerTemplate)))
	pod := &corev1.Pod{}
	s.get(name, pod)

	labels := map[string]string{
		prefix + "name":                   set.Name,
		prefix + "template-revision-hash": set.Status.UpdateRevision,
		prefix + "group-index":            strings.TrimPrefix(leader, set.Name+"-"),
		prefix + "group-key":              sha1Of(s.namespace + "/" + leader),
		prefix + "worker-index":           worker,
	}
	if want.subgroup != "" {
		labels[prefix+"subgroup-index"] = want.subgroup
		labels[prefix+"subgroup-key"] = sha1Of(leader + "/" + want.subgroup)
	}
	for _, key := range ofKubernetes {
		delete(pod.Labels, key)
	}
	Expect(pod.Labels).To(Equal(labels), name)

	annotations := map[string]string{prefix + "size": size}
	if worker != "0" {
		annotations[prefix+"leader-name"] = leader
	}
	for key, value := range want.annotations {
		annotations[prefix+key] = value
	}
	delete(pod.Annotations, prefix+"group-members")
	Expect(pod.Annotations).To(Equal(annotations), name)

	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		Expect(len(container.Env)).To(BeNumerically(">=", 3), name)
		Expect(container.Env[:3]).To(Equal([]corev1.EnvVar{
			{Name: "LWS_LEADER_ADDRESS", Value: want.address + "." + s.namespace},
			{Name: "LWS_GROUP_SIZE", Value: size},
			{Name: "LWS_WORKER_INDEX", Value: worker},
		}), "%s %s", name, container.Name)
	}
	Expect(pod.Spec.Hostname).To(Equal(name))
	Expect(pod.Spec.Subdomain).To(Equal(strings.Split(want.address, ".")[1]), name)
	Expect(pod.Spec.SchedulingGates).To(BeEmpty(), name)
}

// inSubgroup is a pod of the set "sub" in a subgroup, or beside all.
func inSubgroup(index, policy string) documented {
	return documented{
		address: "sub-0.sub", subgroup: index,
		annotations: map[string]string{"subgroup-size": "2", "subgroup-policy-type": policy},
	}
}

// exclusively are the pods of the set "ex" that have domains of their own.
var exclusively = map[string]documented{
	"ex-0":   inSubgroupOf("ex", "0"),
	"ex-0-1": inSubgroupOf("ex", "0"),
	"ex-0-3": inSubgroupOf("ex", "1"),
}

func inSubgroupOf(set, index string) documented {
	pod := inSubgroup(index, "LeaderWorker")
	pod.address = set + "-0." + set
	pod.annotations["exclusive-topology"] = sim.BlockLabel
	pod.annotations["subgroup-exclusive-topology"] = corev1.LabelHostname
	return pod
}

var _ = Describe("Pods", func() {
	DescribeTable("have exactly the labels, annotations and variables of the documents",
		func(set *lwstest.Builder, pods map[string]documented) {
			s := begin()
			name := s.create(set).Name
			s.awaitAvailable(name)
			for pod, want := range pods {
				s.expectAsDocumented(s.Set(name), pod, want)
			}
		},
		Entry("with a Service for all", newSet("shared").Replicas(2).Size(3).LeaderTemplate(template("leader")), map[string]documented{
			"shared-0":   {address: "shared-0.shared"},
			"shared-1":   {address: "shared-1.shared"},
			"shared-1-2": {address: "shared-1.shared"},
		}),
		Entry("with a Service for each group", newSet("unique").Replicas(2).Size(2).SubdomainPolicy(lwsv1.SubdomainUniquePerReplica), map[string]documented{
			"unique-1":   {address: "unique-1.unique-1", annotations: map[string]string{"subdomainPolicy": "UniquePerReplica"}},
			"unique-1-1": {address: "unique-1.unique-1"},
		}),
		Entry("with leaders alone", newSet("alone"), map[string]documented{
			"alone-0": {address: "alone-0.alone"},
		}),
		Entry("with subgroups that the leader is counted in", newSet("sub").Size(4).SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker), map[string]documented{
			"sub-0":   inSubgroup("0", "LeaderWorker"),
			"sub-0-1": inSubgroup("0", "LeaderWorker"),
			"sub-0-2": inSubgroup("1", "LeaderWorker"),
			"sub-0-3": inSubgroup("1", "LeaderWorker"),
		}),
		Entry("with subgroups whose first has the leader as an extra", newSet("sub").Size(5).SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker), map[string]documented{
			"sub-0":   inSubgroup("0", "LeaderWorker"),
			"sub-0-1": inSubgroup("0", "LeaderWorker"),
			"sub-0-2": inSubgroup("0", "LeaderWorker"),
			"sub-0-3": inSubgroup("1", "LeaderWorker"),
			"sub-0-4": inSubgroup("1", "LeaderWorker"),
		}),
		Entry("with subgroups of workers only", newSet("sub").Size(5).SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderExcluded), map[string]documented{
			"sub-0":   inSubgroup("", "LeaderExcluded"),
			"sub-0-1": inSubgroup("0", "LeaderExcluded"),
			"sub-0-2": inSubgroup("0", "LeaderExcluded"),
			"sub-0-4": inSubgroup("1", "LeaderExcluded"),
		}),
		Entry("with exclusive placement by annotation", newSet("ex").Size(4).SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker).
			Annotation(prefix+"exclusive-topology", sim.BlockLabel).Annotation(prefix+"subgroup-exclusive-topology", corev1.LabelHostname), exclusively),
		Entry("with exclusive placement by field", newSet("ex").Size(4).SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderWorker).
			GroupTopology(sim.BlockLabel).SubGroupTopology(corev1.LabelHostname), exclusively),
	)

	It("can use the variables in those of the user, also in init containers", func() {
		s := begin()
		pods := template("main")
		own := []corev1.EnvVar{
			{Name: "RANK", Value: "$(LWS_WORKER_INDEX)"},
			{Name: "LWS_GROUP_SIZE", Value: "7"},
		}
		pods.Spec.Containers[0].Env = own
		pods.Spec.InitContainers = []corev1.Container{{Name: "init", Image: lwstest.Image, Env: own}}
		s.create(newSet("vars").Size(2).WorkerTemplate(pods))
		s.awaitAvailable("vars")
		pod := &corev1.Pod{}
		s.get("vars-0-1", pod)
		for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			Expect(container.Env).To(Equal([]corev1.EnvVar{
				{Name: "LWS_LEADER_ADDRESS", Value: "vars-0.vars." + s.namespace},
				{Name: "LWS_GROUP_SIZE", Value: "2"},
				{Name: "LWS_WORKER_INDEX", Value: "1"},
				{Name: "RANK", Value: "$(LWS_WORKER_INDEX)"},
			}), container.Name)
		}
	})

	DescribeTable("with accelerators agree on who is who",
		func(set *lwstest.Builder, leads bool, processes int) {
			s := begin()
			name := s.create(set).Name
			s.awaitAvailable(name)
			addresses := map[string]string{}
			var lists []string
			claims := Equal("true")
			if !leads {
				claims = Not(claims)
			}
			for _, pod := range s.Pods(name) {
				isLeader := pod.Labels[lwsv1.WorkerIndexLabelKey] == "0"
				if !isLeader {
					Expect(pod.Annotations[prefix+"leader-requests-tpus"]).To(claims, pod.Name)
				}
				for _, container := range pod.Spec.Containers {
					values := environment(&container)
					if isLeader && !leads {
						Expect(values).NotTo(HaveKey("TPU_WORKER_ID"), pod.Name)
						continue
					}
					Expect(values).To(HaveKeyWithValue("TPU_NAME", name+"-0"))
					key := pod.Labels[lwsv1.SubGroupIndexLabelKey] + "/" + values["TPU_WORKER_ID"]
					Expect(addresses).NotTo(HaveKey(key), "%s: two processes with one ID", pod.Name)
					own := fmt.Sprintf("%s.%s:%s", pod.Name, pod.Spec.Subdomain, values["TPU_PROCESS_PORT"])
					addresses[key] = own

					id, err := strconv.Atoi(values["TPU_WORKER_ID"])
					Expect(err).NotTo(HaveOccurred())
					all := strings.Split(values["TPU_PROCESS_ADDRESSES"], ",")
					Expect(all).To(HaveLen(processes), pod.Name)
					Expect(all[id]).To(Equal(own), "%s: the address with its ID", pod.Name)
					Expect(strings.Split(values["TPU_WORKER_HOSTNAMES"], ",")[id]).To(Equal(pod.Name + "." + pod.Spec.Subdomain))
					list := pod.Labels[lwsv1.SubGroupIndexLabelKey] + " " + values["TPU_PROCESS_ADDRESSES"] + " " + values["TPU_WORKER_HOSTNAMES"]
					if !slices.Contains(lists, list) {
						lists = append(lists, list)
					}
				}
			}
			Expect(addresses).To(HaveLen(processes*len(lists)), "one list for each slice: %v", lists)
		},
		Entry("in every pod", tpuSet("tpu", 4, "tpu"), true, 4),
		Entry("in two containers", tpuSet("tpu", 3, "tpu-a", "tpu-b"), true, 6),
		Entry("not in the leader", tpuSet("tpu", 3, "tpu").LeaderTemplate(template("leader")), false, 2),
		Entry("in subgroups of workers", tpuSet("tpu", 5, "tpu").LeaderTemplate(template("leader")).SubGroups(2, lwsv1.SubGroupPolicyTypeLeaderExcluded), false, 2),
		Entry("with a Service for each group", tpuSet("tpu", 2, "tpu").SubdomainPolicy(lwsv1.SubdomainUniquePerReplica), true, 2),
	)
})

func tpuSet(name string, size int32, containers ...string) *lwstest.Builder {
	pods := lwstest.TPUPodTemplate(4, containers...)
	pods.Spec.TerminationGracePeriodSeconds = new(int64(1))
	return newSet(name).Size(size).WorkerTemplate(pods)
}
