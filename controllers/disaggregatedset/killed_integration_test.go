//go:build integration

package disaggregatedset

import (
	"errors"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
)

// death ends lives of a manager before one of their writes, which is after the one
// before it. Nothing that the manager does afterwards counts.
type death struct {
	// at is the write of a life that is not done, once that of the first only.
	at   int
	once bool
	// is says that the manager of now is dead.
	is bool
	// lives and writes are those of all managers together.
	lives, writes int
}

var errDied = errors.New("the manager died")

// befall lets a new life begin.
func (d *death) befall(c *counting) {
	d.is = false
	d.lives++
	inLife := 0
	c.refuse = func(string) error {
		spared := d.at == none || d.once && d.lives > 1
		if d.is = d.is || inLife == d.at && !spared; d.is {
			return errDied
		}
		inLife++
		d.writes++
		return nil
	}
}

// none is no write.
const none = -1

// course is what users do to a set, each when it has settled after the one before,
// and the budgets that hold meanwhile.
type course struct {
	build          func() *dstest.Builder
	changes        []func(*dsv1.DisaggregatedSetSpec)
	floor, ceiling map[string]int32
}

// run goes through a course with a manager that dies. Its invariants hold at every
// moment, but that no revision lacks a role: the next manager makes whole what a dead
// one left.
func (c course) run(ctx SpecContext, d *death) *world {
	GinkgoHelper()
	w := newWorld(ctx, c.build())
	d.befall(w.counting)
	w.settleThrough(d)
	budgets := watchInvariants(w, c.floor, c.ceiling)
	w.watch = func(w *world) {
		budgets.checkBudgets(w)
		if !d.is && d.lives == 1 {
			w.expectNoOrphans()
		}
	}
	for _, change := range c.changes {
		w.change(change)
		w.settleThrough(d)
		w.expectNoOrphans()
	}
	return w
}

// settleThrough settles, and replaces a manager that died.
func (w *world) settleThrough(d *death) {
	GinkgoHelper()
	for range 500 {
		result, err := w.reconcile()
		if d.is {
			w.restart()
			d.befall(w.counting)
			w.becomeReady()
			continue
		}
		if w.counting.cut == nil {
			Expect(err).NotTo(HaveOccurred())
		}
		wrote := len(w.counting.writes) > 0
		if !w.becomeReady() && !wrote && result.RequeueAfter == 0 {
			return
		}
	}
	Fail("the set does not settle: " + w.describe())
}

// end is all that a set came to, without what differs from run to run.
func (w *world) end() []string {
	GinkgoHelper()
	var all []string
	for _, set := range w.sets() {
		budgets := set.Spec.RolloutStrategy.RollingUpdateConfiguration
		all = append(all, fmt.Sprintf("LeaderWorkerSet %s %d %v %v %v/%v %v", set.Name, *set.Spec.Replicas, set.Labels, set.Annotations,
			budgets.MaxSurge, budgets.MaxUnavailable, set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0]))
	}
	var services corev1.ServiceList
	Expect(live.List(w.ctx, &services, client.InNamespace(w.namespace))).To(Succeed())
	for _, s := range services.Items {
		all = append(all, fmt.Sprintf("Service %s %v", s.Name, s.Spec.Selector))
	}
	var scalers dsv1.DisaggregatedSetRoleScalerList
	Expect(live.List(w.ctx, &scalers, client.InNamespace(w.namespace))).To(Succeed())
	for _, s := range scalers.Items {
		all = append(all, fmt.Sprintf("scaler %s %d of %d", s.Name, s.Status.Replicas, *s.Spec.Replicas))
	}
	status := w.reload().Status
	for _, c := range status.Conditions {
		all = append(all, fmt.Sprintf("condition %s %s %s %s", c.Type, c.Status, c.Reason, c.Message))
	}
	slices.Sort(all)
	status.Conditions = nil
	return append(all, fmt.Sprintf("%+v", status))
}

func slicesOf(n int32) func(*dsv1.DisaggregatedSetSpec) {
	return func(spec *dsv1.DisaggregatedSetSpec) { spec.Slices = ptr.To(n) }
}

var _ = DescribeTable("A manager that dies at all of its writes, one in a life, comes to the same end",
	func(ctx SpecContext, c course) {
		calm := &death{at: none}
		want := c.run(ctx, calm).end()
		dying := &death{at: 1}
		Expect(c.run(ctx, dying).end()).To(Equal(want))
		AddReportEntry("writes", fmt.Sprintf("%d undisturbed, %d in %d lives", calm.writes, dying.writes, dying.lives), ReportEntryVisibilityAlways)
		Expect(dying.lives).To(BeNumerically(">", 5))
	},
	Entry("when it rolls out", rollingOut),
	Entry("when it rolls out two slices over a revision that was interrupted", course{
		build: func() *dstest.Builder { return pair(2, 1).Slices(2) },
		changes: []func(*dsv1.DisaggregatedSetSpec){image("server:2"), func(spec *dsv1.DisaggregatedSetSpec) {
			image("server:3")(spec)
			spec.Roles[0].Spec.Replicas = ptr.To(int32(3))
		}},
		floor: map[string]int32{"0/prefill": 2, "0/decode": 1, "1/prefill": 2, "1/decode": 1},
	}),
	Entry("when a role becomes external and static, and slices come and go", course{
		build: func() *dstest.Builder { return pair(1, 1) },
		changes: []func(*dsv1.DisaggregatedSetSpec){
			mode(0, dsv1.ExternalRoleScaling), slicesOf(2), mode(0, dsv1.StaticRoleScaling), slicesOf(1),
		},
		floor: map[string]int32{"0/prefill": 1, "0/decode": 1},
	}),
	Entry("when a role is renamed and another is added", course{
		build: func() *dstest.Builder { return pair(1, 1) },
		changes: []func(*dsv1.DisaggregatedSetSpec){func(spec *dsv1.DisaggregatedSetSpec) {
			spec.Roles = []dsv1.DisaggregatedRoleSpec{
				budgeted("context", 1).Obj(), budgeted("decode", 1).Obj(), budgeted("router", 1).Obj(),
			}
		}},
		floor: map[string]int32{"0/decode": 1},
	}),
)

var rollingOut = course{
	build:   func() *dstest.Builder { return pair(2, 1) },
	changes: []func(*dsv1.DisaggregatedSetSpec){image("server:2")},
	floor:   map[string]int32{"0/prefill": 2, "0/decode": 1},
	ceiling: map[string]int32{"0/prefill": 3, "0/decode": 2},
}

var _ = Describe("A manager", func() {
	It("that dies once, at any of its writes, comes to the same end", func(ctx SpecContext) {
		calm := &death{at: none}
		want := rollingOut.run(ctx, calm).end()
		for at := range calm.writes {
			By(fmt.Sprintf("dying before write %d of %d", at, calm.writes))
			d := &death{at: at, once: true}
			w := rollingOut.run(ctx, d)
			Expect(d.lives).To(Equal(2))
			Expect(w.end()).To(Equal(want), "died before write %d", at)
		}
	})

	It("whose writes are all done and answered with an error comes to the same end", func(ctx SpecContext) {
		want := rollingOut.run(ctx, &death{at: none}).end()
		w := newWorld(ctx, rollingOut.build())
		w.counting.cut = func(string) error { return errors.New("the answer is lost") }
		d := &death{at: none}
		w.settleThrough(d)
		for _, change := range rollingOut.changes {
			w.change(change)
			w.settleThrough(d)
		}
		Expect(w.end()).To(Equal(want))
	})
})
