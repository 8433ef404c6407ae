package v1

import (
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
)

// LeaderWorkerSetScheduling is how the pods of a set are scheduled together. One
// of three levels is active: the set (the fields here), the replica, or the role
// (leader and worker of replica); the set and replica levels together with
// others need the feature gate CompositePodGroup. Without any, it is the replica
// level with a gang.
//
// +kubebuilder:validation:XValidation:rule="!has(self.schedulingPolicy) || !has(self.schedulingPolicy.gang) || !has(self.schedulingPolicy.gang.minGroupCount) || (has(self.replica) && (has(self.replica.schedulingPolicy) || (has(self.replica.schedulingConstraints) || has(self.replica.disruptionMode)) || has(self.replica.leader) || has(self.replica.worker)))",message="cannot be set unless replica, leader or worker have scheduling of their own",fieldPath=".schedulingPolicy.gang.minGroupCount",reason=FieldValueForbidden
type LeaderWorkerSetScheduling struct {
	// schedulingPolicy makes all pods of the set a gang (gang) or not (basic).
	// Omitted while another field of this level is set, it is basic. Where replica,
	// leader or worker have scheduling of their own, minGroupCount is how many
	// groups the scheduler places together, and by default replicas as it is when
	// the LeaderWorkerSet is created. The API server does not let it change, so it
	// does not follow replicas: a set that is to be scaled below it, and rebuild groups
	// then, needs an explicit one that is as low. Immutable on a LeaderWorkerSet.
	// +optional
	// +kubebuilder:validation:XValidation:rule="has(self.basic) != has(self.gang)",message="exactly one of basic and gang must be set"
	SchedulingPolicy *schedulingv1alpha3.WorkloadCompositePodGroupSchedulingPolicy `json:"schedulingPolicy,omitempty"`

	// schedulingConstraints places all pods of the set into one domain of a
	// topology. Immutable on a LeaderWorkerSet.
	// +optional
	SchedulingConstraints *schedulingv1alpha3.WorkloadCompositePodGroupSchedulingConstraints `json:"schedulingConstraints,omitempty"`

	// disruptionMode is whether preemption takes pods of the set one by one
	// (single) or together (all). Immutable on a LeaderWorkerSet.
	// +optional
	// +kubebuilder:validation:XValidation:rule="has(self.single) != has(self.all)",message="exactly one of single and all must be set"
	DisruptionMode *schedulingv1alpha3.WorkloadCompositePodGroupDisruptionMode `json:"disruptionMode,omitempty"`

	// replica is how the pods of one group are scheduled together.
	// +optional
	Replica *LeaderWorkerSetReplicaScheduling `json:"replica,omitempty"`
}

// LeaderWorkerSetReplicaScheduling is how the pods of one group are scheduled
// together.
//
// +kubebuilder:validation:XValidation:rule="!has(self.schedulingPolicy) || !has(self.schedulingPolicy.gang) || !has(self.schedulingPolicy.gang.minGroupCount) || has(self.leader) || has(self.worker)",message="cannot be set unless leader or worker have scheduling of their own",fieldPath=".schedulingPolicy.gang.minGroupCount",reason=FieldValueForbidden
type LeaderWorkerSetReplicaScheduling struct {
	// schedulingPolicy makes the pods of a group a gang (gang) or not (basic).
	// Omitted, it is gang. Immutable on a LeaderWorkerSet.
	// +optional
	// +kubebuilder:validation:XValidation:rule="has(self.basic) != has(self.gang)",message="exactly one of basic and gang must be set"
	SchedulingPolicy *schedulingv1alpha3.WorkloadCompositePodGroupSchedulingPolicy `json:"schedulingPolicy,omitempty"`

	// schedulingConstraints places the pods of a group into one domain of a
	// topology. Immutable on a LeaderWorkerSet.
	// +optional
	SchedulingConstraints *schedulingv1alpha3.WorkloadCompositePodGroupSchedulingConstraints `json:"schedulingConstraints,omitempty"`

	// disruptionMode is whether preemption takes pods of a group one by one
	// (single) or together (all). Immutable on a LeaderWorkerSet.
	// +optional
	// +kubebuilder:validation:XValidation:rule="has(self.single) != has(self.all)",message="exactly one of single and all must be set"
	DisruptionMode *schedulingv1alpha3.WorkloadCompositePodGroupDisruptionMode `json:"disruptionMode,omitempty"`

	// leader is how the leader of a group is scheduled. It needs a size of at
	// least 2. It can neither be added to nor removed from an existing
	// LeaderWorkerSet.
	// +optional
	Leader *LeaderWorkerSetLeaderScheduling `json:"leader,omitempty"`

	// worker is how the workers of a group are scheduled together. It needs a size
	// of at least 2. It can neither be added to nor removed from an existing
	// LeaderWorkerSet.
	// +optional
	Worker *LeaderWorkerSetWorkerScheduling `json:"worker,omitempty"`
}

