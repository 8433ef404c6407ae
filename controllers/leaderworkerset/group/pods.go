package group

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
)

const trueValue = "true"

// isLeaderOf says whether a pod with the labels of a leader is one of this group: by
// its name, and by a controller that can make leaders. It may have lost that.
func isLeaderOf(group identity.Group, p *corev1.Pod) bool {
	controller := controllerOf(p)
	if group.HasKey() {
		// Its name is made up by the API server; the key is in its labels.
		return controller == owner{} || controller.Kind == kindReplicaSet
	}
	made := controller == owner{} || controller.Kind == kindStatefulSet &&
		controller.Name == identity.LeaderStatefulSetName(group.Set)
	return made && p.Name == group.Name()
}

// workerOf is what is known of a worker pod of this group, false for a pod that only
// has the labels of one: its name and its controller have to be those of a worker.
func workerOf(group identity.Group, p *corev1.Pod, seen *ledger) (pod, bool) {
	controller := controllerOf(p)
	made := controller == owner{} || controller.Kind == kindStatefulSet && controller.Name == group.Name()
	index, ok := identity.WorkerIndex(p)
	if !made || !ok || index == 0 || p.Name != identity.WorkerName(group.Name(), index) {
		return pod{}, false
	}
	return podOf(p, index, seen), true
}

func leaderOf(p *corev1.Pod, seen *ledger) *leader {
	l := &leader{
		pod:         podOf(p, 0, seen),
		Revision:    p.Labels[lwsv1.RevisionLabelKey],
		PodRevision: p.Labels[appsv1.ControllerRevisionHashLabelKey],
		GroupKey:    p.Labels[lwsv1.GroupKeyLabelKey],
		Size:        sizeOf(p),
		OwnService:  p.Annotations[lwsv1.SubdomainPolicyAnnotationKey] == string(lwsv1.SubdomainUniquePerReplica),
		Exhausted:   p.Annotations[lwsv1.GroupRestartBudgetExhaustedAnnotationKey] == trueValue,
		Recover:     p.Annotations[lwsv1.RecoverAnnotationKey] == trueValue,
		Parallel:    p.Annotations[lwsv1.PodTerminationPolicyAnnotationKey] == string(lwsv1.ParallelPodTermination),
		MarkedNone:  p.Annotations[lwsv1.RestartPolicyAnnotationKey] == string(lwsv1.NoneRestartPolicy),
		Foreground:  slices.Contains(p.Finalizers, metav1.FinalizerDeleteDependents),
		Ready:       isConditionTrue(p, corev1.ContainersReady),
		GroupReady:  isConditionTrue(p, lwsv1.GroupReadyReadinessGate),
		Replaces:    p.Annotations[lwsv1.ReplacesAnnotationKey],
		Memory:      parseMemory(p.Annotations[lwsv1.GroupMembersAnnotationKey]),
	}
	_, l.Gated = podspec.GateIndex(p)
	l.HasReadinessGate = slices.ContainsFunc(p.Spec.ReadinessGates, func(gate corev1.PodReadinessGate) bool {
		return gate.ConditionType == lwsv1.GroupReadyReadinessGate
	})
	return l
}

// sizeOf is the size of the leader's group, as its revision has it.
func sizeOf(p *corev1.Pod) int32 {
	size, err := strconv.ParseInt(p.Annotations[lwsv1.SizeAnnotationKey], 10, 32)
	if err != nil {
		return 1
	}
	return max(int32(size), 1)
}

