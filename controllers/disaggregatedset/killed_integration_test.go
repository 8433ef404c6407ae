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

// death ends a manager before one of its writes, which is after the one before it.
// Nothing that the manager does afterwards counts.
type death struct {
	at     int
	writes int
	is     bool
}

var errDied = errors.New("the manager died")

// befall counts the writes, and refuses that at which the manager dies and all that
// follow.
func (d *death) befall(c *counting) {
	c.refuse = func(string) error {
		if d.is = d.is || d.writes == d.at; d.is {
			return errDied
		}
		d.writes++
		return nil
	}
}

// loseAnswers lets every write be done and its answer be lost; the manager lives.
func loseAnswers(c *counting) {
	c.cut = func(string) error { return errors.New("the answer is lost") }
}

// course is what users do to a set, each when it has settled after the one before,
// and the budgets that hold meanwhile.
type course struct {
	build          func() *dstest.Builder
	changes        []func(*dsv1.DisaggregatedSetSpec)
	floor, ceiling map[string]int32
}

// run goes through a course with a manager that has bad luck.
func (c course) run(ctx SpecContext, befall func(*counting), d *death) *world {
	GinkgoHelper()
	w := newWorld(ctx, c.build())
	befall(w.counting)
	w.settleThrough(d)
	budgets := watchInvariants(w, c.floor, c.ceiling)
	w.watch = func(w *world) {
		budgets.checkBudgets(w)
		// The next manager makes whole what this one left.
		if !d.is {
			w.expectNoOrphans()
		}
	}
	for _, change := range c.changes {
		w.change(change)
		w.settleThrough(d)
	}
	return w
}

// settleThrough settles, and replaces a manager that died.
func (w *world) settleThrough(d *death) {
	GinkgoHelper()
	for range 200 {
		result, err := w.reconcile()
		if d.is {
			d.is, d.at = false, none
			w.restart()
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

// none is no write.
const none = -1

var _ = DescribeTable("A manager that dies before or after any of its writes comes to the same end",
	func(ctx SpecContext, c course) {
		calm := &death{at: none}
		want := c.run(ctx, calm.befall, calm).end()
		Expect(calm.writes).To(BeNumerically(">", 5))
		for at := range calm.writes {
			By(fmt.Sprintf("dying before write %d of %d", at, calm.writes))
			d := &death{at: at}
			w := c.run(ctx, d.befall, d)
			Expect(d.at).To(Equal(none), "it died")
			Expect(w.end()).To(Equal(want), "died before write %d", at)
		}
		AddReportEntry("writes", calm.writes, ReportEntryVisibilityAlways)

		By("losing the answers to all writes")
		Expect(c.run(ctx, loseAnswers, &death{at: none}).end()).To(Equal(want))
	},
	Entry("when it rolls out", course{
		build:   func() *dstest.Builder { return pair(2, 1) },
		changes: []func(*dsv1.DisaggregatedSetSpec){image("server:2")},
		floor:   map[string]int32{"0/prefill": 2, "0/decode": 1},
		ceiling: map[string]int32{"0/prefill": 3, "0/decode": 2},
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
