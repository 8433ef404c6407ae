package v1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// LeaderWorkerTemplate describes the pods of a group and what happens when one
// of them fails.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxGroupRestarts) || !(self.restartPolicy in ['None', 'Default'])",message="cannot be set with restartPolicy None, which never recreates a group",fieldPath=".maxGroupRestarts",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.restartBackoff) || !(self.restartPolicy in ['None', 'Default'])",message="cannot be set with restartPolicy None, which never recreates a group",fieldPath=".restartBackoff",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.subGroupPolicy) || !has(self.subGroupPolicy.subGroupSize) || self.subGroupPolicy.subGroupSize <= self.size",message="must not be larger than size",fieldPath=".subGroupPolicy.subGroupSize"
// +kubebuilder:validation:XValidation:rule="!has(self.subGroupPolicy) || !has(self.subGroupPolicy.subGroupSize) || self.subGroupPolicy.subGroupSize < 1 || self.subGroupPolicy.subGroupSize > self.size || self.subGroupPolicy.subGroupPolicyType == 'LeaderExcluded' || self.size % self.subGroupPolicy.subGroupSize == 0 || (self.size - 1) % self.subGroupPolicy.subGroupSize == 0",message="must divide size or size-1",fieldPath=".subGroupPolicy.subGroupSize"
// +kubebuilder:validation:XValidation:rule="!has(self.subGroupPolicy) || !has(self.subGroupPolicy.subGroupSize) || self.subGroupPolicy.subGroupSize < 1 || self.subGroupPolicy.subGroupSize > self.size || self.subGroupPolicy.subGroupPolicyType != 'LeaderExcluded' || (self.size - 1) % self.subGroupPolicy.subGroupSize == 0",message="must divide size-1 with subGroupPolicyType LeaderExcluded",fieldPath=".subGroupPolicy.subGroupSize"
// +kubebuilder:validation:XValidation:rule="!has(self.placementPolicy) || !has(self.subGroupPolicy) || !has(self.subGroupPolicy.placementPolicy) || self.placementPolicy.type == 'None' || self.subGroupPolicy.placementPolicy.type == 'None' || !has(self.placementPolicy.topology) || !has(self.subGroupPolicy.placementPolicy.topology) || self.placementPolicy.topology != self.subGroupPolicy.placementPolicy.topology",message="must differ from placementPolicy.topology of the group",fieldPath=".subGroupPolicy.placementPolicy.topology"
type LeaderWorkerTemplate struct {
	// leaderTemplate is the pod template of the leader. Absent, the leader is made
	// from workerTemplate. The pods' restartPolicy is Always and
	// activeDeadlineSeconds cannot be set; hostname and subdomain are overwritten.
	// A change starts a rollout.
	// +optional
	// +kubebuilder:validation:XValidation:rule="has(self.spec) && size(self.spec.containers) > 0",message="needs a spec with at least one container"
	// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(self.spec.restartPolicy) || self.spec.restartPolicy == 'Always'",message="must be Always; what happens when a pod fails is leaderWorkerTemplate.restartPolicy",fieldPath=".spec.restartPolicy",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(self.spec.activeDeadlineSeconds)",message="cannot be set: groups run until they are deleted",fieldPath=".spec.activeDeadlineSeconds",reason=FieldValueForbidden
	LeaderTemplate *corev1.PodTemplateSpec `json:"leaderTemplate,omitempty"`

	// workerTemplate is the pod template of the workers, with the same limits as
	// leaderTemplate. A change starts a rollout.
	// +required
	// +kubebuilder:validation:XValidation:rule="has(self.spec) && size(self.spec.containers) > 0",message="needs a spec with at least one container"
	// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(self.spec.restartPolicy) || self.spec.restartPolicy == 'Always'",message="must be Always; what happens when a pod fails is leaderWorkerTemplate.restartPolicy",fieldPath=".spec.restartPolicy",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(self.spec.activeDeadlineSeconds)",message="cannot be set: groups run until they are deleted",fieldPath=".spec.activeDeadlineSeconds",reason=FieldValueForbidden
	WorkerTemplate corev1.PodTemplateSpec `json:"workerTemplate"`

	// size is the number of pods of a group, the leader included; 1 is a leader
	// without workers. Defaults to 1. A change starts a rollout.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	Size *int32 `json:"size,omitempty"`

	// restartPolicy is what happens when a pod of a group fails, that is, when it
	// is deleted or evicted, when one of its containers restarts, or when it ends:
	// RecreateGroupOnPodRestart recreates the whole group;
	// RecreateGroupAfterStart does so once all pods of the group have been
	// started, and before that leaves restarts to Kubernetes;
	// None leaves the other pods of the group alone.
	// Default is deprecated and means None.
	// Defaults to RecreateGroupOnPodRestart. Can change at any time, without a
	// rollout; the next failure follows it.
	// +optional
	// +kubebuilder:default=RecreateGroupOnPodRestart
	RestartPolicy RestartPolicyType `json:"restartPolicy,omitempty"`

	// maxGroupRestarts is how often each group of a revision may be recreated by
	// lws-manager. A group that fails once more is stopped, its pods are retained
	// for inspection, and the set is Degraded until the group is recovered by the
	// annotation leaderworkerset.sigs.k8s.io/recover=true on its leader. 0 stops a
	// group at its first failure. Absent, there is no limit. Cannot be set with
	// restartPolicy None. Can change at any time, without a rollout.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MaxGroupRestarts *int32 `json:"maxGroupRestarts,omitempty"`

	// restartBackoff spaces the recreations of a group that fails again and again.
	// Absent, a group is recreated at once. Cannot be set with restartPolicy None.
	// Can change at any time, without a rollout.
	// +optional
	RestartBackoff *RestartBackoff `json:"restartBackoff,omitempty"`

	// subGroupPolicy divides each group into subgroups, for placement and for
	// accelerators. It can neither be added to nor removed from an existing
	// LeaderWorkerSet.
	// +optional
	SubGroupPolicy *SubGroupPolicy `json:"subGroupPolicy,omitempty"`

	// volumeClaimTemplates are the claims that every pod gets, as in a
	// StatefulSet, at most 32. A recreated group finds its claims again. Needs
	// groupIdentity Ordinal. Immutable on a LeaderWorkerSet, but that a quantity may
	// be written in another way, as typed clients do (1024Mi and 1Gi).
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	VolumeClaimTemplates []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates,omitempty"`

	// persistentVolumeClaimRetentionPolicy is what becomes of the claims when the
	// set is deleted (whenDeleted) or a group is scaled away (whenScaled): Retain
	// or Delete. Absent, they are retained. The leaders and the workers of every group
	// have StatefulSets of their own, which it is copied to: the StatefulSet of the
	// workers is deleted with its group, also when the group is recreated or scaled
	// away, so the claims of workers follow whenDeleted each time. Can change at any
	// time, without a rollout.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.whenDeleted) || self.whenDeleted in ['Retain', 'Delete']",message="must be Retain or Delete",fieldPath=".whenDeleted"
	// +kubebuilder:validation:XValidation:rule="!has(self.whenScaled) || self.whenScaled in ['Retain', 'Delete']",message="must be Retain or Delete",fieldPath=".whenScaled"
	PersistentVolumeClaimRetentionPolicy *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy `json:"persistentVolumeClaimRetentionPolicy,omitempty"`

	// placementPolicy keeps other groups away from where a group runs. Absent, the
	// annotation leaderworkerset.sigs.k8s.io/exclusive-topology of the set is
	// used. A change starts a rollout.
	// +optional
	PlacementPolicy *PlacementPolicy `json:"placementPolicy,omitempty"`
}

