package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// The functions of this file read a spec with its defaults, so that an absent
// field, also one of an object stored before the field existed, means the same
// everywhere. They are pure.

// Defaults of fields, as in the schema or, where that has none, as documented.
const (
	DefaultReplicas           = 1
	DefaultSize               = 1
	DefaultMaxUnavailable     = 1
	DefaultMaxSurge           = 0
	DefaultBackoffBaseSeconds = 10
	DefaultBackoffCapSeconds  = 300
)

// Replicas is the desired number of groups.
func Replicas(set *LeaderWorkerSet) int32 {
	return max(valueOr(set.Spec.Replicas, DefaultReplicas), 0)
}

// Size is the number of pods of a group made from the template.
func Size(template *LeaderWorkerTemplate) int32 {
	return max(valueOr(template.Size, DefaultSize), 1)
}

// LeaderTemplate is the pod template of leaders: the worker template serves when
// there is no other.
func LeaderTemplate(template *LeaderWorkerTemplate) *corev1.PodTemplateSpec {
	if template.LeaderTemplate != nil {
		return template.LeaderTemplate
	}
	return &template.WorkerTemplate
}

// StartupPolicy is when workers are created.
func StartupPolicy(set *LeaderWorkerSet) StartupPolicyType {
	return textOr(set.Spec.StartupPolicy, LeaderCreatedStartupPolicy)
}

// SubdomainPolicyOf is the subdomain policy of a network configuration, which may
// be absent.
func SubdomainPolicyOf(config *NetworkConfig) SubdomainPolicy {
	if config == nil || config.SubdomainPolicy == nil {
		return SubdomainShared
	}
	return textOr(*config.SubdomainPolicy, SubdomainShared)
}

// GroupIdentity is how groups are named.
func GroupIdentity(set *LeaderWorkerSet) GroupIdentityType {
	return textOr(set.Spec.GroupIdentity, OrdinalGroupIdentity)
}

// GroupReplacementPolicy is when a replacement may start. Immediate counts with
// Hash identity only.
func GroupReplacementPolicy(set *LeaderWorkerSet) GroupReplacementPolicyType {
	if GroupIdentity(set) != HashGroupIdentity {
		return PostTerminationGroupReplacement
	}
	return textOr(set.Spec.GroupReplacementPolicy, PostTerminationGroupReplacement)
}

// PodTerminationPolicy is how the pods of a group end.
func PodTerminationPolicy(set *LeaderWorkerSet) PodTerminationPolicyType {
	return textOr(set.Spec.PodTerminationPolicy, SequentialPodTermination)
}

// RestartPolicy is the restart policy in effect: Default means None, and the
// annotation experimental-recreate-group-after-start turns
// RecreateGroupOnPodRestart into RecreateGroupAfterStart.
func RestartPolicy(set *LeaderWorkerSet) RestartPolicyType {
	policy := textOr(set.Spec.LeaderWorkerTemplate.RestartPolicy, RecreateGroupOnPodRestart)
	switch {
	case policy == DeprecatedDefaultRestartPolicy:
		return NoneRestartPolicy
	case policy == RecreateGroupOnPodRestart && set.Annotations[RecreateGroupAfterStartAnnotationKey] == "true":
		return RecreateGroupAfterStart
	}
	return policy
}

// MaxGroupRestarts is the restart budget of each group; false means no limit.
func MaxGroupRestarts(set *LeaderWorkerSet) (int32, bool) {
	if limit := set.Spec.LeaderWorkerTemplate.MaxGroupRestarts; limit != nil {
		return max(*limit, 0), true
	}
	return 0, false
}

// BackoffSeconds are base and cap of the restart backoff; false means none.
func BackoffSeconds(set *LeaderWorkerSet) (base, limit int32, ok bool) {
	backoff := set.Spec.LeaderWorkerTemplate.RestartBackoff
	if backoff == nil {
		return 0, 0, false
	}
	base = valueOr(backoff.BaseSeconds, DefaultBackoffBaseSeconds)
	return base, max(base, valueOr(backoff.CapSeconds, DefaultBackoffCapSeconds)), true
}

// CountsRestarts is whether recreations of the set's groups are counted.
func CountsRestarts(set *LeaderWorkerSet) bool {
	template := &set.Spec.LeaderWorkerTemplate
	return template.MaxGroupRestarts != nil || template.RestartBackoff != nil
}

// SubGroups are the size of the template's subgroups and their type; false means
// no subgroups.
func SubGroups(template *LeaderWorkerTemplate) (size int32, kind SubGroupPolicyType, ok bool) {
	policy := template.SubGroupPolicy
	if policy == nil || valueOr(policy.SubGroupSize, 0) < 1 {
		return 0, "", false
	}
	return *policy.SubGroupSize, valueOr(policy.Type, SubGroupPolicyTypeLeaderWorker), true
}

// GroupTopology is the node label whose value a group has for itself, from the
// template or, when it has no placement policy, from the set's annotations;
// empty without such a rule.
func GroupTopology(annotations map[string]string, template *LeaderWorkerTemplate) string {
	return exclusiveTopology(template.PlacementPolicy, annotations[ExclusiveTopologyAnnotationKey])
}

// SubGroupTopology is the node label whose value a subgroup has for itself, found
// like GroupTopology; empty without such a rule and without subgroups.
func SubGroupTopology(annotations map[string]string, template *LeaderWorkerTemplate) string {
	if _, _, ok := SubGroups(template); !ok {
		return ""
	}
	return exclusiveTopology(template.SubGroupPolicy.PlacementPolicy, annotations[SubGroupExclusiveTopologyAnnotationKey])
}

func exclusiveTopology(policy *PlacementPolicy, annotation string) string {
	switch {
	case policy == nil:
		return annotation
	case policy.Type == ExclusiveTopologyPlacement:
		return policy.Topology
	}
	return ""
}

func valueOr[T any](value *T, fallback T) T {
	if value == nil {
		return fallback
	}
	return *value
}

func textOr[T ~string](value, fallback T) T {
	if value == "" {
		return fallback
	}
	return value
}
