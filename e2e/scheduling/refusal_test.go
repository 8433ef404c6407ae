package scheduling

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/cluster/controlplane"
)

// expectRefused checks that the API server names a field and says why.
func (s *scenario) expectRefused(err error, field, why string) {
	GinkgoHelper()
	Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
	Expect(err).To(MatchError(And(ContainSubstring(field+": "), ContainSubstring(why))))
}

func withReplica(replica lwsv1.LeaderWorkerSetReplicaScheduling) lwsv1.LeaderWorkerSetScheduling {
	return lwsv1.LeaderWorkerSetScheduling{Replica: &replica}
}

func exclusive(set *lwstest.Builder) *lwstest.Builder {
	return set.Annotation(lwsv1.ExclusiveTopologyAnnotationKey, "rack")
}

func priorities(leader, worker string) func(*lwstest.Builder) *lwstest.Builder {
	return func(set *lwstest.Builder) *lwstest.Builder {
		leaders, workers := lwstest.PodTemplate("leader"), lwstest.PodTemplate("worker")
		leaders.Spec.PriorityClassName, workers.Spec.PriorityClassName = leader, worker
		return set.LeaderTemplate(leaders).WorkerTemplate(workers).Scheduling(gangOfGroups())
	}
}

func scheduled(scheduling lwsv1.LeaderWorkerSetScheduling, more ...func(*lwstest.Builder) *lwstest.Builder) func(*lwstest.Builder) *lwstest.Builder {
	return func(set *lwstest.Builder) *lwstest.Builder {
		for _, change := range more {
			set = change(set)
		}
		return set.Scheduling(scheduling)
	}
}

var (
	gangOfComposite = &composite{Gang: &schedulingv1alpha3.WorkloadCompositePodGroupGangSchedulingPolicy{}}
	workerClaim     = &lwsv1.LeaderWorkerSetWorkerScheduling{ResourceClaims: []schedulingv1alpha3.WorkloadPodGroupResourceClaim{
		{Name: "gpu", ResourceClaimTemplateName: new("gpus")},
	}}
)

