package scheduling

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/cluster/sim"
	"sigs.k8s.io/lws/e2e/harness"
)

// patience is how long a spec waits for what takes seconds on an idle machine.
const patience = 3 * time.Minute

const poolLabel = "pool"

// scenario is a namespace and a pool for one spec.
type scenario struct {
	*harness.Observer
	env       *harness.Environment
	ctx       context.Context
	namespace string
	nodes     int
}

func begin() *scenario {
	GinkgoHelper()
	return beginIn(shared)
}

func beginIn(env *harness.Environment) *scenario {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	DeferCleanup(cancel)
	observer, err := env.Begin(ctx)
	Expect(err).NotTo(HaveOccurred())
	s := &scenario{Observer: observer, env: env, ctx: ctx, namespace: observer.Namespace()}
	DeferCleanup(func() {
		Expect(env.End(ctx, observer)).To(Succeed())
		for i := range s.nodes {
			Expect(sim.RemoveNode(ctx, env.Kube, s.node(i))).To(Succeed())
		}
	})
	DeferCleanup(s.judge)
	return s
}

// judge looks back at what was recorded.
func (s *scenario) judge() {
	history := s.History()
	var violations []string
	for _, name := range history.SetNames() {
		violations = append(violations, history.StatusViolations(name)...)
		violations = append(violations, history.MixedGroups(name)...)
	}
	if len(violations) > 0 || CurrentSpecReport().Failed() {
		AddReportEntry("what there is", ReportEntryVisibilityFailureOrVerbose, s.env.Describe(s.ctx, s.Observer))
	}
	Expect(s.Failure()).To(Succeed())
	Expect(violations).To(BeEmpty(), "at all times")
}

func (s *scenario) node(i int) string { return fmt.Sprintf("%s-%d", s.namespace, i) }

// addNode adds a node with room for so many pods to the pool.
func (s *scenario) addNode(cpus int64, labels map[string]string) {
	GinkgoHelper()
	all := map[string]string{poolLabel: s.namespace}
	maps.Copy(all, labels)
	Expect(s.env.Cluster.AddNodes(s.ctx, sim.Node{
		Name: s.node(s.nodes), Labels: all,
		Capacity: corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(cpus, resource.DecimalSI)},
	})).To(Succeed())
	s.nodes++
}

// newSet is a set whose pods take one CPU each of the pool, and end within a second.
func (s *scenario) newSet(name string) *lwstest.Builder {
	return lwstest.New(name).Namespace(s.namespace).WorkerTemplate(s.template())
}

func (s *scenario) template() corev1.PodTemplateSpec {
	pods := lwstest.PodTemplate("main")
	pods.Spec.TerminationGracePeriodSeconds = new(int64(1))
	pods.Spec.NodeSelector = map[string]string{poolLabel: s.namespace}
	pods.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	return pods
}

func (s *scenario) create(set *lwstest.Builder) string {
	GinkgoHelper()
	object := set.Obj()
	Expect(s.env.Client.Create(s.ctx, object)).To(Succeed())
	return object.Name
}

// change updates a set, again if somebody else did in between.
func (s *scenario) change(name string, change func(*lwsv1.LeaderWorkerSet)) {
	GinkgoHelper()
	Expect(s.tryChange(name, change)).To(Succeed())
}

func (s *scenario) tryChange(name string, change func(*lwsv1.LeaderWorkerSet)) error {
	return harness.Change(s.ctx, s.env.Client, s.Key(name), &lwsv1.LeaderWorkerSet{}, func(set *lwsv1.LeaderWorkerSet) client.Object {
		change(set)
		return set
	})
}

// settle makes a change and waits until the set is available with it.
func (s *scenario) settle(name string, change func(*lwsv1.LeaderWorkerSet)) {
	GinkgoHelper()
	s.change(name, change)
	set := &lwsv1.LeaderWorkerSet{}
	Expect(s.env.Client.Get(s.ctx, s.Key(name), set)).To(Succeed())
	s.awaitSet(name, "has settled", func(seen *lwsv1.LeaderWorkerSet) bool {
		return seen.Status.ObservedGeneration >= set.Generation &&
			meta.IsStatusConditionTrue(seen.Status.Conditions, lwsv1.ConditionAvailable) &&
			seen.Status.Replicas == lwsv1.Replicas(seen) && seen.Status.UpdatedReplicas == seen.Status.Replicas
	})
}

