package metrics

import (
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// Sample is a set as one of its reconciles saw it.
type Sample struct {
	Now     time.Time
	Desired int32
	Ready   int32
	Groups  []Group
	// RollingSince is when the rollout began that goes on; zero if none does.
	RollingSince time.Time
	// Step is what the reconcile did for the rollout, in words that tell it from the
	// step before; empty if it did nothing.
	Step string
}

// Group is a group of a sample.
type Group struct {
	Leader  types.UID
	Created time.Time
	State   State
}

// recollection is what the samples of a set leave for the next one.
type recollection struct {
	uid types.UID
	// waiting has the leaders that exist; true while their group was never ready.
	// What was ready when it was first seen has started in another's time.
	waiting      map[types.UID]bool
	rollingSince time.Time
	minReady     float64
	steps        []Step
}

func newRecollection(uid types.UID) *recollection {
	return &recollection{uid: uid, waiting: map[types.UID]bool{}}
}

// observe measures a sample and returns what is over with it.
func (r *recollection) observe(s *series, of prometheus.Labels, sample *Sample) []Span {
	r.observeStates(s, of, sample)
	spans := r.observeStarts(s, of, sample)
	return append(spans, r.observeRollout(s, of, sample)...)
}

// observeStates sets every state, so that one without groups is 0 and not absent.
func (*recollection) observeStates(s *series, of prometheus.Labels, sample *Sample) {
	counts := map[State]int{}
	for _, g := range sample.Groups {
		counts[g.State]++
	}
	of = maps.Clone(of)
	for _, state := range States() {
		of[stateLabel] = string(state)
		s.groups.With(of).Set(float64(counts[state]))
	}
}

func (r *recollection) observeStarts(s *series, of prometheus.Labels, sample *Sample) []Span {
	var spans []Span
	exists := make(map[types.UID]bool, len(sample.Groups))
	for _, g := range sample.Groups {
		exists[g.Leader] = true
		waited, seen := r.waiting[g.Leader]
		if g.State != Ready {
			r.waiting[g.Leader] = waited || !seen
			continue
		}
		if waited {
			s.timeReady.With(of).Observe(sample.Now.Sub(g.Created).Seconds())
			spans = append(spans, Span{Name: GroupStart, Began: g.Created, Ended: sample.Now, Leader: g.Leader})
		}
		r.waiting[g.Leader] = false
	}
	maps.DeleteFunc(r.waiting, func(leader types.UID, _ bool) bool { return !exists[leader] })
	return spans
}

func (r *recollection) observeRollout(s *series, of prometheus.Labels, sample *Sample) []Span {
	if sample.RollingSince.IsZero() {
		return r.endRollout(s, of, sample.Now)
	}
	if r.rollingSince.IsZero() {
		r.rollingSince, r.minReady = sample.RollingSince, 1
	}
	if sample.Desired > 0 {
		r.minReady = min(r.minReady, float64(sample.Ready)/float64(sample.Desired))
	}
	s.minReady.With(of).Set(r.minReady)
	steps := s.step.With(of)
	if sample.Step != "" && (len(r.steps) == 0 || sample.Step != r.steps[len(r.steps)-1].What) {
		steps.Inc()
		r.steps = append(r.steps, Step{sample.Now, sample.Step})
	}
	return nil
}

// endRollout measures the rollout that is over, if one went on.
func (r *recollection) endRollout(s *series, of prometheus.Labels, now time.Time) []Span {
	if r.rollingSince.IsZero() {
		return nil
	}
	s.rollout.With(of).Observe(now.Sub(r.rollingSince).Seconds())
	over := Span{Name: Rollout, Began: r.rollingSince, Ended: now, Steps: r.steps}
	r.rollingSince, r.steps = time.Time{}, nil
	return []Span{over}
}
