package leaderworkerset

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// raw is a set with a spec as somebody wrote it.
func (s *scenario) raw(name, spec string) *unstructured.Unstructured {
	GinkgoHelper()
	set := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal(fmt.Appendf(nil, `
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: %s, namespace: %s}
spec: %s
`, name, s.namespace, spec), &set.Object)).To(Succeed())
	return set
}

const rawTemplate = `workerTemplate: {spec: {terminationGracePeriodSeconds: 1, containers: [{name: c, image: i}]}}`

// expectRefusal checks that a request is refused for a field, in words of ours.
func expectRefusal(err error, texts ...string) {
	GinkgoHelper()
	Expect(err).To(Satisfy(func(err error) bool { return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) }), "%v", err)
	for _, text := range texts {
		Expect(err.Error()).To(ContainSubstring(text))
	}
	Expect(err.Error()).NotTo(ContainSubstring("panic"))
}

var _ = Describe("A user", func() {
	DescribeTable("gets an error that names the field for what is not there or zero",
		func(spec, field string) {
			s := begin()
			err := s.env.Client.Create(s.ctx, s.raw("bad", spec))
			expectRefusal(err, field)

			By("also on update")
			s.create(newSet("good"))
			expectRefusal(s.tryChange("good", func(set *lwsv1.LeaderWorkerSet) client.Object {
				bad := s.raw("good", spec)
				bad.SetResourceVersion(set.ResourceVersion)
				return bad
			}), field)
			s.awaitAvailable("good")
		},
		Entry("an empty subGroupPolicy", `{leaderWorkerTemplate: {size: 4, subGroupPolicy: {}, `+rawTemplate+`}}`, "subGroupSize"),
		Entry("subGroupSize 0", `{leaderWorkerTemplate: {size: 4, subGroupPolicy: {subGroupSize: 0}, `+rawTemplate+`}}`, "subGroupSize"),
		Entry("size 0", `{leaderWorkerTemplate: {size: 0, `+rawTemplate+`}}`, "size"),
		Entry("replicas below 0", `{replicas: -1, leaderWorkerTemplate: {`+rawTemplate+`}}`, "replicas"),
		Entry("no workerTemplate", `{leaderWorkerTemplate: {size: 4}}`, "workerTemplate"),
		Entry("both budgets 0", `{rolloutStrategy: {type: RollingUpdate, rollingUpdateConfiguration: {maxUnavailable: 0, maxSurge: 0}}, leaderWorkerTemplate: {`+rawTemplate+`}}`, "maxUnavailable"),
		Entry("both budgets 0%", `{rolloutStrategy: {type: RollingUpdate, rollingUpdateConfiguration: {maxUnavailable: "0%", maxSurge: 0}}, leaderWorkerTemplate: {`+rawTemplate+`}}`, "maxUnavailable"),
	)

	DescribeTable("may leave out",
		func(spec string, pods ...string) {
			s := begin()
			Expect(s.env.Client.Create(s.ctx, s.raw("lean", spec))).To(Succeed())
			s.awaitAvailable("lean")
			s.awaitPods("lean", pods...)
		},
		Entry("everything that has a default", `{leaderWorkerTemplate: {`+rawTemplate+`}}`, "lean-0"),
		Entry("the partition", `{rolloutStrategy: {type: RollingUpdate, rollingUpdateConfiguration: {maxSurge: 1}}, leaderWorkerTemplate: {size: 2, `+rawTemplate+`}}`, "lean-0", "lean-0-1"),
		Entry("the configuration of rollouts", `{rolloutStrategy: {type: RollingUpdate}, networkConfig: {}, leaderWorkerTemplate: {size: 2, `+rawTemplate+`}}`, "lean-0", "lean-0-1"),
	)

	It("is told which field a smaller size would break", func() {
		s := begin()
		s.create(newSet("sub").Size(8).SubGroups(4, lwsv1.SubGroupPolicyTypeLeaderWorker))
		expectRefusal(s.tryChange("sub", func(set *lwsv1.LeaderWorkerSet) client.Object {
			size(6)(set)
			return set
		}), "size")
	})

	It("is warned of what is likely not meant", func() {
		s := begin()
		pods := template("worker")
		pods.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "LWS_GROUP_SIZE", Value: "9"}}
		Expect(s.warningsOf(newSet("vars").WorkerTemplate(pods))).To(ContainElement(ContainSubstring("LWS_GROUP_SIZE")))
		Expect(s.warningsOf(newSet("old").RestartPolicy(lwsv1.DeprecatedDefaultRestartPolicy))).To(ContainElement(ContainSubstring("restartPolicy")))
		Expect(s.warningsOf(newSet("rounded").Replicas(5).MaxUnavailable("10%").MaxSurge("0"))).To(ContainElement(ContainSubstring("maxUnavailable")))
		Expect(s.warningsOf(newSet("twice").Annotation(lwsv1.ExclusiveTopologyAnnotationKey, "zone").GroupTopology("zone"))).
			To(ContainElement(ContainSubstring(lwsv1.ExclusiveTopologyAnnotationKey)))
		Expect(s.warningsOf(newSet("fine"))).To(BeEmpty())
	})
})

// warnings collects what the API server warns of.
type warnings []string

func (w *warnings) HandleWarningHeader(_ int, _, text string) { *w = append(*w, text) }

// warningsOf are the warnings that the creation of a set draws; nothing is stored.
func (s *scenario) warningsOf(set *lwstest.Builder) []string {
	GinkgoHelper()
	drawn := &warnings{}
	config := rest.CopyConfig(s.env.Config)
	config.WarningHandler = drawn
	c, err := client.New(config, client.Options{Scheme: s.env.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	Expect(c.Create(s.ctx, set.Namespace(s.namespace).Obj(), client.DryRunAll)).To(Succeed())
	return *drawn
}

var _ = Describe("A pod of somebody else", func() {
	It("that only has our name label is left alone", func() {
		s := begin()
		s.create(newSet("mine").Size(2))
		s.awaitAvailable("mine")
		s.awaitMemory("mine", 1)
		stray := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "stray", Namespace: s.namespace, Labels: map[string]string{lwsv1.SetNameLabelKey: "mine"}},
			Spec:       template("theirs").Spec,
		}
		lost := stray.DeepCopy()
		lost.Name, lost.Labels = "lost", map[string]string{lwsv1.SetNameLabelKey: "no-such-set"}
		before := len(s.requests())
		for _, pod := range []*corev1.Pod{stray, lost} {
			Expect(s.env.Client.Create(s.ctx, pod)).To(Succeed())
		}
		Eventually(func() bool {
			s.get("stray", stray)
			s.get("lost", lost)
			return isReady(stray) && isReady(lost)
		}).WithTimeout(patience).Should(BeTrue())
		for _, pod := range []*corev1.Pod{stray, lost} {
			Expect(pod.Spec.Containers[0].Env).To(BeEmpty())
			Expect(pod.Spec.SchedulingGates).To(BeEmpty())
		}
		s.touchAndAwaitReaction("mine")
		for _, request := range s.requests()[before:] {
			Expect(request.Name).NotTo(BeElementOf("stray", "lost"), "%v", request)
			Expect(request.Resource).NotTo(Equal("pods"), "%v", request)
		}
		s.awaitAvailable("mine")
		s.expectUndisturbed("mine")
	})
})
