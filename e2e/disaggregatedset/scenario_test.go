package disaggregatedset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/e2e/cluster/sim"
	"sigs.k8s.io/lws/e2e/harness"
)

// patience is how long a spec waits for what takes seconds on an idle machine.
const patience = 3 * time.Minute

// set is the name of the set of a scenario.
const set = "llm"

// scenario is a namespace of its own for one spec, and all that was recorded in it.
type scenario struct {
	*harness.Observer
	ctx       context.Context
	namespace string
}

// begin makes a scenario in the shared environment.
func begin() *scenario {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	DeferCleanup(cancel)
	observer, err := shared.Begin(ctx,
		&dsv1.DisaggregatedSetList{}, &dsv1.DisaggregatedSetRoleScalerList{}, &corev1.ServiceList{})
	Expect(err).NotTo(HaveOccurred())
	s := &scenario{Observer: observer, ctx: ctx, namespace: observer.Namespace()}
	DeferCleanup(func() { Expect(shared.End(ctx, observer)).To(Succeed()) })
	DeferCleanup(s.judge)
	return s
}

// judge looks back at what was recorded. It describes what there is if something was
// wrong, before or now.
func (s *scenario) judge() {
	history := s.History()
	var violations []string
	for _, name := range history.DisaggregatedSetNames() {
		violations = append(violations, history.DisaggregatedSetViolations(name)...)
		violations = append(violations, history.WatchRoles(name, harness.Mark{}).Violations()...)
	}
	if len(violations) > 0 || CurrentSpecReport().Failed() {
		AddReportEntry("what there is", ReportEntryVisibilityFailureOrVerbose, shared.Describe(s.ctx, s.Observer))
	}
	Expect(s.Failure()).To(Succeed())
	Expect(violations).To(BeEmpty(), "at all times")
}

// newRole is a role whose pods end within a second. Its budgets are the defaults
// unless they are given as maxUnavailable and maxSurge.
func newRole(name string, replicas int32, budgets ...string) *dstest.RoleBuilder {
	template := lwstest.New(name).WorkerTemplate(podTemplate(name)).Replicas(replicas)
	if len(budgets) == 2 {
		template.MaxUnavailable(budgets[0]).MaxSurge(budgets[1])
	}
	return dstest.NewRole(name).From(template)
}

func podTemplate(container string) corev1.PodTemplateSpec {
	pods := lwstest.PodTemplate(container)
	pods.Spec.TerminationGracePeriodSeconds = new(int64(1))
	return pods
}

// create creates a set in the namespace.
func (s *scenario) create(build *dstest.Builder, changes ...func(*dsv1.DisaggregatedSetSpec)) {
	GinkgoHelper()
	object := build.Namespace(s.namespace).Obj()
	for _, change := range changes {
		change(&object.Spec)
	}
	Expect(shared.Client.Create(s.ctx, object)).To(Succeed())
}

// up creates a set and waits until it is available.
func (s *scenario) up(build *dstest.Builder, changes ...func(*dsv1.DisaggregatedSetSpec)) {
	GinkgoHelper()
	s.create(build, changes...)
	s.awaitAvailable()
}

// change updates the set, again if somebody else did in between. It returns when the
// change is recorded, so that nobody takes the state before it for that after it.
func (s *scenario) change(changes ...func(*dsv1.DisaggregatedSetSpec)) {
	GinkgoHelper()
	Expect(harness.Change(s.ctx, shared.Client, s.Key(set), &dsv1.DisaggregatedSet{}, func(found *dsv1.DisaggregatedSet) client.Object {
		for _, change := range changes {
			change(&found.Spec)
		}
		return found
	})).To(Succeed())
	generation := s.now().Generation
	s.await("the change is recorded", func() (string, bool) {
		states := s.History().DisaggregatedSets(set)
		last := states[len(states)-1]
		return fmt.Sprintf("generation %d, want %d", last.Generation, generation), last.Generation >= generation
	})
}

// settle makes changes and waits until the set is available with them.
func (s *scenario) settle(changes ...func(*dsv1.DisaggregatedSetSpec)) {
	GinkgoHelper()
	s.change(changes...)
	s.awaitAvailable()
}

// image makes a change that starts a rollout.
func image(image string) func(*dsv1.DisaggregatedSetSpec) {
	return func(spec *dsv1.DisaggregatedSetSpec) {
		for i := range spec.Roles {
			spec.Roles[i].Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = image
		}
	}
}

// asking lets the pods of a new revision ask their nodes for a behaviour.
func asking(annotation, value string) func(*dsv1.DisaggregatedSetSpec) {
	return func(spec *dsv1.DisaggregatedSetSpec) {
		for i := range spec.Roles {
			pods := &spec.Roles[i].Spec.LeaderWorkerTemplate.WorkerTemplate
			pods.Annotations = map[string]string{annotation: value}
		}
	}
}

func slow(delay string) func(*dsv1.DisaggregatedSetSpec) {
	return asking(sim.StartDelayAnnotation, delay)
}

func replicas(role string, n int32) func(*dsv1.DisaggregatedSetSpec) {
	return onRole(role, func(r *dsv1.DisaggregatedRoleSpec) { r.Spec.Replicas = &n })
}

func onRole(role string, change func(*dsv1.DisaggregatedRoleSpec)) func(*dsv1.DisaggregatedSetSpec) {
	return func(spec *dsv1.DisaggregatedSetSpec) {
		for i := range spec.Roles {
			if spec.Roles[i].Name == role {
				change(&spec.Roles[i])
			}
		}
	}
}

