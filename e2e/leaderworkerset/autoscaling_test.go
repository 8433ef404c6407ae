package leaderworkerset

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/managers"
)

var _ = Describe("A HorizontalPodAutoscaler", func() {
	It("keeps a set within its bounds, also during a rollout", func() {
		s := begin()
		name := s.up(rolling("hpa", 1, 2, "1", "1"))
		scale := &autoscalingv1.Scale{}
		Expect(s.env.Client.SubResource("scale").Get(s.ctx, s.Set(name), scale)).To(Succeed())
		Expect(scale.Status.Replicas).To(BeEquivalentTo(1))
		Expect(scale.Status.Selector).To(Equal(prefix + "name=hpa," + prefix + "worker-index=0"))

		autoscaler := &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace},
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{
					APIVersion: lwsv1.GroupVersion.String(), Kind: lwsv1.Kind, Name: name,
				},
				MinReplicas: new(int32(3)), MaxReplicas: 5,
				Metrics: []autoscalingv2.MetricSpec{{
					Type: autoscalingv2.ResourceMetricSourceType,
					Resource: &autoscalingv2.ResourceMetricSource{
						Name:   corev1.ResourceCPU,
						Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(80))},
					},
				}},
			},
		}
		Expect(s.env.Client.Create(s.ctx, autoscaler)).To(Succeed())
		s.awaitSet(name, "has the least replicas", func(set *lwsv1.LeaderWorkerSet) bool { return lwsv1.Replicas(set) == 3 })
		s.change(name, image(better))
		_, err := managers.Kubectl(s.ctx, s.env.Cluster, nil, "scale", "lws/"+name, "-n", s.namespace, "--replicas=8")
		Expect(err).NotTo(HaveOccurred())
		s.awaitSet(name, "has the most replicas", func(set *lwsv1.LeaderWorkerSet) bool { return lwsv1.Replicas(set) == 5 })
		s.awaitObserved(name)
		s.awaitAvailable(name)
		s.awaitPods(name, podNames(name, 5, 2)...)
		s.expectUpdated(name, 0)
		s.get(name, autoscaler)
		Expect(autoscaler.Status.Conditions).To(ContainElement(And(
			HaveField("Type", autoscalingv2.AbleToScale), HaveField("Status", corev1.ConditionTrue),
		)))
	})
})
