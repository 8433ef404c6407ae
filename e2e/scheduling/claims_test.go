package scheduling

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// devices makes a device on each of the pool's nodes, and a template of claims to one.
func (s *scenario) devices(claimTemplate string) {
	GinkgoHelper()
	driver := s.namespace + ".example.com"
	class := &resourcev1.DeviceClass{
		ObjectMeta: metav1.ObjectMeta{Name: s.namespace},
		Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{
			{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", driver)}},
		}},
	}
	objects := []client.Object{class, &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: claimTemplate},
		Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{
			Requests: []resourcev1.DeviceRequest{{Name: "one", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class.Name}}},
		}}},
	}}
	for i := range s.nodes {
		objects = append(objects, &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: s.node(i)},
			Spec: resourcev1.ResourceSliceSpec{
				Driver: driver, NodeName: new(s.node(i)),
				Pool:    resourcev1.ResourcePool{Name: s.node(i), Generation: 1, ResourceSliceCount: 1},
				Devices: []resourcev1.Device{{Name: "device"}},
			},
		})
	}
	for _, object := range objects {
		Expect(s.env.Client.Create(s.ctx, object)).To(Succeed())
		if object.GetNamespace() == "" {
			DeferCleanup(func() { Expect(client.IgnoreNotFound(s.env.Client.Delete(s.ctx, object))).To(Succeed()) })
		}
	}
}

var _ = Describe("Claims of a role", func() {
	It("are made once for the workers of each group, who share what is allocated", func() {
		s := begin()
		s.addNode(4, nil)
		s.addNode(4, nil)
		s.devices("gpus")
		workers := s.template()
		workers.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("gpus")}}
		workers.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
		name := s.create(s.newSet("shared").Replicas(2).Size(3).LeaderTemplate(s.template()).WorkerTemplate(workers).
			Scheduling(withReplica(lwsv1.LeaderWorkerSetReplicaScheduling{Worker: &lwsv1.LeaderWorkerSetWorkerScheduling{
				SchedulingPolicy: &schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy{Gang: &schedulingv1alpha3.WorkloadPodGroupGangSchedulingPolicy{}},
				ResourceClaims:   workerClaim.ResourceClaims,
			}})))
		s.awaitAvailable(name)

		var claims resourcev1.ResourceClaimList
		Expect(s.env.Client.List(s.ctx, &claims, client.InNamespace(s.namespace))).To(Succeed())
		Expect(claims.Items).To(HaveLen(2), "one for each group of workers")
		for _, claim := range claims.Items {
			Expect(claim.Status.Allocation).NotTo(BeNil(), claim.Name)
		}
		nodes := map[string]string{}
		for _, pod := range s.Pods(name) {
			if pod.Labels[lwsv1.WorkerIndexLabelKey] == "0" {
				continue
			}
			group := pod.Labels[lwsv1.GroupIndexLabelKey]
			Expect(nodes[group]).To(Or(BeEmpty(), Equal(pod.Spec.NodeName)), "workers of group "+group+" are where their device is")
			nodes[group] = pod.Spec.NodeName
		}
		Expect(nodes["0"]).NotTo(Equal(nodes["1"]), "each node has one device")
	})
})
