package v1

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// The functions of this file read a spec with its defaults. They are pure.

// DefaultSlices is the number of slices of a set that gives none.
const DefaultSlices = 1

// Slices is the desired number of slices.
func Slices(set *DisaggregatedSet) int32 {
	if set.Spec.Slices == nil {
		return DefaultSlices
	}
	return max(*set.Spec.Slices, 1)
}

// IsExternal is whether the role's replicas come from its scaler.
func IsExternal(role *DisaggregatedRoleSpec) bool {
	return role.Scaling != nil && role.Scaling.Mode == ExternalRoleScaling
}

// RoleLeaderWorkerSet is the role as a LeaderWorkerSet, for the accessors of that
// API, with the budgets that a role has for defaults. It shares the role's memory and
// is not for writing.
func RoleLeaderWorkerSet(role *DisaggregatedRoleSpec) *lwsv1.LeaderWorkerSet {
	set := &lwsv1.LeaderWorkerSet{ObjectMeta: role.ObjectMeta, Spec: role.Spec}
	set.Spec.RolloutStrategy.RollingUpdateConfiguration = RoleRollingUpdate(&role.Spec)
	return set
}

// Defaults of a role's budgets, which differ from those of a LeaderWorkerSet: new
// groups of a role start beside the old ones.
const (
	DefaultRoleMaxSurge       = 1
	DefaultRoleMaxUnavailable = 0
)

// RoleRollingUpdate is the budgets of a role's rollout with its defaults.
func RoleRollingUpdate(spec *lwsv1.LeaderWorkerSetSpec) *lwsv1.RollingUpdateConfiguration {
	surge, unavailable := intstr.FromInt32(DefaultRoleMaxSurge), intstr.FromInt32(DefaultRoleMaxUnavailable)
	config := lwsv1.RollingUpdateConfiguration{}
	if written := spec.RolloutStrategy.RollingUpdateConfiguration; written != nil {
		config = *written.DeepCopy()
	}
	if config.MaxSurge == nil {
		config.MaxSurge = &surge
	}
	if config.MaxUnavailable == nil {
		config.MaxUnavailable = &unavailable
	}
	return &config
}

// SliceTopology is the type of the set's placement policy and the node label
// whose values are the domains; empty without such a rule.
func SliceTopology(set *DisaggregatedSet) (PlacementPolicyType, string) {
	policy := set.Spec.PlacementPolicy
	if policy == nil || policy.Type == "" || policy.Type == NonePlacement {
		return NonePlacement, ""
	}
	return policy.Type, policy.Topology
}

// ScalerReplicas is the number of groups that a scaler asks for.
func ScalerReplicas(scaler *DisaggregatedSetRoleScaler) int32 {
	if scaler.Spec.Replicas == nil {
		return 0
	}
	return max(*scaler.Spec.Replicas, 0)
}
