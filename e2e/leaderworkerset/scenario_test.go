package leaderworkerset

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
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/harness"
)

// patience is how long a spec waits for what takes seconds on an idle machine, and
// longPatience for what takes a minute.
const (
	patience     = 4 * time.Minute
	longPatience = 2 * patience
)

// scenario is a namespace of its own for one spec, and all that was recorded in it.
type scenario struct {
	*harness.Observer
	env       *harness.Environment
	ctx       context.Context
	namespace string
}

// begin makes a scenario in the shared environment.
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
	DeferCleanup(func() { Expect(env.End(ctx, observer)).To(Succeed()) })
	DeferCleanup(s.judge)
	return s
}

// judge looks back at what was recorded. It describes what there is if something was
// wrong, before or now.
func (s *scenario) judge() {
	history := s.History()
	var violations []string
	for _, name := range history.SetNames() {
		violations = append(violations, history.StatusViolations(name)...)
		violations = append(violations, history.EventViolations(name)...)
		violations = append(violations, history.MixedGroups(name)...)
	}
	if len(violations) > 0 || CurrentSpecReport().Failed() {
		AddReportEntry("what there is", ReportEntryVisibilityFailureOrVerbose, s.env.Describe(s.ctx, s.Observer))
	}
	Expect(s.Failure()).To(Succeed())
	Expect(violations).To(BeEmpty(), "at all times")
}

// newSet is a set that ends within a second.
func newSet(name string) *lwstest.Builder {
	return lwstest.New(name).WorkerTemplate(template("worker"))
}

// template is one of a container that ends within a second.
func template(container string) corev1.PodTemplateSpec {
	pods := lwstest.PodTemplate(container)
	pods.Spec.TerminationGracePeriodSeconds = new(int64(1))
	return pods
}

// create creates a set in the namespace.
func (s *scenario) create(set *lwstest.Builder) *lwsv1.LeaderWorkerSet {
	GinkgoHelper()
	object := set.Namespace(s.namespace).Obj()
	Expect(s.env.Client.Create(s.ctx, object)).To(Succeed())
	return object
}

// change updates a set, again if somebody else did in between.
func (s *scenario) change(name string, change func(*lwsv1.LeaderWorkerSet)) {
	GinkgoHelper()
	Expect(s.tryChange(name, func(set *lwsv1.LeaderWorkerSet) client.Object {
		change(set)
		return set
	})).To(Succeed())
	changed := &lwsv1.LeaderWorkerSet{}
	s.get(name, changed)
	s.awaitSet(name, "is recorded as it was changed", func(seen *lwsv1.LeaderWorkerSet) bool { return seen.Generation >= changed.Generation })
}

// tryChange updates a set to what is made of it, again if somebody else did in
// between.
func (s *scenario) tryChange(name string, change func(*lwsv1.LeaderWorkerSet) client.Object) error {
	return harness.Change(s.ctx, s.env.Client, s.Key(name), &lwsv1.LeaderWorkerSet{}, change)
}

// image makes a change that starts a rollout.
func image(image string) func(*lwsv1.LeaderWorkerSet) {
	return func(set *lwsv1.LeaderWorkerSet) {
		pods := &set.Spec.LeaderWorkerTemplate
		for i := range pods.WorkerTemplate.Spec.Containers {
			pods.WorkerTemplate.Spec.Containers[i].Image = image
		}
		if pods.LeaderTemplate != nil {
			for i := range pods.LeaderTemplate.Spec.Containers {
				pods.LeaderTemplate.Spec.Containers[i].Image = image
			}
		}
	}
}

func replicas(n int32) func(*lwsv1.LeaderWorkerSet) {
	return func(set *lwsv1.LeaderWorkerSet) { set.Spec.Replicas = &n }
}

// get reads an object of the namespace.
func (s *scenario) get(name string, object client.Object) {
	GinkgoHelper()
	Expect(s.env.Client.Get(s.ctx, s.Key(name), object)).To(Succeed())
}

