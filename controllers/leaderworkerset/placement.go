package leaderworkerset

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/revision"
)

// kept are the placement annotations that stay in force although the set has
// other ones now. They shape pods and are in no revision, so a change cannot be
// rolled out; the webhook refuses it, but it is not always there.
type kept struct {
	annotations map[string]string // an empty value: there was none
	Text        string            // for the user, empty when nothing is kept
}

// keptPlacement compares the set's placement annotations with those that the
// leaders are made from. An annotation beside a placement policy, in
// the set or in the running revision, shapes nothing and may be anything.
func keptPlacement(set *lwsv1.LeaderWorkerSet, leaders running, revisions []*appsv1.ControllerRevision) kept {
	if leaders.Key == "" || !placementChanged(set, leaders) {
		return kept{}
	}
	stored, found := revision.ByKey(revisions, leaders.Key)
	if !found {
		return kept{}
	}
	spec, err := revision.Restore(stored)
	if err != nil {
		return kept{}
	}
	now, then := placementAnnotations(&set.Spec.LeaderWorkerTemplate), placementAnnotations(&spec.LeaderWorkerTemplate)
	k := kept{annotations: map[string]string{}}
	for _, key := range placementKeys {
		wanted, inForce := set.Annotations[key], leaders.Annotations[key]
		if !now[key] || !then[key] || wanted == inForce {
			continue
		}
		k.annotations[key] = inForce
		k.Text = fmt.Sprintf("The annotation %s cannot change on an existing set: %q is ignored, %q stays in force",
			key, wanted, inForce)
	}
	return k
}

var placementKeys = []string{lwsv1.ExclusiveTopologyAnnotationKey, lwsv1.SubGroupExclusiveTopologyAnnotationKey}

func placementChanged(set *lwsv1.LeaderWorkerSet, leaders running) bool {
	return slices.ContainsFunc(placementKeys, func(key string) bool {
		return set.Annotations[key] != leaders.Annotations[key]
	})
}

// placementAnnotations says which placement annotations shape the pods of a template.
func placementAnnotations(template *lwsv1.LeaderWorkerTemplate) map[string]bool {
	subGroups := template.SubGroupPolicy
	return map[string]bool{
		lwsv1.ExclusiveTopologyAnnotationKey:         template.PlacementPolicy == nil,
		lwsv1.SubGroupExclusiveTopologyAnnotationKey: subGroups != nil && subGroups.PlacementPolicy == nil,
	}
}

// applyTo returns the set as it is to be realised. The set itself is not changed.
func (k kept) applyTo(set *lwsv1.LeaderWorkerSet) *lwsv1.LeaderWorkerSet {
	if len(k.annotations) == 0 {
		return set
	}
	realised := *set
	realised.Annotations = maps.Clone(set.Annotations)
	if realised.Annotations == nil {
		realised.Annotations = map[string]string{}
	}
	for key, value := range k.annotations {
		if value == "" {
			delete(realised.Annotations, key)
			continue
		}
		realised.Annotations[key] = value
	}
	return &realised
}
