package harness

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// change is one state of one object, among those of all kinds that together tell
// what a DisaggregatedSet has.
type change struct {
	version uint64
	at      time.Time
	pod     *PodState
	set     *SetState
	service *FurtherState
}

// changes are in the order in which the API server made them, which that of
// different watches is not.
func (h History) changes() []change {
	all := make([]change, 0, len(h.Pods)+len(h.Sets)+len(h.Further))
	for i := range h.Pods {
		all = append(all, change{version: h.Pods[i].Version, at: h.Pods[i].At, pod: &h.Pods[i]})
	}
	for i := range h.Sets {
		all = append(all, change{version: VersionOf(h.Sets[i]), at: h.Sets[i].At, set: &h.Sets[i]})
	}
	for i := range h.Further {
		if _, isService := h.Further[i].Object.(*corev1.Service); isService {
			all = append(all, change{version: VersionOf(h.Further[i]), at: h.Further[i].At, service: &h.Further[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Compare(a.version, b.version) })
	return all
}

// Before tells whether a state of a set is of after the mark.
func (m Mark) Before(state SetState) bool { return VersionOf(state) > m.version }
