package leaderworkerset

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// tally is a set in numbers of groups. Desired groups are those with an index
// below Desired; what is above is surge, or on its way out.
type tally struct {
	Desired          int32
	Existing         int32
	Ready            int32
	Updated          int32
	Unschedulable    int32
	Exhausted        int32
	ExhaustedLeader  string // leader of one exhausted group, the lowest
	Settled          int32  // desired, ready and, at or above the partition, updated
	Outdated         int32  // desired, at or above the partition, of an older revision
	DesiredExhausted int32
	// Unfinished: no group of an older revision is left, but those that replace the last
	// of them are not ready. Only with Hash identity, whose groups have no place to be
	// missing from.
	Unfinished bool
}

// isUpdating: the rollout of the update revision is not over.
func (t *tally) isUpdating() bool {
	return t.Outdated > 0 || t.Unfinished
}

// tallyOf counts the groups of a set. They are in the order of their indices.
func tallyOf(desired, partition int32, updateRevision string, groups []groupState) tally {
	t := tally{Desired: desired}
	for _, g := range groups {
		updated := g.Revision == updateRevision
		t.Existing++
		t.Ready += count(g.Ready)
		t.Updated += count(updated)
		t.Unschedulable += count(g.Unschedulable)
		t.Exhausted += count(g.Exhausted)
		if g.Exhausted && t.ExhaustedLeader == "" {
			t.ExhaustedLeader = g.Leader.Name
		}
		if g.Index >= desired {
			continue
		}
		toUpdate := g.Index >= partition
		t.Settled += count(g.Ready && (updated || !toUpdate))
		t.Outdated += count(toUpdate && !updated)
		t.DesiredExhausted += count(g.Exhausted)
	}
	return t
}

func count(is bool) int32 {
	if is {
		return 1
	}
	return 0
}

// statusInput is all that a status is computed from.
type statusInput struct {
	Generation      int64
	Tally           tally
	Worst           *obstacle
	CurrentRevision string
	UpdateRevision  string
	GroupRestarts   int32
	PodSelector     string
	Scheduling      *metav1.Condition // nil for a set without scheduling objects
	Now             metav1.Time
}

// computeStatus returns the status that follows stored. It shares nothing with it.
func computeStatus(stored *lwsv1.LeaderWorkerSetStatus, in statusInput) *lwsv1.LeaderWorkerSetStatus {
	status := stored.DeepCopy()
	status.ObservedGeneration = in.Generation
	status.Replicas = in.Tally.Existing
	status.ReadyReplicas = in.Tally.Ready
	status.UpdatedReplicas = in.Tally.Updated
	status.UnschedulableReplicas = in.Tally.Unschedulable
	status.GroupRestarts = in.GroupRestarts
	status.HPAPodSelector = in.PodSelector
	status.CurrentRevision = in.CurrentRevision
	status.UpdateRevision = in.UpdateRevision
	setConditions(&status.Conditions, in.Tally, in.Worst, in.Generation, in.Now)
	if in.Scheduling != nil {
		setCondition(&status.Conditions, *in.Scheduling, in.Generation, in.Now)
	} else {
		meta.RemoveStatusCondition(&status.Conditions, lwsv1.ConditionWorkloadSchedulingCreated)
	}
	status.Summary = summaryOf(status.Conditions)
	return status
}

// currentRevisionOf is the revision that a group below the partition has, or
// gets when it is made again. It follows the update revision only when a
// rollout is complete: no desired group is missing or of another revision.
func currentRevisionOf(stored, updateRevision string, desired int32, groups []groupState) string {
	updated := int32(0)
	for _, g := range groups {
		if g.Index < desired && g.Revision == updateRevision {
			updated++
		}
	}
	if updated == desired || stored == "" && len(groups) == 0 {
		return updateRevision
	}
	if stored != "" {
		return stored
	}
	// A set that an earlier release managed: the rollout began from the revision
	// that is furthest from done, and that is the one of the lowest group.
	lowest := slices.MinFunc(groups, func(a, b groupState) int { return int(a.Index) - int(b.Index) })
	return lowest.Revision
}

// statusWrite says when a computed status is to be stored.
type statusWrite int

const (
	statusEqual statusWrite = iota
	statusNow
	statusLater // only counters or texts moved: may wait for others
)

// urgencyOf compares a computed status with the stored one.
func urgencyOf(stored, computed *lwsv1.LeaderWorkerSetStatus) statusWrite {
	if equality.Semantic.DeepEqual(stored, computed) {
		return statusEqual
	}
	if stored.ObservedGeneration != computed.ObservedGeneration ||
		stored.CurrentRevision != computed.CurrentRevision ||
		stored.UpdateRevision != computed.UpdateRevision {
		return statusNow
	}
	for _, c := range computed.Conditions {
		old := meta.FindStatusCondition(stored.Conditions, c.Type)
		if old == nil || old.Status != c.Status || old.Reason != c.Reason || old.ObservedGeneration != c.ObservedGeneration {
			return statusNow
		}
	}
	return statusLater
}

// statusInterval is the least time between two writes of counters: more groups
// change more often, and their readers have more to look at. 8 groups: 0.2 s, 100
// groups: 2 s. What waits for the groups of a small set, as the next step of a
// DisaggregatedSet does, does not wait much longer for the counters.
func statusInterval(desired int32) time.Duration {
	const (
		shortest = 200 * time.Millisecond
		longest  = 5 * time.Second
		perGroup = 20 * time.Millisecond
	)
	return max(shortest, min(time.Duration(desired)*perGroup, longest))
}
