package disaggregatedset

import (
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"sigs.k8s.io/lws/controllers/disaggregatedset/rollout"
)

// Labels of metrics. None is of a group or pod: series are as many as roles.
const (
	namespaceLabel = "namespace"
	nameLabel      = "name"
	roleLabel      = "role"
	sliceLabel     = "slice"
	ageLabel       = "revision_age"
	reasonLabel    = "reason"
)

// Values of ageLabel.
const (
	currentAge = "current"
	oldAge     = "old"
)

var (
	replicasGauge = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "disaggregatedset_replicas",
		Help: "Replicas of a role in a slice, of the current and of old revisions.",
	}, []string{namespaceLabel, nameLabel, roleLabel, sliceLabel, ageLabel})

	readyGauge = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "disaggregatedset_ready_fraction",
		Help: "Ready replicas of a role in a slice, of all revisions, divided by its target.",
	}, []string{namespaceLabel, nameLabel, roleLabel, sliceLabel})

	waitsCounter = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "disaggregatedset_plan_waits_total",
		Help: "Plans of a slice that found nothing to move, by the reason why.",
	}, []string{namespaceLabel, nameLabel, reasonLabel})
)

// RegisterMetrics adds the metrics of sets to those of the manager.
func RegisterMetrics() error {
	for _, collector := range []prometheus.Collector{replicasGauge, readyGauge, waitsCounter} {
		if err := metrics.Registry.Register(collector); err != nil {
			return err
		}
	}
	return nil
}

// measure replaces the series of a set, so that those of slices and roles that are
// gone go.
func measure(seen *observation, plans []*slicePlan) {
	of := setLabels(types.NamespacedName{Namespace: seen.Set.Namespace, Name: seen.Set.Name})
	replicasGauge.DeletePartialMatch(of)
	readyGauge.DeletePartialMatch(of)
	for i, s := range seen.Slices {
		for _, r := range seen.Roles {
			s.measure(of, r, i)
		}
	}
	for _, p := range plans {
		if p.Rollout.Verdict == rollout.Wait {
			waitsCounter.With(with(of, reasonLabel, string(p.Rollout.Reason))).Inc()
		}
	}
}

func (s *slice) measure(of prometheus.Labels, r *role, index int) {
	old, ready := 0, 0
	for _, g := range append(slices.Clone(s.Old), s.Current) {
		m := g.Members[r.Name]
		if m == nil {
			continue
		}
		ready += m.Ready
		if g != s.Current {
			old += m.Replicas
		}
	}
	of = with(of, roleLabel, r.Name, sliceLabel, strconv.Itoa(s.Index))
	if m := s.Current.Members[r.Name]; m != nil {
		replicasGauge.With(with(of, ageLabel, currentAge)).Set(float64(m.Replicas))
	}
	if old > 0 {
		replicasGauge.With(with(of, ageLabel, oldAge)).Set(float64(old))
	}
	if target := r.Targets[index]; target > 0 {
		readyGauge.With(of).Set(float64(ready) / float64(target))
	}
}

// forgetMetrics removes the series of a set that is gone.
func forgetMetrics(set types.NamespacedName) {
	of := setLabels(set)
	replicasGauge.DeletePartialMatch(of)
	readyGauge.DeletePartialMatch(of)
	waitsCounter.DeletePartialMatch(of)
}

func setLabels(set types.NamespacedName) prometheus.Labels {
	return prometheus.Labels{namespaceLabel: set.Namespace, nameLabel: set.Name}
}

// with adds labels, given as name and value in turn.
func with(labels prometheus.Labels, pairs ...string) prometheus.Labels {
	all := prometheus.Labels{}
	for name, value := range labels {
		all[name] = value
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}