func (s *scenario) await(what string, holds func() (seen string, ok bool)) {
	GinkgoHelper()
	if err := s.Await(s.ctx, patience, holds); err != nil {
		Fail(fmt.Sprintf("%s: %v", what, err))
	}
}

func (s *scenario) awaitSet(name, what string, holds func(*lwsv1.LeaderWorkerSet) bool) {
	GinkgoHelper()
	Expect(s.AwaitSet(s.ctx, patience, name, holds)).To(Succeed(), "%s %s", name, what)
}

func (s *scenario) awaitAvailable(name string) {
	GinkgoHelper()
	s.awaitSet(name, "is available", harness.IsAvailable)
}

// awaitCondition waits until a condition has a reason and a text in its message.
func (s *scenario) awaitCondition(name, kind, reason, text string) {
	GinkgoHelper()
	s.awaitSet(name, "says "+kind+" "+reason, func(set *lwsv1.LeaderWorkerSet) bool {
		c := meta.FindStatusCondition(set.Status.Conditions, kind)
		return c != nil && c.Reason == reason && strings.Contains(c.Message, text)
	})
}

// podGroups are the PodGroups of the namespace by name.
func (s *scenario) podGroups() map[string]schedulingv1beta1.PodGroup {
	GinkgoHelper()
	var list schedulingv1beta1.PodGroupList
	Expect(s.env.Client.List(s.ctx, &list, client.InNamespace(s.namespace))).To(Succeed())
	found := map[string]schedulingv1beta1.PodGroup{}
	for _, podGroup := range list.Items {
		found[podGroup.Name] = podGroup
	}
	return found
}

// awaitPodGroups waits until the PodGroups are exactly those that the pods of a set
// are in, so many, and checks that no two generations ever shared one.
func (s *scenario) awaitPodGroups(set string, number int, shares bool) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		used := map[string]bool{}
		for _, pod := range s.Pods(set) {
			g.Expect(pod.Spec.SchedulingGroup).NotTo(BeNil(), pod.Name)
			used[*pod.Spec.SchedulingGroup.PodGroupName] = true
		}
		g.Expect(slices.Sorted(maps.Keys(s.podGroups()))).To(Equal(slices.Sorted(maps.Keys(used))))
		g.Expect(used).To(HaveLen(number))
	}).WithTimeout(patience).Should(Succeed())
	if shares {
		return
	}
	leaders := map[string]map[types.UID]bool{}
	for _, state := range s.History().Pods {
		if state.Set == set && state.Worker == 0 && state.PodGroup != "" {
			if leaders[state.PodGroup] == nil {
				leaders[state.PodGroup] = map[types.UID]bool{}
			}
			leaders[state.PodGroup][state.UID] = true
		}
	}
	for name, of := range leaders {
		Expect(of).To(HaveLen(1), "leaders that ever were in "+name)
	}
}

// placed are the pods of a group of a set that are on a node.
func (s *scenario) placed(set string) map[string]int {
	found := map[string]int{}
	for _, pod := range s.Pods(set) {
		if pod.Spec.NodeName != "" {
			found[pod.Labels[lwsv1.GroupIndexLabelKey]]++
		}
	}
	return found
}

// removePod deletes a pod as a user does.
func (s *scenario) removePod(name string) {
	GinkgoHelper()
	Expect(s.env.Client.Delete(s.ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}})).To(Succeed())
}

// awaitAnew waits until pods of these names are others than before, and the set is
// available.
func (s *scenario) awaitAnew(set string, before map[string]types.UID, names ...string) {
	GinkgoHelper()
	s.await("pods are made anew", func() (string, bool) {
		pods := s.Pods(set)
		for _, name := range names {
			if pod := pods[name]; pod == nil || pod.UID == before[name] || !harness.IsReady(pod) {
				return name + " is missing, the old one, or not ready", false
			}
		}
		return "", true
	})
	s.awaitAvailable(set)
}

func (s *scenario) uids(set string) map[string]types.UID {
	found := map[string]types.UID{}
	for name, pod := range s.Pods(set) {
		found[name] = pod.UID
	}
	return found
}

func image(image string) func(*lwsv1.LeaderWorkerSet) {
	return func(set *lwsv1.LeaderWorkerSet) {
		set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = image
	}
}

func replicas(n int32) func(*lwsv1.LeaderWorkerSet) {
	return func(set *lwsv1.LeaderWorkerSet) { set.Spec.Replicas = &n }
}

func size(n int32) func(*lwsv1.LeaderWorkerSet) {
	return func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.Size = &n }
}
