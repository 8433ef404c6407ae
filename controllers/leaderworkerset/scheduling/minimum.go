package scheduling

import (
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Group is a group of a set that is not on its way out.
type Group struct {
	// Size is that of the group's revision.
	Size int32
	// Admitted: its pods are there, or will be.
	Admitted bool
}

// minimumOf is the minimum of the one gang of a whole set. It means pods that can be
// scheduled or are, so it falls before pods go, and rises when those that make it up
// are there: else what is rebuilt meanwhile could never be placed. With no group yet
// all will come, so it may rise at once. 2 groups of 4 that become 3: 8 until the
// third is admitted, then 12; that become 1: 4 at once.
func minimumOf(target int32, groups []Group, live []client.Object) int32 {
	current, ok := liveMinimum(live)
	if !ok || target <= current || len(groups) == 0 {
		return target
	}
	pods := int32(0)
	for _, group := range groups {
		if group.Admitted {
			pods += group.Size
		}
	}
	if pods >= target {
		return target
	}
	return current
}

// liveGroups is the number of groups that the gang of groups of a whole set is made
// of. The API server lets no field of a CompositePodGroup's spec change, and one with
// groups below it cannot be made anew, so it stays what it was made with, and the
// Workload's template with it.
func liveGroups(replicas int32, live []client.Object) int32 {
	for _, obj := range live {
		root, ok := obj.(*schedulingv1alpha3.CompositePodGroup)
		if ok && root.Spec.SchedulingPolicy.Gang != nil {
			return root.Spec.SchedulingPolicy.Gang.MinGroupCount
		}
	}
	return replicas
}

// liveWorkload is the Workload of the set, nil if there is none.
func liveWorkload(live []client.Object) client.Object {
	for _, obj := range live {
		if workload, ok := obj.(*schedulingv1beta1.Workload); ok {
			return workload
		}
	}
	return nil
}

func liveMinimum(live []client.Object) (int32, bool) {
	for _, obj := range live {
		if podGroup, ok := obj.(*schedulingv1beta1.PodGroup); ok && podGroup.Spec.SchedulingPolicy.Gang != nil {
			return podGroup.Spec.SchedulingPolicy.Gang.MinCount, true
		}
	}
	return 0, false
}
