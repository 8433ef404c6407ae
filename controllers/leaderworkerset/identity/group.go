package identity

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Group names one group of a set.
type Group struct {
	Namespace string
	Set       string
	// Index is the value of the label group-index.
	Index string
}

// OrdinalGroup is the group of the given ordinal.
func OrdinalGroup(set types.NamespacedName, ordinal int32) Group {
	return Group{Namespace: set.Namespace, Set: set.Name, Index: formatIndex(ordinal)}
}

// KeyGroup is the group of the given key, with Hash identity.
func KeyGroup(set types.NamespacedName, key string) Group {
	return Group{Namespace: set.Namespace, Set: set.Name, Index: key}
}

// GroupOfPod reads the group of a pod from its labels. It is false for a pod that
// has not been admitted as a member of a group.
func GroupOfPod(pod metav1.Object) (Group, bool) {
	return groupFromLabels(pod)
}

// GroupOfWorkerStatefulSet reads the group of a worker StatefulSet from its
// labels. It is false for a leader StatefulSet, which has no group.
func GroupOfWorkerStatefulSet(statefulSet metav1.Object) (Group, bool) {
	return groupFromLabels(statefulSet)
}

// GroupOfService reads the group of a Service from its labels or, as the earlier
// releases put the group only there, from its selector. It is false for the
// Service of a whole set.
func GroupOfService(service metav1.Object, selector map[string]string) (Group, bool) {
	if group, ok := groupFromLabels(service); ok {
		return group, true
	}
	return newGroup(service.GetNamespace(), selector)
}

func groupFromLabels(obj metav1.Object) (Group, bool) {
	return newGroup(obj.GetNamespace(), obj.GetLabels())
}

func newGroup(namespace string, labels map[string]string) (Group, bool) {
	set, index := labels[lwsv1.SetNameLabelKey], labels[lwsv1.GroupIndexLabelKey]
	if set == "" || index == "" {
		return Group{}, false
	}
	return Group{Namespace: namespace, Set: set, Index: index}, true
}

// String is namespace/set/index: the value of the index PodsByGroup.
func (g Group) String() string {
	return g.Namespace + "/" + g.Set + "/" + g.Index
}

// SetKey is the set of the group.
func (g Group) SetKey() types.NamespacedName {
	return types.NamespacedName{Namespace: g.Namespace, Name: g.Set}
}

// HasKey says whether the group is named by its key, as with Hash identity.
func (g Group) HasKey() bool {
	return len(g.Index) >= keyLength
}

// Ordinal is the group's number, false with Hash identity.
func (g Group) Ordinal() (int32, bool) {
	if g.HasKey() {
		return 0, false
	}
	return parseIndex(g.Index)
}

// Name is what the group is called: the leader's host name, and the name of the
// worker StatefulSet and of the group's own Service. With Ordinal identity it is
// the name of the leader pod as well.
func (g Group) Name() string {
	return groupName(g.Set, g.Index)
}

// groupName takes an index of the length of a key for a key: an ordinal has at
// most 10 digits.
func groupName(set, index string) string {
	if len(index) >= keyLength {
		index = index[:shortKeyLength]
	}
	return set + "-" + index
}

// SetOf reads the set that an object belongs to from its labels.
func SetOf(obj metav1.Object) (types.NamespacedName, bool) {
	name := obj.GetLabels()[lwsv1.SetNameLabelKey]
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: name}, name != ""
}

// IsLeader says whether a pod is the leader of its group.
func IsLeader(pod metav1.Object) bool {
	return pod.GetLabels()[lwsv1.WorkerIndexLabelKey] == LeaderIndex
}

// WorkerIndex reads the place of a pod in its group from its labels.
func WorkerIndex(pod metav1.Object) (int32, bool) {
	return parseIndex(pod.GetLabels()[lwsv1.WorkerIndexLabelKey])
}

// GroupOrdinal reads the ordinal of a pod's group from its labels, false with
// Hash identity.
func GroupOrdinal(pod metav1.Object) (int32, bool) {
	group, ok := GroupOfPod(pod)
	if !ok {
		return 0, false
	}
	return group.Ordinal()
}

func formatIndex(index int32) string {
	return strconv.FormatInt(int64(index), 10)
}

// parseIndex accepts what formatIndex writes and nothing else: no sign, no
// leading zero.
func parseIndex(text string) (int32, bool) {
	index, err := strconv.ParseInt(text, 10, 32)
	if err != nil || index < 0 || formatIndex(int32(index)) != text {
		return 0, false
	}
	return int32(index), true
}
