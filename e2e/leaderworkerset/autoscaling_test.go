package leaderworkerset

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

var _ = Describe("A HorizontalPodAutoscaler", func() {
	DescribeTable("keeps a set within its bounds, also during a rollout", func(set *lwstest.Builder) {
		s := begin()
		name := s.up(set)
		scale := &autoscalingv1.Scale{}
		Expect(s.env.Client.SubResource("scale").Get(s.ctx, s.Set(name), scale)).To(Succeed())
		Expect(scale.Status.Replicas).To(BeEquivalentTo(1))
		Expect(scale.Status.Selector).To(Equal(prefix + "name=hpa," + prefix + "worker-index=0"))

		autoscaler := harness.Autoscaler(s.namespace, autoscalingv2.CrossVersionObjectReference{
			APIVersion: lwsv1.GroupVersion.String(), Kind: lwsv1.Kind, Name: name,
		})
		Expect(s.env.Client.Create(s.ctx, autoscaler)).To(Succeed())
		s.awaitSet(name, "has the least replicas", func(set *lwsv1.LeaderWorkerSet) bool { return lwsv1.Replicas(set) == 3 })
		s.change(name, image(better))
		_, err := managers.Kubectl(s.ctx, s.env.Cluster, nil, "scale", "lws/"+name, "-n", s.namespace, "--replicas=8")
		Expect(err).NotTo(HaveOccurred())
		s.awaitSet(name, "has the most replicas", func(set *lwsv1.LeaderWorkerSet) bool { return lwsv1.Replicas(set) == 5 })
		s.awaitObserved(name)
		s.awaitAvailable(name)
		s.await("five groups of the new revision", func() (string, bool) {
			pods, old := s.Pods(name), 0
			for _, pod := range pods {
				if pod.Labels[lwsv1.RevisionLabelKey] != s.Set(name).Status.UpdateRevision {
					old++
				}
			}
			return fmt.Sprintf("%d pods, %d of them old", len(pods), old), len(pods) == 10 && old == 0
		})
		s.get(name, autoscaler)
		Expect(autoscaler.Status.Conditions).To(ContainElement(And(
			HaveField("Type", autoscalingv2.AbleToScale), HaveField("Status", corev1.ConditionTrue),
		)))
	},
		Entry("of groups with numbers", rolling("hpa", 1, 2, "1", "1")),
		Entry("of groups with keys", rolling("hpa", 1, 2, "1", "1").Hash()),
	)
})
