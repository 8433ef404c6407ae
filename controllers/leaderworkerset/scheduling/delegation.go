package scheduling

import (
	"context"
	"fmt"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// delegators are the controllers of workloads that may contain sets.
var delegators = map[schema.GroupKind]bool{
	{Group: "disaggregatedset.x-k8s.io", Kind: "DisaggregatedSet"}: true,
}

// parentOf is the UID of the workload that a set leaves its Workload to, false for
// a set that has its own.
func parentOf(set *lwsv1.LeaderWorkerSet) (types.UID, bool) {
	owner := metav1.GetControllerOfNoCopy(set)
	if owner == nil || set.Annotations[lwsv1.SchedulingGroupTemplateNameAnnotationKey] == "" {
		return "", false
	}
	version, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil || !delegators[schema.GroupKind{Group: version.Group, Kind: owner.Kind}] {
		return "", false
	}
	return owner.UID, true
}

// delegationErrors: a template of the parent is one of a PodGroup, so the set has
// PodGroups of one kind.
func delegationErrors(set *lwsv1.LeaderWorkerSet) field.ErrorList {
	if _, delegated := parentOf(set); !delegated {
		return nil
	}
	active := levelsOf(set.Spec.Scheduling)
	if len(active) == 1 && active[0] != LevelRole {
		return nil
	}
	return field.ErrorList{field.Forbidden(pathOf(set.Spec.Scheduling, active.ofPods()), fmt.Sprintf(
		"the annotation %s leaves the Workload to the set's owner, which leaves one level, lws or replica",
		lwsv1.SchedulingGroupTemplateNameAnnotationKey))}
}

// delegatedFactory makes PodGroups under the Workload of the set's owner.
func delegatedFactory(set *lwsv1.LeaderWorkerSet, required []client.Object) (*factory, error) {
	if len(required) == 0 {
		return nil, nil
	}
	workload, ok := required[0].(*schedulingv1beta1.Workload)
	if !ok {
		return nil, fmt.Errorf("%T is no Workload", required[0])
	}
	return &factory{
		set: set, workload: workload, parent: workload,
		template: set.Annotations[lwsv1.SchedulingGroupTemplateNameAnnotationKey],
		above:    set.Annotations[lwsv1.SchedulingParentCompositePodGroupAnnotationKey],
	}, nil
}

// SetsOfParent are the sets in the cache that leave their Workload to the controller
// of a Workload.
func SetsOfParent(ctx context.Context, reader client.Reader, workload client.Object) ([]types.NamespacedName, error) {
	controller := metav1.GetControllerOfNoCopy(workload)
	if controller == nil {
		return nil, nil
	}
	var sets lwsv1.LeaderWorkerSetList
	err := reader.List(ctx, &sets, client.InNamespace(workload.GetNamespace()),
		client.MatchingFields{identity.ByControllerIndex: string(controller.UID)}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("sets of %s: %w", controller.Name, err)
	}
	var keys []types.NamespacedName
	for i := range sets.Items {
		if parent, delegated := parentOf(&sets.Items[i]); delegated && parent == controller.UID {
			keys = append(keys, client.ObjectKeyFromObject(&sets.Items[i]))
		}
	}
	return keys, nil
}
