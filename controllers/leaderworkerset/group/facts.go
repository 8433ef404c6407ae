package group

import (
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// The questions of this file are answered from an observation alone.

// isSetGone: there is no set, or it is being deleted. Nothing is made for it.
func (o *observation) isSetGone() bool {
	return o.Set == nil || o.Set.Deleting
}

// entry is what recreations of the leader's group are counted by.
func (o *observation) entry() Entry {
	return Entry{Revision: o.Leader.Revision, Index: o.Group.Index}
}

// countOf is how often the leader's group was recreated. What was counted of the group
// that it replaces, and has not moved yet, counts as its own.
func (o *observation) countOf(counts *Counts) (Count, bool) {
	count, found := counts.counts[o.entry()]
	if o.Leader.Replaces == "" {
		return count, found
	}
	theirs, more := counts.counts[Entry{Revision: o.Leader.Revision, Index: o.Leader.Replaces}]
	count.Restarts += theirs.Restarts
	return count, found || more
}

// isNone: a failure is left to Kubernetes.
func (o *observation) isNone() bool {
	return o.Set != nil && o.Set.Policy == lwsv1.NoneRestartPolicy
}

// stays: workers outlive their leader and belong to the set. With Hash identity a group
// is its leader: the next one has another name.
func (o *observation) stays() bool {
	return o.isNone() && !o.Group.HasKey()
}

// isMarked: the leader is to carry that the policy is None, since the owner of its
// workers does not tell.
func (o *observation) isMarked() bool {
	return o.isNone() && (o.Group.HasKey() || o.Leader.Size < 2)
}

// isKeyedAtGate: the group has a key, and a leader that is held by its gate and may be
// admitted.
func (o *observation) isKeyedAtGate() bool {
	return o.Group.HasKey() && !o.isSetGone() && o.Leader != nil &&
		o.Leader.Gated && o.Leader.Controlled && !o.Leader.Deleting
}

// isControlled: the leader's controller is the leader StatefulSet, or a ReplicaSet of
// the leader Deployment, and that one's is the set.
func (o *observation) isControlled() bool {
	if o.Leaders == nil || o.Set == nil || o.Leaders.Owner.UID != o.Set.UID {
		return false
	}
	maker := o.Leaders.UID
	if o.Group.HasKey() {
		maker = o.Leaders.ReplicaSet
	}
	return maker != "" && o.Leader.Controller.UID == maker
}

// isDesired: the set wants a group of this index, surge included. While its leader
// StatefulSet is missing nobody can say that it does not. A group with a key is wanted
// as long as it has a leader, and an exhausted one as long as its place is to be filled.
func (o *observation) isDesired() bool {
	if o.Group.HasKey() {
		return o.Leader != nil && (!o.Leader.Exhausted || !o.Leader.Deleting || o.Expected)
	}
	ordinal, ok := o.Group.Ordinal()
	return o.Leaders == nil || ok && ordinal < o.Leaders.Replicas
}

// isRevisionWanted: at or above the set's partition a leader has to be of the update
// revision, below it of what the StatefulSet controller calls current and leaves
// alone: no plan is needed to know. A gated leader of any other revision will be
// replaced. A Deployment makes no leader that it does not
// want.
func (o *observation) isRevisionWanted() bool {
	if o.Group.HasKey() {
		return true
	}
	ordinal, ok := o.Group.Ordinal()
	if ok && o.Leaders != nil && ordinal < o.Set.Partition {
		isSpared := o.Leader.Revision == o.Leaders.UpdateRevision || ordinal < o.Leaders.Spares
		return o.Leader.PodRevision == o.Leaders.CurrentRevision && isSpared
	}
	return !o.isOutdated()
}

// isOutdated: a rollout replaces the group.
func (o *observation) isOutdated() bool {
	if o.Group.HasKey() {
		return o.Leaders != nil && o.Leaders.UpdateRevision != "" && o.Leader.Revision != o.Leaders.UpdateRevision
	}
	ordinal, ok := o.Group.Ordinal()
	return ok && o.Leaders != nil && o.Leaders.UpdateRevision != "" &&
		ordinal >= o.Set.Partition && o.Leader.Revision != o.Leaders.UpdateRevision
}

// workersInput is what decisions about the worker StatefulSet are made from.
func (o *observation) workersInput() workersInput {
	in := workersInput{
		Leader:      o.Leader,
		Workers:     o.Workers,
		Desired:     o.isDesired(),
		Stay:        o.stays(),
		NeedsDomain: o.Topology != "",
		Parallel:    o.Leader != nil && o.Leader.Parallel,
	}
	if o.Leader != nil {
		in.LeaderAge = o.Now.Sub(o.Leader.Created)
	}
	if o.Set == nil {
		return in
	}
	in.Set = o.Set.UID
	in.OnReady = o.Set.OnReady
	in.Parallel = o.Set.Parallel
	in.Outdated = o.Leader != nil && o.isOutdated()
	in.Desired = in.Desired && !o.Set.Deleting
	return in
}

// memoryNow is the memory that failures are judged by. With RecreateGroupAfterStart a
// group that is whole for the first time starts from what it is now.
func (o *observation) memoryNow() *memory {
	if o.Leader.Memory.wasWhole() || o.Set.Policy != lwsv1.RecreateGroupAfterStart || !o.Living.isWhole() {
		return o.Leader.Memory
	}
	return remember(&o.Living)
}

// isTakenOver: the policy was None until now. What exists is the baseline: nothing
// that happened before is a failure. The StatefulSet of the workers still belongs to
// the set, or the last reconcile saw the policy, or, to a manager that just started,
// the leader carries it.
func (o *observation) isTakenOver() bool {
	if o.isNone() {
		return false
	}
	in := o.workersInput()
	return o.Noted.policy == lwsv1.NoneRestartPolicy || o.Noted.policy == "" && o.Leader.MarkedNone ||
		in.Workers != nil && in.belonging() == ofSet
}
