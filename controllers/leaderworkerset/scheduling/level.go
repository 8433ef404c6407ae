package scheduling

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Level is what is scheduled together.
type Level string

const (
	// LevelSet is all pods of a set.
	LevelSet Level = "lws"
	// LevelReplica is the pods of a group.
	LevelReplica Level = "replica"
	// LevelRole is the leader of a group, and its workers.
	LevelRole Level = "role"
)

// Roles of the pods of a group, also the names of their templates.
const (
	roleLeader = "leader"
	roleWorker = "worker"
)

// levelsOf are the levels that are active, from the outermost. A level is active
// when something is set there; when nothing is, it is the replica level.
func levelsOf(s *lwsv1.LeaderWorkerSetScheduling) levels {
	var active levels
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

// levels are active levels, from the outermost. Pods are in PodGroups of the last;
// those before are groups of groups.
type levels []Level

// separator is between levels in the annotation of pods.
const separator = "."

// String is how pods carry levels.
func (l levels) String() string {
	texts := make([]string, len(l))
	for i, level := range l {
		texts[i] = string(level)
	}
	return strings.Join(texts, separator)
}

// levelsOfMember reads the levels that a pod, or a template of pods, was admitted
// with; none without scheduling objects.
func levelsOfMember(member metav1.Object) levels {
	text := member.GetAnnotations()[lwsv1.SchedulingLevelAnnotationKey]
	if text == "" {
		return nil
	}
	var found levels
	for part := range strings.SplitSeq(text, separator) {
		found = append(found, Level(part))
	}
	return found
}

// ofPods is the level of the PodGroups that pods are in.
func (l levels) ofPods() Level {
	if len(l) == 0 {
		return ""
	}
	return l[len(l)-1]
}

// groups says whether a level is one of groups of groups.
func (l levels) groups(level Level) bool {
	return slices.Contains(l, level) && l.ofPods() != level
}
