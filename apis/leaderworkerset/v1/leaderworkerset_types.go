package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LeaderWorkerSet runs a number of identical groups of pods. Each group has one
// leader pod and a fixed number of worker pods that are created, rolled out,
// restarted and deleted together: the unit of a model server or a training job
// that spans several nodes.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=leaderworkersets,singular=leaderworkerset,shortName=lws,categories=all
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.hpaPodSelector
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`,description="Groups that are ready"
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`,description="Groups that are wanted"
// +kubebuilder:printcolumn:name="Up-to-date",type=integer,JSONPath=`.status.updatedReplicas`,description="Groups of the update revision"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.summary`,description="Reason of the condition that matters now"
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.leaderWorkerTemplate.size`,priority=1,description="Pods of a group"
// +kubebuilder:printcolumn:name="Identity",type=string,JSONPath=`.spec.groupIdentity`,priority=1,description="How groups are named"
// +kubebuilder:printcolumn:name="Restarts",type=integer,JSONPath=`.status.groupRestarts`,priority=1,description="Recreations of groups that are counted"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type LeaderWorkerSet struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object. The name of a set is the
	// first part of the names of all its objects and of its pods' host names: it
	// is a DNS label that begins with a letter, and short enough for the names
	// that are made from it.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the set.
	// +required
	Spec LeaderWorkerSetSpec `json:"spec"`

	// status is the observed state of the set. lws-manager writes it.
	// +optional
	Status LeaderWorkerSetStatus `json:"status"`
}

// LeaderWorkerSetList is a list of LeaderWorkerSets.
//
// +kubebuilder:object:root=true
type LeaderWorkerSetList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of a list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the LeaderWorkerSets.
	// +required
	Items []LeaderWorkerSet `json:"items"`
}

// LeaderWorkerSetSpec is the desired state of a LeaderWorkerSet.
type LeaderWorkerSetSpec struct {
	// replicas is the number of groups. Each has leaderWorkerTemplate.size pods, so
	// the set has replicas x size pods; the product is at most 2147483647.
	// Defaults to 1. Can change at any time, also with the scale subresource and
	// so with a HorizontalPodAutoscaler, whose metrics are those of the leaders.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Replicas *int32 `json:"replicas,omitempty"`

	// leaderWorkerTemplate describes the pods of a group and what happens when
	// one of them fails. A change of what shapes pods starts a rollout.
	// +required
	LeaderWorkerTemplate LeaderWorkerTemplate `json:"leaderWorkerTemplate"`

	// rolloutStrategy is how groups are replaced when what shapes pods changes.
	// Can change at any time; a running rollout follows it.
	// +optional
	// +kubebuilder:default={}
	RolloutStrategy RolloutStrategy `json:"rolloutStrategy,omitzero"`

	// startupPolicy is when the workers of a group are created: LeaderCreated, as
	// soon as the leader is admitted, or LeaderReady, when the containers of the
	// leader are ready. Defaults to LeaderCreated. Can change at any time, without
	// a rollout; it holds for groups that start later.
	// +optional
	// +kubebuilder:default=LeaderCreated
	StartupPolicy StartupPolicyType `json:"startupPolicy,omitempty"`

	// networkConfig is how pods find each other by name. A change starts a rollout.
	// +optional
	// +kubebuilder:default={}
	NetworkConfig *NetworkConfig `json:"networkConfig,omitempty"`

	// groupIdentity is how groups are named: Ordinal, by an index from 0, as the
	// pods of a StatefulSet, or Hash, by a random key, as the pods of a
	// Deployment: then scaling down removes groups that are not ready first, and a
	// group that is replaced gets a new name. Hash excludes volumeClaimTemplates
	// and a partition. Defaults to Ordinal. Immutable on a LeaderWorkerSet.
	// +optional
	// +kubebuilder:default=Ordinal
	GroupIdentity GroupIdentityType `json:"groupIdentity,omitempty"`

	// groupReplacementPolicy is when the replacement of a group may start:
	// PostTermination, when no pod of the old group is left, or Immediate, at
	// once, beside the old group while that terminates; this needs spare capacity
	// and groupIdentity Hash. Defaults to PostTermination. Can change at any time,
	// without a rollout.
	// +optional
	// +kubebuilder:default=PostTermination
	GroupReplacementPolicy GroupReplacementPolicyType `json:"groupReplacementPolicy,omitempty"`

	// podTerminationPolicy is how the pods of a group end when the group is
	// deleted, scaled away or rolled out: Sequential, first the leader and, when it
	// is gone, the workers, or Parallel, all at once, which halves the time when
	// pods have long grace periods. Defaults to Sequential. Can change at any time,
	// without a rollout.
	// +optional
	// +kubebuilder:default=Sequential
	PodTerminationPolicy PodTerminationPolicyType `json:"podTerminationPolicy,omitempty"`

	// scheduling lets the scheduler place pods as gangs, all or none, with
	// workload-aware scheduling of Kubernetes (1.37 and later). It needs the
	// feature gate WorkloadAwareScheduling of lws-manager and the scheduler
	// provider kubernetes. Absent, pods are scheduled one by one; {} makes a gang
	// of each group. It can neither be added to nor removed from an existing
	// LeaderWorkerSet.
	// +optional
	Scheduling *LeaderWorkerSetScheduling `json:"scheduling,omitempty"`
}

// StartupPolicyType is when the workers of a group are created.
// +kubebuilder:validation:Enum=LeaderCreated;LeaderReady
type StartupPolicyType string

const (
	// LeaderCreatedStartupPolicy creates the workers as soon as the leader is admitted.
	LeaderCreatedStartupPolicy StartupPolicyType = "LeaderCreated"

	// LeaderReadyStartupPolicy creates the workers when the leader's containers are ready.
	LeaderReadyStartupPolicy StartupPolicyType = "LeaderReady"
)

// NetworkConfig is how the pods of a set find each other by name.
type NetworkConfig struct {
	// subdomainPolicy is the subdomain of the pods' host names: Shared, one
	// headless Service of the set's name for all groups, or UniquePerReplica, one
	// headless Service for each group, named as its leader. Defaults to Shared.
	// +optional
	// +kubebuilder:default=Shared
	SubdomainPolicy *SubdomainPolicy `json:"subdomainPolicy,omitempty"`
}

// SubdomainPolicy is which Service gives pods their subdomain.
// +kubebuilder:validation:Enum=Shared;UniquePerReplica
type SubdomainPolicy string

const (
	// SubdomainShared is one headless Service for the whole set.
	SubdomainShared SubdomainPolicy = "Shared"

	// SubdomainUniquePerReplica is one headless Service for each group.
	SubdomainUniquePerReplica SubdomainPolicy = "UniquePerReplica"
)

// GroupIdentityType defines how group identities are assigned.
// +kubebuilder:validation:Enum=Ordinal;Hash
type GroupIdentityType string

const (
	// OrdinalGroupIdentity names groups by an index from 0.
	OrdinalGroupIdentity GroupIdentityType = "Ordinal"

	// HashGroupIdentity names groups by a random key.
	HashGroupIdentity GroupIdentityType = "Hash"
)

// GroupReplacementPolicyType defines when a replacement group may start scheduling.
// +kubebuilder:validation:Enum=PostTermination;Immediate
type GroupReplacementPolicyType string

const (
	// PostTerminationGroupReplacement waits until nothing of the old group is left.
	PostTerminationGroupReplacement GroupReplacementPolicyType = "PostTermination"

	// ImmediateGroupReplacement waits for nothing.
	ImmediateGroupReplacement GroupReplacementPolicyType = "Immediate"
)

// PodTerminationPolicyType defines how the pods of a group end.
// +kubebuilder:validation:Enum=Sequential;Parallel
type PodTerminationPolicyType string

const (
	// SequentialPodTermination ends the leader first and then the workers.
	SequentialPodTermination PodTerminationPolicyType = "Sequential"

	// ParallelPodTermination ends all pods at once.
	ParallelPodTermination PodTerminationPolicyType = "Parallel"
)
