package group

import (
	"maps"
	"slices"
	"strings"
	"unique"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// StripPod is the transform of the pod cache: it leaves of a pod what this manager
// reads. It is applied to pods only; what else passes is returned as it is.
func StripPod(obj any) (any, error) {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	p.ManagedFields = nil
	p.Labels = keptKeys(p.Labels)
	cost, hasCost := p.Annotations[corev1.PodDeletionCost]
	p.Annotations = keptKeys(p.Annotations)
	if hasCost {
		p.Annotations[corev1.PodDeletionCost] = cost
	}
	grace := p.Spec.TerminationGracePeriodSeconds
	if p.DeletionTimestamp == nil {
		grace = nil // it is read of pods that go
	}
	p.Spec = corev1.PodSpec{
		TerminationGracePeriodSeconds: grace,
		NodeName:                      once(p.Spec.NodeName),
		SchedulingGates:               p.Spec.SchedulingGates,
		SchedulingGroup:               p.Spec.SchedulingGroup,
		ReadinessGates:                p.Spec.ReadinessGates,
		InitContainers:                keptContainers(p.Spec.InitContainers),
		Containers:                    keptContainers(p.Spec.Containers),
	}
	p.Status = corev1.PodStatus{
		Phase:                 p.Status.Phase,
		Reason:                p.Status.Reason,
		Conditions:            keptConditions(p.Status.Conditions),
		InitContainerStatuses: keptStatuses(p.Status.InitContainerStatuses),
		ContainerStatuses:     keptStatuses(p.Status.ContainerStatuses),
	}
	return p, nil
}

// StripReplicaSet is the transform of the cache of ReplicaSets: whose they are, and how
// many leaders they are to have.
func StripReplicaSet(obj any) (any, error) {
	r, ok := obj.(*appsv1.ReplicaSet)
	if !ok {
		return obj, nil
	}
	r.ManagedFields = nil
	r.Annotations = nil
	r.Spec = appsv1.ReplicaSetSpec{Replicas: r.Spec.Replicas}
	r.Status = appsv1.ReplicaSetStatus{}
	return r, nil
}

// keptKeys are ours and what the controllers of pods tell their revisions by.
func keptKeys(keys map[string]string) map[string]string {
	maps.DeleteFunc(keys, func(key, _ string) bool {
		return !strings.HasPrefix(key, lwsv1.KeyPrefix) &&
			key != appsv1.ControllerRevisionHashLabelKey &&
			key != appsv1.DefaultDeploymentUniqueLabelKey
	})
	kept := make(map[string]string, len(keys))
	for key, value := range keys {
		kept[once(key)] = once(value)
	}
	return kept
}

// once is a text that the pods of a set have in common, held once for all of them.
func once(text string) string { return unique.Make(text).Value() }

// keptContainers are those that have rules about their restarts.
func keptContainers(containers []corev1.Container) []corev1.Container {
	var kept []corev1.Container
	for i := range containers {
		c := &containers[i]
		resizes := slices.ContainsFunc(c.ResizePolicy, func(policy corev1.ContainerResizePolicy) bool {
			return policy.RestartPolicy == corev1.RestartContainer
		})
		if !resizes && len(c.RestartPolicyRules) == 0 {
			continue
		}
		kept = append(kept, corev1.Container{
			Name:               c.Name,
			RestartPolicy:      c.RestartPolicy,
			RestartPolicyRules: c.RestartPolicyRules,
			ResizePolicy:       c.ResizePolicy,
		})
	}
	return kept
}

// keptConditions are those that are read. They keep the text of the scheduler, which
// users are shown.
func keptConditions(conditions []corev1.PodCondition) []corev1.PodCondition {
	var kept []corev1.PodCondition
	for _, c := range conditions {
		if !isRead(c) {
			continue
		}
		condition := corev1.PodCondition{
			Type:               corev1.PodConditionType(once(string(c.Type))),
			Status:             corev1.ConditionStatus(once(string(c.Status))),
			Reason:             once(c.Reason),
			LastTransitionTime: c.LastTransitionTime,
		}
		if c.Type == corev1.PodScheduled {
			condition.Message = c.Message
		}
		kept = append(kept, condition)
	}
	return kept
}

// readConditions are what observations of pods look at.
var readConditions = []corev1.PodConditionType{
	corev1.PodScheduled, corev1.ContainersReady, corev1.PodReady, corev1.PodResizeInProgress,
	corev1.DisruptionTarget, lwsv1.GroupReadyReadinessGate,
}

func isRead(c corev1.PodCondition) bool { return slices.Contains(readConditions, c.Type) }

// keptStatuses are those of containers that have ended at some time.
func keptStatuses(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for i := range statuses {
		s := &statuses[i]
		if s.RestartCount == 0 && s.State.Terminated == nil {
			continue
		}
		kept = append(kept, corev1.ContainerStatus{
			Name:                 s.Name,
			RestartCount:         s.RestartCount,
			State:                corev1.ContainerState{Terminated: keptEnd(s.State.Terminated)},
			LastTerminationState: corev1.ContainerState{Terminated: keptEnd(s.LastTerminationState.Terminated)},
		})
	}
	return kept
}

func keptEnd(ended *corev1.ContainerStateTerminated) *corev1.ContainerStateTerminated {
	if ended == nil {
		return nil
	}
	return &corev1.ContainerStateTerminated{ExitCode: ended.ExitCode, Reason: ended.Reason}
}