// await waits for what only depends on what is recorded.
func (s *scenario) await(what string, holds func() (seen string, ok bool)) {
	GinkgoHelper()
	s.awaitFor(patience, what, holds)
}

func (s *scenario) awaitFor(limit time.Duration, what string, holds func() (seen string, ok bool)) {
	GinkgoHelper()
	if err := s.Await(s.ctx, limit, holds); err != nil {
		Fail(fmt.Sprintf("%s: %v", what, err))
	}
}

// awaitSet waits for a state of a set.
func (s *scenario) awaitSet(name, what string, holds func(*lwsv1.LeaderWorkerSet) bool) {
	GinkgoHelper()
	Expect(s.AwaitSet(s.ctx, patience, name, holds)).To(Succeed(), "%s %s", name, what)
}

// awaitAvailable waits until the status of the set's present spec says Available.
func (s *scenario) awaitAvailable(name string) {
	GinkgoHelper()
	s.awaitSet(name, "is available", harness.IsAvailable)
}

// awaitGeneration waits until the status is that of the spec as it is on the API
// server now.
func (s *scenario) awaitObserved(name string) {
	GinkgoHelper()
	set := &lwsv1.LeaderWorkerSet{}
	s.get(name, set)
	s.awaitSet(name, "is observed", func(seen *lwsv1.LeaderWorkerSet) bool {
		return seen.Status.ObservedGeneration >= set.Generation
	})
}

// settle makes a change and waits until the set is available with it.
func (s *scenario) settle(name string, change func(*lwsv1.LeaderWorkerSet)) {
	GinkgoHelper()
	s.change(name, change)
	s.awaitObserved(name)
	s.awaitAvailable(name)
}

// awaitPods waits until the pods of a set are exactly those of some names.
func (s *scenario) awaitPods(set string, names ...string) {
	GinkgoHelper()
	slices.Sort(names)
	s.await("pods of "+set, func() (string, bool) {
		found := slices.Sorted(maps.Keys(s.Pods(set)))
		return strings.Join(found, " "), slices.Equal(found, names)
	})
}

// awaitReadyPods waits until these are the pods of a set, each ready and none ending: a
// status may still tell of those before them.
func (s *scenario) awaitReadyPods(set string, names ...string) {
	GinkgoHelper()
	slices.Sort(names)
	s.await("ready pods of "+set, func() (string, bool) {
		pods := s.Pods(set)
		maps.DeleteFunc(pods, func(_ string, pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil || !isReady(pod) })
		ready := slices.Sorted(maps.Keys(pods))
		return strings.Join(ready, " "), slices.Equal(ready, names)
	})
}

// podNames are the names of the pods of groups of a size.
func podNames(set string, replicas, size int) []string {
	var names []string
	for group := range replicas {
		leader := fmt.Sprintf("%s-%d", set, group)
		names = append(names, leader)
		for worker := 1; worker < size; worker++ {
			names = append(names, fmt.Sprintf("%s-%d", leader, worker))
		}
	}
	return names
}

func isCurrent(set *lwsv1.LeaderWorkerSet) bool {
	return set.Status.ObservedGeneration == set.Generation
}

func isTrue(set *lwsv1.LeaderWorkerSet, conditionType string) bool {
	return meta.IsStatusConditionTrue(set.Status.Conditions, conditionType)
}

// condition is one of a set, empty if there is none.
func condition(set *lwsv1.LeaderWorkerSet, conditionType string) metav1.Condition {
	if found := meta.FindStatusCondition(set.Status.Conditions, conditionType); found != nil {
		return *found
	}
	return metav1.Condition{}
}

func size(n int32) func(*lwsv1.LeaderWorkerSet) {
	return func(set *lwsv1.LeaderWorkerSet) { set.Spec.LeaderWorkerTemplate.Size = &n }
}
