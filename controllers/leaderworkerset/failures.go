package leaderworkerset

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// shortages are StatefulSets and ReplicaSets that have fewer pods than they should, with
// the time from which on a failure to make one counts: a pod that was made later shows
// that the failure is over.
type shortages map[types.UID]time.Time

func shortOfPods(m members) shortages {
	short := shortages{}
	owner, replicas := m.ownerOfLeaders()
	if owner == nil {
		return short
	}
	leaders, newest := int32(0), owner.GetCreationTimestamp().Time
	for _, leader := range m.leaders {
		if !m.hasMade(leader) {
			continue
		}
		leaders++
		if made := leader.CreationTimestamp.Time; made.After(newest) {
			newest = made
		}
	}
	if replicas != nil && leaders < *replicas {
		for maker := range m.makers() {
			short[maker] = newest
		}
	}
	for _, worker := range ownWorkers(m) {
		if replicas := worker.Spec.Replicas; replicas != nil && worker.Status.Replicas < *replicas {
			short[worker.UID] = worker.CreationTimestamp.Time
		}
	}
	return short
}

// hasMade says whether a leader is there for what makes leaders. A ReplicaSet makes the
// replacement of a pod that is still going.
func (m members) hasMade(leader *corev1.Pod) bool {
	return m.makes(leader) && (m.deployment == nil || !isGoing(leader))
}

// latestFailure is the text of the newest event that counts, empty when none does.
func latestFailure(failures []*corev1.Event, short shortages) string {
	var latest *corev1.Event
	for _, failure := range failures {
		since, ok := short[failure.InvolvedObject.UID]
		if !ok || lastSeen(failure).Before(since) {
			continue
		}
		if latest == nil || lastSeen(failure).After(lastSeen(latest)) {
			latest = failure
		}
	}
	if latest == nil {
		return ""
	}
	return latest.Message
}

// lastSeen is when an event happened last, whichever of the two event interfaces
// it was sent through.
func lastSeen(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil && !e.Series.LastObservedTime.IsZero():
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	default:
		return e.EventTime.Time
	}
}
