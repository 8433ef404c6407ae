package scheduling

import (
	"slices"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Level is what is scheduled together.
type Level string

const (
	// LevelSet: all pods of a set.
	LevelSet Level = "lws"
	// LevelReplica: the pods of a group.
	LevelReplica Level = "replica"
	// LevelRole: the leader of a group, and its workers.
	LevelRole Level = "role"
)

// Roles of the pods of a group, also the names of their templates.
const (
	roleLeader = "leader"
	roleWorker = "worker"
)

// levelsOf are the levels that are active, from the outermost. A level is active
// when something is set there; when nothing is, it is the replica level.
func levelsOf(s *lwsv1.LeaderWorkerSetScheduling) []Level {
	var active []Level
	if s.SchedulingPolicy != nil || s.SchedulingConstraints != nil || s.DisruptionMode != nil {
		active = append(active, LevelSet)
	}
	replica := s.Replica
	if replica == nil {
		replica = &lwsv1.LeaderWorkerSetReplicaScheduling{}
	}
	if replica.SchedulingPolicy != nil || replica.SchedulingConstraints != nil || replica.DisruptionMode != nil {
		active = append(active, LevelReplica)
	}
	if replica.Leader != nil || replica.Worker != nil {
		active = append(active, LevelRole)
	}
	if len(active) == 0 {
		active = append(active, LevelReplica)
	}
	return active
}

// podLevel is the level of the PodGroups that the pods of a set are in: the
// innermost.
func podLevel(set *lwsv1.LeaderWorkerSet) Level {
	levels := levelsOf(set.Spec.Scheduling)
	return levels[len(levels)-1]
}

func hasLevel(set *lwsv1.LeaderWorkerSet, level Level) bool {
	return slices.Contains(levelsOf(set.Spec.Scheduling), level)
}
