package podspec

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// member is the place of the pod that is being admitted.
type member struct {
	groupName   string
	workerIndex int32
	size        int32
	// subGroups is nil without subgroups.
	subGroups *identity.SubGroups
}

// readMember reads a pod's place from its template's annotations.
func readMember(pod *corev1.Pod, groupName string, workerIndex int32) (*member, error) {
	size, err := readNumber(pod, lwsv1.SizeAnnotationKey)
	if err != nil {
		return nil, err
	}
	if workerIndex >= size {
		return nil, fmt.Errorf("worker index %d is not below the group's size, %d", workerIndex, size)
	}
	m := &member{groupName: groupName, workerIndex: workerIndex, size: size}
	if _, ok := pod.Annotations[lwsv1.SubGroupSizeAnnotationKey]; !ok {
		return m, nil
	}
	subGroupSize, err := readNumber(pod, lwsv1.SubGroupSizeAnnotationKey)
	if err != nil {
		return nil, err
	}
	m.subGroups = &identity.SubGroups{
		Size:         size,
		SubGroupSize: subGroupSize,
		Type:         lwsv1.SubGroupPolicyType(pod.Annotations[lwsv1.SubGroupPolicyTypeAnnotationKey]),
	}
	return m, nil
}

func readNumber(pod *corev1.Pod, key string) (int32, error) {
	text := pod.Annotations[key]
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil || number < 1 {
		return 0, fmt.Errorf("annotation %s is %q, want a number from 1", key, text)
	}
	return int32(number), nil
}

// subGroup is the subgroup of the pod, false if it is in none.
func (m *member) subGroup() (int32, bool) {
	if m.subGroups == nil {
		return 0, false
	}
	return m.subGroups.Index(m.workerIndex)
}

func (m *member) labelSubGroup(pod *corev1.Pod) {
	subGroup, ok := m.subGroup()
	if !ok {
		return
	}
	pod.Labels[lwsv1.SubGroupIndexLabelKey] = formatNumber(subGroup)
	pod.Labels[lwsv1.SubGroupKeyLabelKey] = identity.SubGroupKey(m.groupName, subGroup)
}