// LeaderWorkerSetLeaderScheduling is how the leader of a group is scheduled.
//
// +kubebuilder:validation:XValidation:rule="!has(self.schedulingPolicy) || !has(self.schedulingPolicy.gang) || !has(self.schedulingPolicy.gang.minCount) || self.schedulingPolicy.gang.minCount == 1",message="must be 1 or absent: a group has one leader",fieldPath=".schedulingPolicy.gang.minCount"
type LeaderWorkerSetLeaderScheduling struct {
	// schedulingPolicy is gang or basic. A minCount of gang is 1. Omitted, it is
	// basic. Immutable on a LeaderWorkerSet.
	// +optional
	// +kubebuilder:validation:XValidation:rule="has(self.basic) != has(self.gang)",message="exactly one of basic and gang must be set"
	SchedulingPolicy *schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy `json:"schedulingPolicy,omitempty"`

	// schedulingConstraints places the leader into a domain of a topology.
	// Immutable on a LeaderWorkerSet.
	// +optional
	SchedulingConstraints *schedulingv1alpha3.WorkloadPodGroupSchedulingConstraints `json:"schedulingConstraints,omitempty"`

	// disruptionMode is single or all. Immutable on a LeaderWorkerSet.
	// +optional
	// +kubebuilder:validation:XValidation:rule="has(self.single) != has(self.all)",message="exactly one of single and all must be set"
	DisruptionMode *schedulingv1alpha3.WorkloadPodGroupDisruptionMode `json:"disruptionMode,omitempty"`

	// resourceClaims are the claims that belong to the leader's PodGroup; each is
	// also a claim of the leader's pod template, by the same name. At most 4.
	// Immutable on a LeaderWorkerSet.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:XValidation:rule="self.all(c, has(c.resourceClaimName) != has(c.resourceClaimTemplateName))",message="exactly one of resourceClaimName and resourceClaimTemplateName must be set"
	ResourceClaims []schedulingv1alpha3.WorkloadPodGroupResourceClaim `json:"resourceClaims,omitempty"`
}

// LeaderWorkerSetWorkerScheduling is how the workers of a group are scheduled
// together.
type LeaderWorkerSetWorkerScheduling struct {
	// schedulingPolicy makes the workers of a group a gang (gang) or not (basic). A
	// minCount of gang is size-1. Omitted, it is basic. Immutable on a
	// LeaderWorkerSet, but for minCount.
	// +optional
	// +kubebuilder:validation:XValidation:rule="has(self.basic) != has(self.gang)",message="exactly one of basic and gang must be set"
	SchedulingPolicy *schedulingv1alpha3.WorkloadPodGroupSchedulingPolicy `json:"schedulingPolicy,omitempty"`

	// schedulingConstraints places the workers of a group into one domain of a
	// topology. Immutable on a LeaderWorkerSet.
	// +optional
	SchedulingConstraints *schedulingv1alpha3.WorkloadPodGroupSchedulingConstraints `json:"schedulingConstraints,omitempty"`

	// disruptionMode is whether preemption takes workers of a group one by one
	// (single) or together (all). Immutable on a LeaderWorkerSet.
	// +optional
	// +kubebuilder:validation:XValidation:rule="has(self.single) != has(self.all)",message="exactly one of single and all must be set"
	DisruptionMode *schedulingv1alpha3.WorkloadPodGroupDisruptionMode `json:"disruptionMode,omitempty"`

	// resourceClaims are the claims that the workers of a group share; each is also
	// a claim of the worker's pod template, by the same name. At most 4. Immutable
	// on a LeaderWorkerSet.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:XValidation:rule="self.all(c, has(c.resourceClaimName) != has(c.resourceClaimTemplateName))",message="exactly one of resourceClaimName and resourceClaimTemplateName must be set"
	ResourceClaims []schedulingv1alpha3.WorkloadPodGroupResourceClaim `json:"resourceClaims,omitempty"`
}
