package group

// workersOfEnding decides about the workers of a leader that is being deleted.
//
// A leader deleted in the foreground, as a recreation is, takes its workers along:
// garbage collection ends them at once. Otherwise the termination policy says
// whether they end with the leader, or after it, again by garbage collection. What
// belongs to the set, as with restart policy None, outlives a lost leader, and ends
// only when its group is scaled away or replaced by another revision; with
// Sequential that is seen when the leader is gone.
func workersOfEnding(in workersInput) workersVerdict {
	if in.Workers == nil || in.Workers.Deleting || !in.Parallel {
		return workersVerdict{Action: workersKeep}
	}
	switch in.belonging() {
	case ofLeader:
		if !in.Leader.Foreground {
			return workersVerdict{workersDelete, "workers end with their leader"}
		}
	case ofSet:
		if !in.Desired || in.Outdated {
			return workersVerdict{workersDelete, "the group ends"}
		}
	case ofNobody, ofPredecessor, ofSomebody:
	}
	return workersVerdict{Action: workersKeep}
}
