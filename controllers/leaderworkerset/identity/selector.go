package identity

import (
	"k8s.io/apimachinery/pkg/labels"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// LeaderSelector is the selector of the leader StatefulSet or Deployment.
func LeaderSelector(set string) map[string]string {
	return map[string]string{
		lwsv1.SetNameLabelKey:     set,
		lwsv1.WorkerIndexLabelKey: LeaderIndex,
	}
}

// LeaderSelectorString is LeaderSelector as the scale subresource has it.
func LeaderSelectorString(set string) string {
	return labels.Set(LeaderSelector(set)).String()
}

// LeaderStatefulSetLabels are the labels of the leader StatefulSet or Deployment.
func LeaderStatefulSetLabels(set, revision string) map[string]string {
	return map[string]string{
		lwsv1.SetNameLabelKey:  set,
		lwsv1.RevisionLabelKey: revision,
	}
}

// LeaderTemplateLabels are the labels of the leaders' pod template.
func LeaderTemplateLabels(set, revision string) map[string]string {
	template := LeaderSelector(set)
	template[lwsv1.RevisionLabelKey] = revision
	return template
}

// WorkerSelector is the selector of a worker StatefulSet.
func WorkerSelector(set, index, groupKey string) map[string]string {
	return map[string]string{
		lwsv1.SetNameLabelKey:    set,
		lwsv1.GroupIndexLabelKey: index,
		lwsv1.GroupKeyLabelKey:   groupKey,
	}
}

// WorkerLabels are the labels of a worker StatefulSet and of its pod template.
func WorkerLabels(set, index, groupKey, revision string) map[string]string {
	worker := WorkerSelector(set, index, groupKey)
	worker[lwsv1.RevisionLabelKey] = revision
	return worker
}

// SetLabels are the labels of objects that a set has once, such as its Service,
// and the selector of the shared Service.
func SetLabels(set string) map[string]string {
	return map[string]string{lwsv1.SetNameLabelKey: set}
}

// ServiceSelector is the selector of the group's own Service.
func (g Group) ServiceSelector() map[string]string {
	return map[string]string{
		lwsv1.SetNameLabelKey:    g.Set,
		lwsv1.GroupIndexLabelKey: g.Index,
	}
}

// RevisionLabels are the labels of a ControllerRevision.
func RevisionLabels(set, revision string) map[string]string {
	return LeaderStatefulSetLabels(set, revision)
}