// RestartPolicyType is what happens when a pod of a group fails.
// +kubebuilder:validation:Enum=RecreateGroupOnPodRestart;RecreateGroupAfterStart;None;Default
type RestartPolicyType string

const (
	// RecreateGroupOnPodRestart recreates the whole group when one of its pods fails.
	RecreateGroupOnPodRestart RestartPolicyType = "RecreateGroupOnPodRestart"

	// RecreateGroupAfterStart does so once the whole group has been started.
	RecreateGroupAfterStart RestartPolicyType = "RecreateGroupAfterStart"

	// NoneRestartPolicy leaves the other pods of the group alone.
	NoneRestartPolicy RestartPolicyType = "None"

	// DeprecatedDefaultRestartPolicy means None.
	DeprecatedDefaultRestartPolicy RestartPolicyType = "Default"
)

// RestartBackoff spaces the recreations of a group: the group must have existed
// for min(baseSeconds x 2^count, capSeconds) since its leader was created, count
// being how often it was recreated before.
//
// +kubebuilder:validation:XValidation:rule="!has(self.capSeconds) || self.capSeconds >= (has(self.baseSeconds) ? self.baseSeconds : 10)",message="must not be less than baseSeconds, which is 10 when absent",fieldPath=".capSeconds"
type RestartBackoff struct {
	// baseSeconds is the delay of the first recreation, in seconds. Absent, it is
	// 10.
	// +optional
	// +kubebuilder:validation:Minimum=1
	BaseSeconds *int32 `json:"baseSeconds,omitempty"`

	// capSeconds is the longest delay, in seconds; not less than baseSeconds.
	// Absent, it is 300, or baseSeconds if that is more.
	// +optional
	// +kubebuilder:validation:Minimum=1
	CapSeconds *int32 `json:"capSeconds,omitempty"`
}

