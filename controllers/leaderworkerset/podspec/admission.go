package podspec

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// NewLeader is the identity that a leader gets at admission.
type NewLeader struct {
	// Index and Key are the values of the labels group-index and group-key.
	Index, Key string
	// Name is the group's name: the leader's host name.
	Name string
	// Drawn: the key was drawn. A StatefulSet gives its pods a host name, a ReplicaSet
	// does not, and it counts pods where groups are to be counted.
	Drawn bool
}

// OrdinalLeader is the identity of a pod of the leader StatefulSet: all of it
// follows from the pod's name.
func OrdinalLeader(pod *corev1.Pod) (NewLeader, error) {
	set, _ := identity.SetOf(pod)
	statefulSet, ordinal, ok := identity.SplitOrdinal(pod.Name)
	if !ok || statefulSet != identity.LeaderStatefulSetName(set.Name) {
		return NewLeader{}, fmt.Errorf("pod %q is not called as a leader of set %q", pod.Name, set.Name)
	}
	group := identity.OrdinalGroup(set, ordinal)
	return NewLeader{
		Index: group.Index,
		Key:   identity.GroupKey(pod.Namespace, pod.Name),
		Name:  group.Name(),
	}, nil
}

// HashLeader is the identity of a pod of the leader Deployment, from random
// characters. A pod that has its key keeps it.
func HashLeader(pod *corev1.Pod, random string) NewLeader {
	set, _ := identity.SetOf(pod)
	key := pod.Labels[lwsv1.GroupKeyLabelKey]
	if key == "" {
		key = identity.DrawnKey(pod.Namespace, random)
	}
	return NewLeader{Index: key, Key: key, Name: identity.KeyGroup(set, key).Name(), Drawn: true}
}

// AdmitLeader makes a pod the leader of a group. Every leader is born gated, and
// carries the termination policy of its set so that it holds after the set is gone.
func AdmitLeader(pod *corev1.Pod, leader NewLeader, policy lwsv1.PodTerminationPolicyType) error {
	m, err := readMember(pod, leader.Name, 0)
	if err != nil {
		return err
	}
	pod.Labels = merge(pod.Labels, map[string]string{
		lwsv1.GroupIndexLabelKey: leader.Index,
		lwsv1.GroupKeyLabelKey:   leader.Key,
	})
	if leader.Drawn {
		set, _ := identity.SetOf(pod)
		pod.Spec.Hostname, pod.Spec.Subdomain = leader.Name, identity.SharedServiceName(set.Name)
		standForGroup(pod, m)
	}
	if pod.Annotations[lwsv1.SubdomainPolicyAnnotationKey] == string(lwsv1.SubdomainUniquePerReplica) {
		pod.Spec.Subdomain = leader.Name
	}
	if topology := pod.Annotations[lwsv1.ExclusiveTopologyAnnotationKey]; topology != "" {
		requireExclusive(&pod.Spec, lwsv1.GroupKeyLabelKey, leader.Key, topology)
	}
	setTerminationPolicy(pod, policy)
	addGate(&pod.Spec)
	return admitMember(pod, m)
}

// AdmitWorker makes a pod a worker of the group of its StatefulSet.
func AdmitWorker(pod *corev1.Pod) error {
	groupName, workerIndex, ok := identity.SplitOrdinal(pod.Name)
	group, labelled := identity.GroupOfPod(pod)
	if !ok || workerIndex == 0 || !labelled || groupName != group.Name() {
		return fmt.Errorf("pod %q is not called as a worker of group %q", pod.Name, group.Name())
	}
	m, err := readMember(pod, groupName, workerIndex)
	if err != nil {
		return err
	}
	pod.Labels = merge(pod.Labels, map[string]string{lwsv1.WorkerIndexLabelKey: formatNumber(workerIndex)})
	return admitMember(pod, m)
}

// admitMember adds what leader and workers have alike.
func admitMember(pod *corev1.Pod, m *member) error {
	m.labelSubGroup(pod)
	topology := pod.Annotations[lwsv1.SubGroupExclusiveTopologyAnnotationKey]
	if _, ok := m.subGroup(); ok && topology != "" {
		requireExclusive(&pod.Spec, lwsv1.SubGroupKeyLabelKey, pod.Labels[lwsv1.SubGroupKeyLabelKey], topology)
	}
	if err := addTPUVariables(pod, m); err != nil {
		return err
	}
	addVariables(pod, m)
	return nil
}

// MarkRestartPolicy notes on a leader that it has, or has not, the restart policy
// None, where the owner of its workers does not tell.
func MarkRestartPolicy(pod *corev1.Pod, policy lwsv1.RestartPolicyType) {
	group, _ := identity.GroupOfPod(pod)
	if policy == lwsv1.NoneRestartPolicy && (group.HasKey() || pod.Annotations[lwsv1.SizeAnnotationKey] == "1") {
		pod.Annotations = merge(pod.Annotations, map[string]string{lwsv1.RestartPolicyAnnotationKey: string(policy)})
		return
	}
	delete(pod.Annotations, lwsv1.RestartPolicyAnnotationKey)
}

func setTerminationPolicy(pod *corev1.Pod, policy lwsv1.PodTerminationPolicyType) {
	if policy == lwsv1.ParallelPodTermination {
		pod.Annotations = merge(pod.Annotations, map[string]string{
			lwsv1.PodTerminationPolicyAnnotationKey: string(policy),
		})
		return
	}
	delete(pod.Annotations, lwsv1.PodTerminationPolicyAnnotationKey)
}