// get reads an object of the namespace.
func (s *scenario) get(name string, object client.Object) {
	GinkgoHelper()
	Expect(shared.Client.Get(s.ctx, s.Key(name), object)).To(Succeed())
}

// now is the set as the API server has it.
func (s *scenario) now() *dsv1.DisaggregatedSet {
	GinkgoHelper()
	found := &dsv1.DisaggregatedSet{}
	s.get(set, found)
	return found
}

// await waits for what only depends on what is recorded.
func (s *scenario) await(what string, holds func() (seen string, ok bool)) {
	GinkgoHelper()
	if err := s.Await(s.ctx, patience, holds); err != nil {
		Fail(fmt.Sprintf("%s: %v", what, err))
	}
}

// awaitSet waits for a state of the set's present spec.
func (s *scenario) awaitSet(what string, holds func(*dsv1.DisaggregatedSet) bool) {
	GinkgoHelper()
	generation := s.now().Generation
	s.await(what, func() (string, bool) {
		states := s.History().DisaggregatedSets(set)
		if len(states) == 0 {
			return "there is no such set", false
		}
		last := states[len(states)-1]
		return statusLine(last), last.Status.ObservedGeneration >= generation && holds(last)
	})
}

func (s *scenario) awaitAvailable() {
	GinkgoHelper()
	s.awaitSet("the set is available", func(found *dsv1.DisaggregatedSet) bool { return isTrue(found, dsv1.ConditionAvailable) })
}

// awaitSteps waits until the LeaderWorkerSets were scaled so many times since a mark.
func (s *scenario) awaitSteps(count int, revision string, since harness.Mark) {
	GinkgoHelper()
	s.await(fmt.Sprintf("%d steps", count), func() (string, bool) {
		steps := s.History().Steps(set, "0", revision, since)
		return harness.Table(steps, time.Now()), len(steps) >= count
	})
}

// report prints what was seen of the roles since a mark, and returns it.
func (s *scenario) report(since harness.Mark) *harness.RoleWatch {
	watch := s.History().WatchRoles(set, since)
	AddReportEntry("watch", watch.String(), ReportEntryVisibilityAlways)
	return watch
}

// expectWhole judges a watch of a manager that nobody disturbed: no revision is ever
// without one of its roles.
func expectWhole(watch *harness.RoleWatch) {
	GinkgoHelper()
	Expect(watch.Orphans).To(BeEmpty())
	Expect(watch.HalfPublished).To(BeEmpty())
	Expect(watch.Reversals).To(BeEmpty())
}

// children are the LeaderWorkerSets of the set that exist, with their replicas.
func (s *scenario) children() map[string]lwsv1.LeaderWorkerSet {
	GinkgoHelper()
	var list lwsv1.LeaderWorkerSetList
	Expect(shared.Client.List(s.ctx, &list, client.InNamespace(s.namespace), client.MatchingLabels{dsv1.SetNameLabelKey: set})).To(Succeed())
	found := map[string]lwsv1.LeaderWorkerSet{}
	for _, child := range list.Items {
		found[child.Name] = child
	}
	return found
}

// services are the names of the Services of the set's roles.
func (s *scenario) services() []string {
	GinkgoHelper()
	var list corev1.ServiceList
	Expect(shared.Client.List(s.ctx, &list, client.InNamespace(s.namespace), client.HasLabels{dsv1.RevisionLabelKey})).To(Succeed())
	var names []string
	for _, service := range list.Items {
		names = append(names, service.Name)
	}
	slices.Sort(names)
	return names
}

// expectOnly expects that exactly one LeaderWorkerSet and one Service is left for
// every role of the current revision.
func (s *scenario) expectOnly(slice int, roles ...string) {
	GinkgoHelper()
	var sets, services []string
	for _, role := range roles {
		name := fmt.Sprintf("%s-%d-%s-%s", set, slice, s.now().Status.CurrentRevision, role)
		sets, services = append(sets, name), append(services, name+"-prv")
	}
	slices.Sort(sets)
	slices.Sort(services)
	Expect(slices.Sorted(maps.Keys(s.children()))).To(Equal(sets))
	Expect(s.services()).To(Equal(services))
}

// uids are those of all pods of the set, by name.
func (s *scenario) uids() map[string]types.UID {
	GinkgoHelper()
	var list corev1.PodList
	Expect(shared.Client.List(s.ctx, &list, client.InNamespace(s.namespace), client.MatchingLabels{dsv1.SetNameLabelKey: set})).To(Succeed())
	found := map[string]types.UID{}
	for _, pod := range list.Items {
		found[pod.Name] = pod.UID
	}
	return found
}

func isTrue(found *dsv1.DisaggregatedSet, conditionType string) bool {
	return meta.IsStatusConditionTrue(found.Status.Conditions, conditionType)
}

func condition(found *dsv1.DisaggregatedSet, conditionType string) metav1.Condition {
	if c := meta.FindStatusCondition(found.Status.Conditions, conditionType); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func statusLine(found *dsv1.DisaggregatedSet) string {
	status := found.Status
	return fmt.Sprintf("generation %d of %d observed, %s, revision %s; %s",
		status.ObservedGeneration, found.Generation, status.Summary, status.CurrentRevision, harness.ConditionsLine(status.Conditions))
}
