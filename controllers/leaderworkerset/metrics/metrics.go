package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// Metrics are the metrics of all sets.
type Metrics struct {
	mu     sync.Mutex
	series series
	known  map[types.NamespacedName]*recollection
	tell   func(Span)
}

// New returns metrics of no set yet.
func New() *Metrics {
	return &Metrics{series: newSeries(), known: map[types.NamespacedName]*recollection{}, tell: func(Span) {}}
}

// Register shows the metrics to those who ask a registry.
func (m *Metrics) Register(registry prometheus.Registerer) error {
	for _, collector := range m.series.collectors() {
		if err := registry.Register(collector); err != nil {
			return err
		}
	}
	return nil
}

// Appear makes a set known. A predecessor of its name is forgotten.
func (m *Metrics) Appear(set types.NamespacedName, uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if before := m.known[set]; before != nil && before.uid == uid {
		return
	}
	m.series.forget(labelsOf(set))
	m.known[set] = newRecollection(uid)
}

// Forget removes the series of a set that is gone.
func (m *Metrics) Forget(set types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.series.forget(labelsOf(set))
	delete(m.known, set)
}

// Recreated counts the recreation of a group.
func (m *Metrics) Recreated(set types.NamespacedName, reason string) {
	m.record(set, func(of prometheus.Labels) {
		of[reasonLabel] = reason
		m.series.recreation.With(of).Inc()
	})
}

// Deferred counts a recreation that has to wait for its backoff.
func (m *Metrics) Deferred(set types.NamespacedName) {
	m.record(set, func(of prometheus.Labels) { m.series.deferral.With(of).Inc() })
}

// Admitted measures the admission of a pod.
func (m *Metrics) Admitted(set types.NamespacedName, took time.Duration) {
	m.record(set, func(of prometheus.Labels) { m.series.admission.With(of).Observe(took.Seconds()) })
}

// Observe measures a set as one of its reconciles saw it.
func (m *Metrics) Observe(set types.NamespacedName, sample Sample) {
	m.record(set, func(of prometheus.Labels) {
		for _, span := range m.known[set].observe(&m.series, of, &sample) {
			span.Set = set
			m.tell(span)
		}
	})
}

// record records something of a known set.
func (m *Metrics) record(set types.NamespacedName, what func(prometheus.Labels)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known[set] != nil {
		what(labelsOf(set))
	}
}

func labelsOf(set types.NamespacedName) prometheus.Labels {
	return prometheus.Labels{namespaceLabel: set.Namespace, nameLabel: set.Name}
}