var _ = Describe("Scheduling that cannot work", func() {
	DescribeTable("is refused by field",
		func(field, why string, build func(*lwstest.Builder) *lwstest.Builder) {
			s := begin()
			s.expectRefused(s.env.Client.Create(s.ctx, build(s.newSet("bad").Size(4)).Obj(), client.DryRunAll), field, why)
		},
		Entry("two levels", "spec.scheduling.replica", "CompositePodGroup", scheduled(lwsv1.LeaderWorkerSetScheduling{
			SchedulingPolicy: gangOfComposite, Replica: &lwsv1.LeaderWorkerSetReplicaScheduling{SchedulingPolicy: gangOfComposite},
		})),
		Entry("replica and role", "spec.scheduling.replica.worker", "CompositePodGroup", scheduled(withReplica(
			lwsv1.LeaderWorkerSetReplicaScheduling{SchedulingPolicy: gangOfComposite, Worker: &lwsv1.LeaderWorkerSetWorkerScheduling{}}))),
		Entry("LeaderReady with a gang of leader and workers", "spec.startupPolicy", "LeaderReady", scheduled(gangOfGroups(),
			func(set *lwstest.Builder) *lwstest.Builder { return set.StartupPolicy(lwsv1.LeaderReadyStartupPolicy) })),
		Entry("roles of groups of one", "spec.scheduling.replica", "at least 2", scheduled(gangOfWorkers(),
			func(set *lwstest.Builder) *lwstest.Builder { return set.Size(1) })),
		Entry("a pod template with a scheduling group", "spec.leaderWorkerTemplate.workerTemplate.spec.schedulingGroup", "cannot be set", scheduled(gangOfGroups(),
			func(set *lwstest.Builder) *lwstest.Builder {
				template := lwstest.PodTemplate("worker")
				template.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("mine")}
				return set.WorkerTemplate(template)
			})),
		Entry("priorities that differ", "spec.leaderWorkerTemplate.leaderTemplate.spec.priorityClassName", "workerTemplate", priorities("high", "low")),
		Entry("a claim that no pod has", "spec.scheduling.replica.worker.resourceClaims[0]", "no claim of the pod template", scheduled(withReplica(
			lwsv1.LeaderWorkerSetReplicaScheduling{Worker: workerClaim}))),
		Entry("a gang with exclusive placement", "spec.scheduling", "exclusive placement", scheduled(gangOfGroups(), exclusive)),
		Entry("a topology with exclusive placement", "spec.scheduling", "exclusive placement", scheduled(lwsv1.LeaderWorkerSetScheduling{
			SchedulingConstraints: &schedulingv1alpha3.WorkloadCompositePodGroupSchedulingConstraints{
				Topology: []schedulingv1alpha3.TopologyConstraint{{Key: "rack"}},
			},
		}, exclusive)),
		Entry("a minimum that is not the derived one", "spec.scheduling.replica.worker.schedulingPolicy.gang.minCount", "size-1", scheduled(withReplica(
			lwsv1.LeaderWorkerSetReplicaScheduling{Worker: &lwsv1.LeaderWorkerSetWorkerScheduling{
				SchedulingPolicy: &ofPods{Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{MinCount: new(int32(2))}},
			}}))),
		Entry("a minimum of groups without groups", "spec.scheduling.schedulingPolicy.gang.minGroupCount", "cannot be set", scheduled(
			lwsv1.LeaderWorkerSetScheduling{SchedulingPolicy: &composite{
				Gang: &schedulingv1alpha3.WorkloadCompositePodGroupGangSchedulingPolicy{MinGroupCount: new(int32(1))},
			}})),
		Entry("disruption as a whole of what is not scheduled so", "spec.scheduling.replica.disruptionMode", "not supported with the Basic", scheduled(withReplica(
			lwsv1.LeaderWorkerSetReplicaScheduling{
				SchedulingPolicy: &composite{Basic: &schedulingv1alpha3.WorkloadCompositePodGroupBasicSchedulingPolicy{}},
				DisruptionMode: &schedulingv1alpha3.WorkloadCompositePodGroupDisruptionMode{
					All: &schedulingv1alpha3.WorkloadCompositePodGroupAllDisruptionMode{},
				},
			}))),
	)

	It("is refused as a change", func() {
		s := begin()
		s.addNode(8, nil)
		name := s.create(s.newSet("kept").Size(2).Scheduling(gangOfGroups()))
		s.awaitAvailable(name)
		for field, change := range map[string]func(*lwsv1.LeaderWorkerSet){
			"spec.scheduling": func(set *lwsv1.LeaderWorkerSet) { set.Spec.Scheduling = nil },
			"spec.scheduling.replica": func(set *lwsv1.LeaderWorkerSet) {
				set.Spec.Scheduling.Replica = &lwsv1.LeaderWorkerSetReplicaScheduling{
					SchedulingPolicy: &composite{Basic: &schedulingv1alpha3.WorkloadCompositePodGroupBasicSchedulingPolicy{}},
				}
			},
			"spec.leaderWorkerTemplate.workerTemplate.spec.priorityClassName": func(set *lwsv1.LeaderWorkerSet) {
				set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.PriorityClassName = "other"
			},
		} {
			set := s.Set(name).DeepCopy()
			Expect(s.env.Client.Get(s.ctx, s.Key(name), set)).To(Succeed())
			change(set)
			s.expectRefused(s.env.Client.Update(s.ctx, set, client.DryRunAll), field, "")
		}
	})
})

var _ = Describe("A cluster without workload-aware scheduling", func() {
	It("refuses sets that want it, and others work", func(ctx SpecContext) {
		env, err := start(ctx, "without-scheduling", func(*controlplane.Options) {})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(env.Stop()).To(Succeed()) })
		s := beginIn(env)
		Eventually(func(g Gomega) {
			err := env.Client.Create(s.ctx, s.newSet("bad").Scheduling(gangOfGroups()).Obj(), client.DryRunAll)
			g.Expect(err).To(MatchError(ContainSubstring("spec.scheduling: Forbidden: the API server does not serve scheduling.k8s.io/v1beta1 Workload")))
		}).WithTimeout(patience).Should(Succeed())
		s.addNode(2, nil)
		s.create(s.newSet("plain").Size(2))
		s.awaitAvailable("plain")
	})
})
