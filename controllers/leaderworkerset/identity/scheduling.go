package identity

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Names of the indexes of scheduling objects: of those of a group the value is
// Group.String, of all of a set the set's namespace/name.
const (
	SchedulingObjectsByGroupIndex = "schedulingObjectsByGroup"
	SchedulingObjectsBySetIndex   = "schedulingObjectsBySet"

	// ByControllerIndex is that of objects by the UID of their controller.
	ByControllerIndex = "byController"
)

// WorkloadName is the name of the Workload of a set, and of the PodGroup that all
// its pods share where there is one.
func WorkloadName(set string) string {
	return set
}

// PodGroupName is the name of a PodGroup of one incarnation of a group: <group
// name>-<token>-<revision>, with the role before the revision where each has one of
// its own. With Hash identity the whole key takes the place of ordinal and token.
// The longest set name, key, role and revision come to 130 characters.
func PodGroupName(group Group, token, role, revision string) string {
	parts := []string{group.Set, group.Index}
	for _, part := range []string{token, role, revision} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "-")
}

// GroupOfSchedulingObject reads the group of a scheduling object from its labels.
// It is false for those of a whole set.
func GroupOfSchedulingObject(obj metav1.Object) (Group, bool) {
	return groupFromLabels(obj)
}

// ByController indexes objects by the UID of their controller.
func ByController(obj metav1.Object) []string {
	controller := metav1.GetControllerOfNoCopy(obj)
	if controller == nil {
		return nil
	}
	return []string{string(controller.UID)}
}

// SchedulingObjectsByGroup indexes scheduling objects by their group.
func SchedulingObjectsByGroup(obj metav1.Object) []string {
	group, ok := GroupOfSchedulingObject(obj)
	if !ok {
		return nil
	}
	return []string{group.String()}
}

// SchedulingObjectsBySet indexes the scheduling objects of groups by their set.
func SchedulingObjectsBySet(obj metav1.Object) []string {
	if _, ok := GroupOfSchedulingObject(obj); !ok {
		return nil
	}
	return bySet(obj)
}
