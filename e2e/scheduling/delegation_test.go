package scheduling

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/managers"
)

var _ = Describe("A set below another workload", func() {
	It("has PodGroups of the Workload of its owner, once that is there", func() {
		s := begin()
		s.addNode(10, nil)
		checkout, err := managers.Checkout()
		Expect(err).NotTo(HaveOccurred())
		definition, err := os.ReadFile(filepath.Join(checkout, "config/crd/bases/disaggregatedset.x-k8s.io_disaggregatedsets.yaml"))
		Expect(err).NotTo(HaveOccurred())
		_, err = managers.Kubectl(s.ctx, s.env.Cluster, definition, "apply", "--server-side", "-f", "-")
		Expect(err).NotTo(HaveOccurred())
		parent := dstest.New("parent").Namespace(s.namespace).Obj()
		Eventually(func() error { return s.env.Client.Create(s.ctx, parent) }).WithTimeout(patience).Should(Succeed())
		owner := *metav1.NewControllerRef(parent, dsv1.GroupVersion.WithKind("DisaggregatedSet"))

		set := s.newSet("part").Replicas(2).Size(2).Scheduling(gangOfGroups()).
			Annotation(lwsv1.SchedulingGroupTemplateNameAnnotationKey, "decode").Obj()
		set.OwnerReferences = []metav1.OwnerReference{owner}
		Expect(s.env.Client.Create(s.ctx, set)).To(Succeed())
		s.awaitCondition(set.Name, lwsv1.ConditionWorkloadSchedulingCreated, lwsv1.ReasonParentWorkloadNotReady, "of the set's owner")
		Expect(s.placed(set.Name)).To(BeEmpty())

		workload := &schedulingv1beta1.Workload{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "parents", OwnerReferences: []metav1.OwnerReference{owner}},
			Spec: schedulingv1beta1.WorkloadSpec{PodGroupTemplates: []schedulingv1beta1.PodGroupTemplate{{
				Name: "decode", SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{
					Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2},
				},
			}}},
		}
		Expect(s.env.Client.Create(s.ctx, workload)).To(Succeed())
		s.awaitAvailable(set.Name)
		s.awaitPodGroups(set.Name, 2, false)
		for _, podGroup := range s.podGroups() {
			Expect(podGroup.Spec.WorkloadRef.WorkloadName).To(Equal("parents"))
		}
		var workloads schedulingv1beta1.WorkloadList
		Expect(s.env.Client.List(s.ctx, &workloads, client.InNamespace(s.namespace))).To(Succeed())
		Expect(workloads.Items).To(HaveLen(1))
	})
})
