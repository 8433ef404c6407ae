package disaggregatedset

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
)

// Span is a rollout that is over. One that a manager did not see begin has none.
type Span struct {
	Set      types.NamespacedName
	Revision string
	Began    time.Time
	Ended    time.Time
	Steps    []Step
}

// Step is what a rollout did at a time.
type Step struct {
	At   time.Time
	What string
}

// traceSteps takes note of what was done while a rollout goes on.
func (r *Reconciler) traceSteps(seen *observation, out *outcome) {
	rollout := r.memory.of(client.ObjectKeyFromObject(seen.Set), seen.Set.UID).rollout
	if rollout == nil {
		return
	}
	for _, n := range out.Told {
		rollout.Steps = append(rollout.Steps, Step{seen.Now, n.Note})
	}
}

// traceRollout follows the rollout of a set by what is told of it.
func (r *Reconciler) traceRollout(seen *observation, status *dsv1.DisaggregatedSetStatus, told []notice) {
	key := client.ObjectKeyFromObject(seen.Set)
	remembered := r.memory.of(key, seen.Set.UID)
	if tells(told, dsv1.ReasonRollingUpdateStarted) {
		remembered.rollout = &Span{Set: key, Revision: status.CurrentRevision, Began: seen.Now}
	}
	if remembered.rollout == nil || !tells(told, dsv1.ReasonRollingUpdateCompleted) {
		return
	}
	remembered.rollout.Ended = seen.Now
	r.trace(*remembered.rollout)
	remembered.rollout = nil
}

func tells(told []notice, reason string) bool {
	return slices.ContainsFunc(told, func(n notice) bool { return n.Reason == reason })
}
