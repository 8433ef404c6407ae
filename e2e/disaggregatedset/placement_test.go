package disaggregatedset

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	"sigs.k8s.io/lws/e2e/cluster/sim"
)

const domain = "e2e.lws.x-k8s.io/domain"

// addDomains makes nodes that only this spec's pods run on, two in each domain.
func addDomains(ctx SpecContext, names ...string) {
	GinkgoHelper()
	var nodes []sim.Node
	for _, name := range names {
		for i := range 2 {
			nodes = append(nodes, sim.Node{
				Name: fmt.Sprintf("%s-%d", name, i), Labels: map[string]string{domain: name},
				Taints: []corev1.Taint{{Key: domain, Value: "own", Effect: corev1.TaintEffectNoSchedule}},
			})
		}
	}
	Expect(shared.Cluster.AddNodes(ctx, nodes...)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		for _, node := range nodes {
			Expect(sim.RemoveNode(ctx, shared.Kube, node.Name)).To(Succeed())
		}
	})
}

// inDomains lets pods run on such nodes.
func inDomains(spec *dsv1.DisaggregatedSetSpec) {
	for i := range spec.Roles {
		pods := &spec.Roles[i].Spec.LeaderWorkerTemplate.WorkerTemplate.Spec
		pods.Tolerations = []corev1.Toleration{{Key: domain, Operator: corev1.TolerationOpExists}}
	}
}

// domains are those of the pods of a set, by slice.
func (s *scenario) domains(name string) map[string][]string {
	GinkgoHelper()
	var pods corev1.PodList
	Expect(shared.Client.List(s.ctx, &pods, client.InNamespace(s.namespace), client.MatchingLabels{dsv1.SetNameLabelKey: name})).To(Succeed())
	found := map[string][]string{}
	for _, pod := range pods.Items {
		node := &corev1.Node{}
		Expect(shared.Client.Get(s.ctx, client.ObjectKey{Name: pod.Spec.NodeName}, node)).To(Succeed())
		slice, at := pod.Labels[dsv1.SliceLabelKey], node.Labels[domain]
		if !slices.Contains(found[slice], at) {
			found[slice] = append(found[slice], at)
		}
	}
	return found
}

var _ = Describe("Placement", func() {
	It("gives every slice a domain, and one that is exclusive to a set of its own", func(ctx SpecContext) {
		addDomains(ctx, "left", "middle", "right")
		s := begin()
		roles := func() *dstest.Builder {
			return dstest.New(set).Roles(newRole("prefill", 2).Size(2), newRole("decode", 1))
		}
		s.up(roles().Slices(2).Placement(dsv1.ExclusiveSlicePlacement, domain), inDomains)
		at := s.domains(set)
		Expect(at["0"]).To(HaveLen(1))
		Expect(at["1"]).To(HaveLen(1))
		Expect(at["0"]).NotTo(Equal(at["1"]))

		apart := dstest.New("apart").Namespace(s.namespace).Roles(newRole("prefill", 1), newRole("decode", 1)).
			Placement(dsv1.ExclusiveTopologyPlacement, domain).Obj()
		inDomains(&apart.Spec)
		Expect(shared.Client.Create(s.ctx, apart)).To(Succeed())
		s.await("the second set is available", func() (string, bool) {
			states := s.History().DisaggregatedSets("apart")
			if len(states) == 0 {
				return "there is no such set", false
			}
			last := states[len(states)-1]
			return statusLine(last), isTrue(last, dsv1.ConditionAvailable)
		})
		alone := s.domains("apart")["0"]
		Expect(alone).To(HaveLen(1))
		Expect(alone).NotTo(Equal(at["0"]))
		Expect(alone).NotTo(Equal(at["1"]))

		By("rolling out, beside the old revision in the same domain")
		s.settle(image(better))
		Expect(s.domains(set)).To(Equal(at))
	})
})
