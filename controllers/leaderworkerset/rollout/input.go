package rollout

// Leader is what became of a group's leader pod.
type Leader string

const (
	// Live leaders were admitted and are not being deleted.
	Live Leader = "live"
	// Gated leaders wait for admission: no node, no workers.
	Gated Leader = "gated"
	// Terminating leaders are being deleted.
	Terminating Leader = "terminating"
	// Retained leaders are being deleted and kept by the finalizer of a group
	// whose restart budget is exhausted.
	Retained Leader = "retained"
)

// Group is a group that exists: one whose leader pod exists.
type Group struct {
	// Index is unique among the groups of an Input.
	Index  int
	Leader Leader
	// Ready is readiness of the whole group; ignored unless the leader is live.
	Ready bool
	// Updated groups are of the update revision, Current groups of the revision
	// that the StatefulSet restores below its partition. Both, one or none holds.
	Updated, Current bool
	// Unschedulable groups have a member that the scheduler could not place.
	Unschedulable bool
}

// Spec is the part of the leader StatefulSet that carries a rollout. It is
// written as a whole, together with the template of the update revision.
type Spec struct {
	// Replicas counts the surge groups as well, Surge only them.
	Replicas, Surge int
	// Partition is always written under RollingUpdate; 0 and absent under OnDelete.
	Partition int
	OnDelete  bool
	// Rolling is the memory of a rollout in progress, Baseline belongs to it.
	// Both are stored on the StatefulSet in the same write, and are zero at rest.
	Rolling  bool
	Baseline int
}

// StatefulSet is the leader StatefulSet as it is; the zero value does not exist yet.
type StatefulSet struct {
	Spec
	// Observed: its controller has observed its generation. OldTemplate: its
	// template is not yet that of the update revision.
	Observed, OldTemplate bool
}

// Input is everything that a plan depends on. Budgets are resolved to numbers.
type Input struct {
	Replicas       int
	Partition      int
	MaxUnavailable int
	MaxSurge       int
	// CurrentIsUpdate: the StatefulSet's status.currentRevision is the update
	// revision, or unset.
	CurrentIsUpdate bool
	StatefulSet     StatefulSet
	// Groups in any order. An index that is missing here has no leader pod.
	Groups []Group
}

// Admits says whether the gate of a leader may be lifted as far as its revision
// goes. It reads no other group. Admitted are only leaders that the StatefulSet,
// as written, leaves alone: after an undo those of the old template wait until it
// is written. Updated ones do not wait for it to be observed, because its
// controller reports that only after it has made all pods.
func (in Input) Admits(g Group) bool {
	now := in.StatefulSet
	if g.Updated {
		return !now.OldTemplate && in.wants(g)
	}
	return now.Observed && (now.OnDelete || g.Index < now.Partition) && in.wants(g)
}

// wants says whether a group's revision is the one to have at its index.
func (in Input) wants(g Group) bool {
	switch {
	case g.Index < in.Replicas && g.Index < in.Partition:
		return g.Current
	case g.Index >= in.Replicas+min(in.MaxSurge, in.Replicas):
		return false
	default:
		return g.Updated && g.Index >= in.Partition
	}
}

// stands: the leader stays until somebody deletes it.
func (g Group) stands() bool { return g.live() || g.Leader == Gated }

func (g Group) live() bool { return g.Leader == Live }

func (g Group) ready() bool { return g.live() && g.Ready }