// SubGroupPolicy divides each group into subgroups.
type SubGroupPolicy struct {
	// subGroupPolicyType is whether the leader belongs to a subgroup: LeaderWorker,
	// it is a member of subgroup 0 (one more than the others, if only size-1 can be
	// divided by subGroupSize), or LeaderExcluded, subgroups are made of workers
	// only. Defaults to LeaderWorker.
	// +optional
	// +kubebuilder:default=LeaderWorker
	Type *SubGroupPolicyType `json:"subGroupPolicyType,omitempty"`

	// subGroupSize is the number of pods of a subgroup: at most size, and a divisor
	// of size or of size-1; with LeaderExcluded a divisor of size-1. Immutable on a
	// LeaderWorkerSet.
	// +required
	// +kubebuilder:validation:Minimum=1
	SubGroupSize *int32 `json:"subGroupSize,omitempty"`

	// placementPolicy keeps other subgroups away from where a subgroup runs.
	// Absent, the annotation
	// leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology of the set is used.
	// A change starts a rollout.
	// +optional
	PlacementPolicy *PlacementPolicy `json:"placementPolicy,omitempty"`
}

// SubGroupPolicyType is whether the leader belongs to a subgroup.
// +kubebuilder:validation:Enum=LeaderWorker;LeaderExcluded
type SubGroupPolicyType string

const (
	// SubGroupPolicyTypeLeaderWorker counts the leader to subgroup 0.
	SubGroupPolicyTypeLeaderWorker SubGroupPolicyType = "LeaderWorker"

	// SubGroupPolicyTypeLeaderExcluded leaves the leader out of the subgroups.
	SubGroupPolicyTypeLeaderExcluded SubGroupPolicyType = "LeaderExcluded"
)

// PlacementPolicy keeps other groups, or other subgroups, away from where one
// runs.
//
// +kubebuilder:validation:XValidation:rule="self.type == 'None' || has(self.topology)",message="required unless type is None",fieldPath=".topology",reason=FieldValueRequired
type PlacementPolicy struct {
	// type is None, no such rule, or ExclusiveTopology, all pods in one domain of
	// the node label topology, and nobody else's there.
	// +required
	Type PlacementPolicyType `json:"type,omitempty"`

	// topology is the node label whose values are the domains, for example
	// cloud.google.com/gke-nodepool. Required unless type is None. The policy of
	// the group and that of its subgroups use different labels.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.indexOf('/') <= 253",message="must be a valid label key: the part before / has at most 253 characters"
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	Topology string `json:"topology,omitempty"`
}

// PlacementPolicyType is whether a group or subgroup has a domain for itself.
// +kubebuilder:validation:Enum=None;ExclusiveTopology
type PlacementPolicyType string

const (
	// NonePlacement is no rule.
	NonePlacement PlacementPolicyType = "None"

	// ExclusiveTopologyPlacement gives a group or subgroup a domain for itself.
	ExclusiveTopologyPlacement PlacementPolicyType = "ExclusiveTopology"
)
