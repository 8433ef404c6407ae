//go:build integration

package disaggregatedset

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
)

// invariants fails as soon as anybody could see a budget broken or a revision that
// is ready without one of its roles.
type invariants struct {
	floor, ceiling map[string]int32
	lowest         map[string]int32
	highest        map[string]int32
}

func watchInvariants(w *world, floor, ceiling map[string]int32) *invariants {
	i := &invariants{floor: floor, ceiling: ceiling, lowest: map[string]int32{}, highest: map[string]int32{}}
	w.watch = i.check
	return i
}

func (i *invariants) check(w *world) {
	GinkgoHelper()
	i.checkBudgets(w)
	w.expectNoOrphans()
}

func (i *invariants) checkBudgets(w *world) {
	GinkgoHelper()
	ready, replicas := map[string]int32{}, map[string]int32{}
	for _, set := range w.sets() {
		key, _ := identity.KeyOf(set.Labels)
		role := fmt.Sprintf("%d/%s", key.Slice, key.Role)
		ready[role] += min(set.Status.ReadyReplicas, *set.Spec.Replicas)
		replicas[role] += *set.Spec.Replicas
	}
	for role, floor := range i.floor {
		Expect(ready[role]).To(BeNumerically(">=", floor), "ready replicas of %s: %s", role, w.describe())
		if lowest, ok := i.lowest[role]; !ok || ready[role] < lowest {
			i.lowest[role] = ready[role]
		}
	}
	for role, ceiling := range i.ceiling {
		Expect(replicas[role]).To(BeNumerically("<=", ceiling), "replicas of %s: %s", role, w.describe())
		i.highest[role] = max(i.highest[role], replicas[role])
	}
}

// expectNoOrphans looks at whole reconciles: no revision has one role without the
// others.
func (w *world) expectNoOrphans() {
	GinkgoHelper()
	some, lacks := map[string]bool{}, map[string]bool{}
	for _, set := range w.sets() {
		key, _ := identity.KeyOf(set.Labels)
		revision := fmt.Sprintf("%d/%s sliceless %v", key.Slice, key.Revision, key.Sliceless)
		if *set.Spec.Replicas > 0 {
			some[revision] = true
		} else {
			lacks[revision] = true
		}
	}
	for revision := range some {
		Expect(lacks[revision]).To(BeFalse(), "revision %s lacks a role: %s", revision, w.describe())
	}
}
