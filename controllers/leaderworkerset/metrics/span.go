package metrics

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Names of spans, each the only one of its trace.
const (
	GroupStart = "group start"
	Rollout    = "rollout"
)

// Span is something of a set that took a time and is over.
type Span struct {
	Name  string
	Set   types.NamespacedName
	Began time.Time
	Ended time.Time
	// Leader is that of the group that started.
	Leader types.UID
	// Steps are those of the rollout, as far as they were seen.
	Steps []Step
}

// Step is a step of a rollout.
type Step struct {
	At   time.Time
	What string
}

// Trace tells somebody of every span from now on. It is called while metrics are
// recorded, so it must not wait.
func (m *Metrics) Trace(tell func(Span)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tell = tell
}
