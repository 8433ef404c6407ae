package disaggregatedset

import (
	"fmt"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// expectUntouched expects the pods and the revision that there were.
func (s *scenario) expectUntouched(before *dsv1.DisaggregatedSet, pods map[string]string) {
	GinkgoHelper()
	Expect(s.now().Status.CurrentRevision).To(Equal(before.Status.CurrentRevision))
	Expect(s.podsAsText()).To(Equal(pods))
	for name, uids := range s.everUIDs() {
		Expect(uids).To(HaveLen(1), "pods that ever had the name %s", name)
	}
}

func (s *scenario) podsAsText() map[string]string {
	GinkgoHelper()
	found := map[string]string{}
	for name, uid := range s.uids() {
		found[name] = string(uid)
	}
	return found
}

func (s *scenario) everUIDs() map[string][]string {
	found := map[string][]string{}
	for _, pod := range s.History().Pods {
		if !slices.Contains(found[pod.Name], string(pod.UID)) {
			found[pod.Name] = append(found[pod.Name], string(pod.UID))
		}
	}
	return found
}

var _ = Describe("Pods and the revision stay", func() {
	It("when live fields change, which reach the LeaderWorkerSets", func() {
		s := begin()
		s.up(dstest.New(set).Roles(newRole("prefill", 2).Size(2), newRole("decode", 1)).Slices(2))
		before, pods := s.now(), s.podsAsText()
		s.settle(onRole("prefill", func(r *dsv1.DisaggregatedRoleSpec) {
			r.Labels, r.Annotations = map[string]string{"tier": "gold"}, map[string]string{"note": "x"}
			spec := &r.Spec
			spec.StartupPolicy = lwsv1.LeaderReadyStartupPolicy
			spec.PodTerminationPolicy = lwsv1.ParallelPodTermination
			spec.RolloutStrategy.RollingUpdateConfiguration = &lwsv1.RollingUpdateConfiguration{MaxUnavailable: new(intstr.FromString("50%"))}
			spec.LeaderWorkerTemplate.RestartPolicy = lwsv1.RecreateGroupAfterStart
			spec.LeaderWorkerTemplate.MaxGroupRestarts = new(int32(3))
			spec.LeaderWorkerTemplate.RestartBackoff = &lwsv1.RestartBackoff{BaseSeconds: new(int32(5))}
		}))
		count := 0
		for _, child := range s.children() {
			if child.Labels[dsv1.RoleLabelKey] != "prefill" {
				continue
			}
			count++
			Expect(child.Labels).To(HaveKeyWithValue("tier", "gold"))
			Expect(child.Annotations).To(HaveKeyWithValue("note", "x"))
			Expect(child.Spec.StartupPolicy).To(Equal(lwsv1.LeaderReadyStartupPolicy))
			Expect(child.Spec.PodTerminationPolicy).To(Equal(lwsv1.ParallelPodTermination))
			Expect(child.Spec.LeaderWorkerTemplate.RestartPolicy).To(Equal(lwsv1.RecreateGroupAfterStart))
			Expect(child.Spec.LeaderWorkerTemplate.MaxGroupRestarts).To(HaveValue(BeEquivalentTo(3)))
			Expect(child.Spec.LeaderWorkerTemplate.RestartBackoff.BaseSeconds).To(HaveValue(BeEquivalentTo(5)))
			budgets := child.Spec.RolloutStrategy.RollingUpdateConfiguration
			Expect([]string{budgets.MaxUnavailable.String(), budgets.MaxSurge.String()}).To(Equal([]string{"1", "1"}), "numbers against the target")
		}
		Expect(count).To(Equal(2))
		s.expectUntouched(before, pods)
	})

	It("when defaults become explicit", func() {
		s := begin()
		s.up(dstest.New(set).Roles(newRole("prefill", 2).Size(2), newRole("decode", 1)))
		before, pods := s.now(), s.podsAsText()
		s.settle(func(spec *dsv1.DisaggregatedSetSpec) {
			for i := range spec.Roles {
				role := &spec.Roles[i].Spec
				role.NetworkConfig = &lwsv1.NetworkConfig{SubdomainPolicy: new(lwsv1.SubdomainShared)}
				role.GroupIdentity = lwsv1.OrdinalGroupIdentity
				role.RolloutStrategy.RollingUpdateConfiguration = &lwsv1.RollingUpdateConfiguration{
					MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(0)), Partition: new(int32(0)),
				}
				pod := &role.LeaderWorkerTemplate.WorkerTemplate.Spec
				pod.RestartPolicy, pod.DNSPolicy, pod.SchedulerName = corev1.RestartPolicyAlways, corev1.DNSClusterFirst, corev1.DefaultSchedulerName
				pod.SecurityContext = &corev1.PodSecurityContext{}
				container := &pod.Containers[0]
				container.TerminationMessagePath = corev1.TerminationMessagePathDefault
				container.TerminationMessagePolicy = corev1.TerminationMessageReadFile
				container.Resources = corev1.ResourceRequirements{}
			}
			spec.PlacementPolicy = &dsv1.PlacementPolicy{Type: dsv1.NonePlacement}
		})
		s.expectUntouched(before, pods)
	})

	It("when replicas and slices change: only what is new is made", func() {
		s := begin()
		s.up(dstest.New(set).Roles(newRole("prefill", 2), newRole("decode", 1)))
		before, pods := s.now(), s.podsAsText()
		s.settle(replicas("prefill", 3), func(spec *dsv1.DisaggregatedSetSpec) { spec.Slices = new(int32(2)) })
		now := s.podsAsText()
		Expect(now).To(HaveLen(8))
		maps.DeleteFunc(now, func(name, _ string) bool { return pods[name] == "" })
		Expect(now).To(Equal(pods))
		s.settle(replicas("prefill", 2), func(spec *dsv1.DisaggregatedSetSpec) { spec.Slices = new(int32(1)) })
		s.await("only the first pods are left", func() (string, bool) {
			found := s.podsAsText()
			return fmt.Sprint(found), maps.Equal(found, pods)
		})
		s.expectUntouched(before, pods)
		s.expectOnly(0, "prefill", "decode")
	})

	It("when a set takes over what an earlier release made", func() {
		s := begin()
		const revision = "0ld0ld00"
		build := dstest.New(set).Roles(newRole("prefill", 2), newRole("decode", 1))
		for _, role := range build.Obj().Spec.Roles {
			labels := map[string]string{
				dsv1.SetNameLabelKey: set, dsv1.RoleLabelKey: role.Name, dsv1.RevisionLabelKey: revision,
			}
			made := &lwsv1.LeaderWorkerSet{
				ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: set + "-" + revision + "-" + role.Name, Labels: labels},
				Spec:       *role.Spec.DeepCopy(),
			}
			template := &made.Spec.LeaderWorkerTemplate.WorkerTemplate
			template.Labels = labels
			template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: dsv1.RoleEnvVar, Value: role.Name}}
			Expect(shared.Client.Create(s.ctx, made)).To(Succeed())
		}
		s.await("the pods of before are ready", func() (string, bool) {
			ready := s.readyPods()
			return fmt.Sprintf("%d", ready), ready == 3
		})
		pods := s.podsAsText()
		s.up(build)
		before := s.now()
		Expect(before.Status.CurrentRevision).To(Equal(revision))
		Expect(s.services()).To(HaveLen(2))
		s.expectUntouched(before, pods)

		mark := s.History().Mark()
		s.settle(image(better))
		watch := s.report(mark)
		expectWhole(watch)
		Expect(watch.Roles["0/prefill"].MinReady).To(Equal(2))
		Expect(watch.Roles["0/decode"].MinReady).To(Equal(1))
		s.expectOnly(0, "prefill", "decode")
	})
})

// readyPods counts the pods that are ready, whatever they belong to.
func (s *scenario) readyPods() int {
	ready := map[string]bool{}
	for _, pod := range s.History().Pods {
		ready[pod.Name] = pod.Ready && !pod.Gone
	}
	maps.DeleteFunc(ready, func(_ string, is bool) bool { return !is })
	return len(ready)
}