func podOf(p *corev1.Pod, index int32, seen *ledger) pod {
	facts := pod{
		Name:       p.Name,
		UID:        p.UID,
		Controller: controllerOf(p),
		Index:      index,
		Node:       p.Spec.NodeName,
		Phase:      p.Status.Phase,
		Why:        p.Status.Reason,
		Created:    p.CreationTimestamp.Time,
		Deleting:   p.DeletionTimestamp != nil,
		Deadline:   timeOf(p.DeletionTimestamp),
		Restarts:   restartsOf(p, seen),
	}
	for _, condition := range p.Status.Conditions {
		switch {
		case condition.Type == corev1.PodScheduled:
			facts.Scheduling, facts.Scheduler = schedulingOf(&condition)
		case condition.Type == corev1.DisruptionTarget && condition.Status == corev1.ConditionTrue && facts.Why == "":
			facts.Why = condition.Reason
		}
	}
	for _, finalizer := range p.Finalizers {
		switch finalizer {
		case lwsv1.GroupRestartBudgetCleanupFinalizer:
			facts.Retained = true
		case metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents:
		default:
			facts.HeldBy = append(facts.HeldBy, finalizer)
		}
	}
	return facts
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

func schedulingOf(condition *corev1.PodCondition) (schedulingState, string) {
	switch {
	case condition.Status == corev1.ConditionTrue:
		return placed, ""
	case condition.Status == corev1.ConditionFalse && condition.Reason == corev1.PodReasonSchedulingGated:
		return heldByGate, ""
	case condition.Status == corev1.ConditionFalse:
		return unschedulable, condition.Message
	}
	return starting, ""
}

func isConditionTrue(p *corev1.Pod, kind corev1.PodConditionType) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue
	})
}

// restartsOf are the restarts of containers and init containers, sidecars among
// them. Ephemeral containers do not count.
func restartsOf(p *corev1.Pod, seen *ledger) []restarts {
	all := restartsAll(p)
	var found []restarts
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range statuses {
			status := &statuses[i]
			if status.RestartCount == 0 {
				continue
			}
			found = append(found, restarts{
				Container: status.Name,
				Count:     status.RestartCount,
				ByRule:    all || isRestartByRule(p, status, corev1.ContainerRestartRuleActionRestart),
				ByResize:  status.RestartCount <= seen.resized(p.UID, status.Name),
				Why:       whyEnded(status),
			})
		}
	}
	return found
}

// restartsAll says whether the rule of some container asked for a restart of all
// containers of the pod.
func restartsAll(p *corev1.Pod) bool {
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range statuses {
			if isRestartByRule(p, &statuses[i], corev1.ContainerRestartRuleActionRestartAllContainers) {
				return true
			}
		}
	}
	return false
}

// isRestartByRule says whether a container ended as one of its own rules with this
// action says.
func isRestartByRule(p *corev1.Pod, status *corev1.ContainerStatus, action corev1.ContainerRestartRuleAction) bool {
	ended := lastEnd(status)
	if ended == nil {
		return false
	}
	for _, container := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		if container.Name != status.Name {
			continue
		}
		// The first rule that matches is the one that acts.
		for i := range container.RestartPolicyRules {
			rule := &container.RestartPolicyRules[i]
			if matches(rule, ended.ExitCode) {
				return rule.Action == action
			}
		}
	}
	return false
}

func matches(rule *corev1.ContainerRestartRule, exitCode int32) bool {
	if rule.ExitCodes == nil {
		return false
	}
	listed := slices.Contains(rule.ExitCodes.Values, exitCode)
	switch rule.ExitCodes.Operator {
	case corev1.ContainerRestartRuleOnExitCodesOpIn:
		return listed
	case corev1.ContainerRestartRuleOnExitCodesOpNotIn:
		return !listed
	}
	return false
}

// lastEnd is how a container that restarted ended before.
func lastEnd(status *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if ended := status.LastTerminationState.Terminated; ended != nil {
		return ended
	}
	return status.State.Terminated
}

func whyEnded(status *corev1.ContainerStatus) string {
	ended := lastEnd(status)
	switch {
	case ended == nil:
		return ""
	case ended.Reason == "":
		return fmt.Sprintf("exit code %d", ended.ExitCode)
	}
	return fmt.Sprintf("%s, exit code %d", ended.Reason, ended.ExitCode)
}
