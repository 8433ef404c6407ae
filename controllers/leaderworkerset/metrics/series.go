package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Labels of all series, and those that tell the series of a set apart.
const (
	namespaceLabel = "namespace"
	nameLabel      = "name"
	stateLabel     = "state"
	reasonLabel    = "reason"
)

// State is what a group counts as. Each group has one.
type State string

// The states of groups. Of several that fit the first counts.
const (
	Exhausted     State = "exhausted"
	Terminating   State = "terminating"
	Gated         State = "gated"
	Unschedulable State = "unschedulable"
	Ready         State = "ready"
	Starting      State = "starting"
)

// States are all states.
func States() []State {
	return []State{Exhausted, Terminating, Gated, Unschedulable, Ready, Starting}
}

// series are all that we measure.
type series struct {
	groups     *prometheus.GaugeVec
	timeReady  *prometheus.HistogramVec
	recreation *prometheus.CounterVec
	deferral   *prometheus.CounterVec
	rollout    *prometheus.HistogramVec
	step       *prometheus.CounterVec
	minReady   *prometheus.GaugeVec
	admission  *prometheus.HistogramVec
}

func newSeries() series {
	set := []string{namespaceLabel, nameLabel}
	return series{
		groups: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "lws_groups",
			Help: "Groups of a set that exist, by their state.",
		}, append(set, stateLabel)),
		timeReady: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "lws_group_time_to_ready_seconds",
			Help:    "From the creation of a group's leader until the group was ready for the first time.",
			Buckets: []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600},
		}, set),
		recreation: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lws_group_recreations_total",
			Help: "Groups that were recreated, by what failed.",
		}, append(set, reasonLabel)),
		deferral: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lws_group_backoff_deferrals_total",
			Help: "Recreations that had to wait for their backoff.",
		}, set),
		rollout: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "lws_rollout_duration_seconds",
			Help:    "From the beginning of a rollout until no group was outdated any more.",
			Buckets: []float64{10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400},
		}, set),
		step: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lws_rollout_steps_total",
			Help: "Steps of rollouts: groups were replaced, or the leader StatefulSet was changed.",
		}, set),
		minReady: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "lws_rollout_min_ready_fraction",
			Help: "The fewest ready groups seen in the current or last rollout, divided by the replicas.",
		}, set),
		admission: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "lws_pod_admission_duration_seconds",
			Help:    "How long the admission of a pod of a set took in the webhook.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, set),
	}
}

func (s *series) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		s.groups, s.timeReady, s.recreation, s.deferral, s.rollout, s.step, s.minReady, s.admission,
	}
}

// forget removes what is measured of a set.
func (s *series) forget(of prometheus.Labels) {
	for _, vector := range []interface {
		DeletePartialMatch(prometheus.Labels) int
	}{s.groups, s.timeReady, s.recreation, s.deferral, s.rollout, s.step, s.minReady, s.admission} {
		vector.DeletePartialMatch(of)
	}
}
