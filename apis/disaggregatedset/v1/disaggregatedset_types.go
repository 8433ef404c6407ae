package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// DisaggregatedSet runs 2 to 10 roles, for example prefill and decode of a
// disaggregated model server, as one unit: their revisions are rolled out
// together, in proportion, and no revision is ever without one of its roles.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=disaggregatedsets,singular=disaggregatedset,shortName=dset,categories=all
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Slices",type=integer,JSONPath=`.status.slices`,description="Copies of all roles"
// +kubebuilder:printcolumn:name="Roles",type=string,JSONPath=`.status.summary`,description="Ready and wanted replicas of each role"
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=`.status.currentRevision`,description="Revision that the roles run or go to"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.status=="True")].reason`,description="Reason of the condition that matters now"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label that begins with a letter: lower case letters, digits and -",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.spec.roles.all(r, [size(self.metadata.name) + size(r.name) + (self.spec.slices > 10 ? 13 : 12)].all(n, r.spec.groupIdentity == 'Hash' ? n <= (r.spec.leaderWorkerTemplate.size > 1 ? 43 : 54) : r.spec.leaderWorkerTemplate.size > 1 ? n <= 44 || (n <= 50 && r.spec.replicas + (!has(r.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge) ? [r.spec.replicas, 1].min() : type(r.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge) == int ? [r.spec.replicas, int(r.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge)].min() : r.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.matches('^(100|[1-9]?[0-9])%$') ? (r.spec.replicas * int(r.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.split('%')[0]) + 99) / 100 : 0) <= [1000000, 100000, 10000, 1000, 100, 10][n - 45]) : n <= 52))",message="metadata.name and the name of a role are too long for the names that are made from them: <set>-<slice>-<8 characters>-<role> has at most 52 characters with size 1, else 51 less the digits of the highest group index (replicas + maxSurge - 1); with groupIdentity Hash at most 54 with size 1, else 43",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule="self.spec.roles.all(r, [size(self.metadata.name) + size(r.name) + (self.spec.slices > 10 ? 13 : 12)].all(n, r.spec.groupIdentity == 'Hash' ? n <= (r.spec.leaderWorkerTemplate.size > 1 ? 43 : 54) : r.spec.leaderWorkerTemplate.size > 1 ? n <= 44 || (n <= 50 && r.spec.replicas + (!has(r.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge) ? [r.spec.replicas, 1].min() : type(r.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge) == int ? [r.spec.replicas, int(r.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge)].min() : r.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.matches('^(100|[1-9]?[0-9])%$') ? (r.spec.replicas * int(r.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.split('%')[0]) + 99) / 100 : 0) <= [1000000, 100000, 10000, 1000, 100, 10][n - 45]) : n <= 52) || ((self.spec.slices <= 10 || oldSelf.spec.slices > 10) && oldSelf.spec.roles.exists(o, o.name == r.name && r.spec.groupIdentity == o.spec.groupIdentity && (r.spec.leaderWorkerTemplate.size == 1 || o.spec.leaderWorkerTemplate.size > 1) && r.spec.replicas + (!has(r.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge) ? [r.spec.replicas, 1].min() : type(r.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge) == int ? [r.spec.replicas, int(r.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge)].min() : r.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.matches('^(100|[1-9]?[0-9])%$') ? (r.spec.replicas * int(r.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.split('%')[0]) + 99) / 100 : 0) <= o.spec.replicas + (!has(o.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge) ? [o.spec.replicas, 1].min() : type(o.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge) == int ? [o.spec.replicas, int(o.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge)].min() : o.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.matches('^(100|[1-9]?[0-9])%$') ? (o.spec.replicas * int(o.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.split('%')[0]) + 99) / 100 : 0))))",message="metadata.name and the name of a role are too long for the names that are made from them: <set>-<slice>-<8 characters>-<role> has at most 52 characters with size 1, else 51 less the digits of the highest group index (replicas + maxSurge - 1); with groupIdentity Hash at most 54 with size 1, else 43"
type DisaggregatedSet struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object. The name of a set is the
	// first part of the names of all its objects and of its pods' host names: it
	// is a DNS label that begins with a letter, and short enough for the names
	// that are made from it.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the set.
	// +required
	Spec DisaggregatedSetSpec `json:"spec"`

	// status is the observed state of the set. disaggregatedset-manager writes it.
	// +optional
	Status DisaggregatedSetStatus `json:"status,omitzero"`
}

// DisaggregatedSetList is a list of DisaggregatedSets.
//
// +kubebuilder:object:root=true
type DisaggregatedSetList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of a list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the DisaggregatedSets.
	// +required
	Items []DisaggregatedSet `json:"items"`
}

// DisaggregatedSetSpec is the desired state of a DisaggregatedSet.
//
// +kubebuilder:validation:XValidation:rule="self.roles.all(r, r.scaling.mode == 'External' || r.spec.replicas <= 0) || self.roles.all(r, r.scaling.mode == 'External' || r.spec.replicas != 0)",message="spec.replicas of all roles that are not scaled from outside must be 0, or all above 0",fieldPath=".roles"
// +kubebuilder:validation:XValidation:rule="!has(self.placementPolicy) || self.placementPolicy.type == 'None' || !self.roles.exists(r, (has(r.spec.leaderWorkerTemplate.placementPolicy) && r.spec.leaderWorkerTemplate.placementPolicy.type != 'None') || (has(r.spec.leaderWorkerTemplate.subGroupPolicy) && has(r.spec.leaderWorkerTemplate.subGroupPolicy.placementPolicy) && r.spec.leaderWorkerTemplate.subGroupPolicy.placementPolicy.type != 'None') || (has(r.metadata) && has(r.metadata.annotations) && 'leaderworkerset.sigs.k8s.io/exclusive-topology' in r.metadata.annotations) || (has(r.metadata) && has(r.metadata.annotations) && 'leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology' in r.metadata.annotations))",message="cannot be combined with exclusive placement of a role, by its placementPolicy or by annotation",fieldPath=".placementPolicy",reason=FieldValueForbidden
type DisaggregatedSetSpec struct {
	// roles are the kinds of groups that work together, 2 to 10, each a template of
	// a LeaderWorkerSet. Roles can be added, removed and changed: what shapes pods
	// starts a rollout of all roles. Either all roles that are not scaled from
	// outside have replicas 0, and the set is paused, or none has.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=10
	Roles []DisaggregatedRoleSpec `json:"roles,omitempty"`

	// slices is the number of copies of all roles, 1 to 100. Slices roll out on
	// their own and have their own Services. Defaults to 1. Can change at any time,
	// without a rollout; lowering it deletes the slices of the highest indices.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Slices *int32 `json:"slices,omitempty"`

	// placementPolicy keeps the pods of a slice together and away from others. A
	// change takes effect at the next rollout. It excludes exclusive placement of a
	// role, by its placementPolicy or by annotation.
	// +optional
	PlacementPolicy *PlacementPolicy `json:"placementPolicy,omitempty"`
}

// DisaggregatedRoleSpec defines the configuration for a disaggregated role: a
// name and the template of the role's LeaderWorkerSets, without a partition.
//
// +kubebuilder:validation:XValidation:rule="!has(self.spec.rolloutStrategy.rollingUpdateConfiguration.partition) || self.spec.rolloutStrategy.rollingUpdateConfiguration.partition <= 0 || self.spec.groupIdentity == 'Hash'",message="must be absent or 0 in a role: a revision is rolled out as a whole",fieldPath=".spec.rolloutStrategy.rollingUpdateConfiguration.partition",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!(has(self.spec.leaderWorkerTemplate.placementPolicy)) || !(has(self.metadata) && has(self.metadata.annotations) && 'leaderworkerset.sigs.k8s.io/exclusive-topology' in self.metadata.annotations) || (self.spec.leaderWorkerTemplate.placementPolicy.type == 'ExclusiveTopology' && has(self.spec.leaderWorkerTemplate.placementPolicy.topology) && self.metadata.annotations['leaderworkerset.sigs.k8s.io/exclusive-topology'] == self.spec.leaderWorkerTemplate.placementPolicy.topology)",message="disagrees with the annotation leaderworkerset.sigs.k8s.io/exclusive-topology of the role",fieldPath=".spec.leaderWorkerTemplate.placementPolicy"
// +kubebuilder:validation:XValidation:rule="!(has(self.spec.leaderWorkerTemplate.subGroupPolicy) && has(self.spec.leaderWorkerTemplate.subGroupPolicy.placementPolicy)) || !(has(self.metadata) && has(self.metadata.annotations) && 'leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology' in self.metadata.annotations) || (self.spec.leaderWorkerTemplate.subGroupPolicy.placementPolicy.type == 'ExclusiveTopology' && has(self.spec.leaderWorkerTemplate.subGroupPolicy.placementPolicy.topology) && self.metadata.annotations['leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology'] == self.spec.leaderWorkerTemplate.subGroupPolicy.placementPolicy.topology)",message="disagrees with the annotation leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology of the role",fieldPath=".spec.leaderWorkerTemplate.subGroupPolicy.placementPolicy"
type DisaggregatedRoleSpec struct {
	// name is the unique identifier of the role: a DNS label. It is part of the
	// names of the role's objects.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// scaling is where the number of replicas of the role comes from.
	// +optional
	// +kubebuilder:default={}
	Scaling *RoleScaling `json:"scaling,omitempty"`

	lwsv1.LeaderWorkerSetTemplateSpec `json:",inline"`
}

// RoleScaling is where the number of replicas of a role comes from.
type RoleScaling struct {
	// mode is Static, the number is spec.replicas of the role, or External, it is
	// spec.replicas of the DisaggregatedSetRoleScaler <set>-<role>, which the
	// manager creates and a HorizontalPodAutoscaler can scale. Defaults to Static.
	// Can change at any time; a role that becomes External keeps what runs.
	// +optional
	// +kubebuilder:default=Static
	Mode RoleScalingMode `json:"mode,omitempty"`
}

// RoleScalingMode is where the number of replicas of a role comes from.
// +kubebuilder:validation:Enum=Static;External
type RoleScalingMode string

const (
	// StaticRoleScaling takes the number from the role.
	StaticRoleScaling RoleScalingMode = "Static"

	// ExternalRoleScaling takes the number from the role's scaler.
	ExternalRoleScaling RoleScalingMode = "External"
)

// PlacementPolicy keeps the pods of a slice together and away from others.
//
// +kubebuilder:validation:XValidation:rule="self.type == 'None' || has(self.topology)",message="required unless type is None",fieldPath=".topology",reason=FieldValueRequired
type PlacementPolicy struct {
	// type is None, no such rule; ExclusiveSlice, all roles of a slice share one
	// domain of the node label topology and slices of this set are in different
	// ones; or ExclusiveTopology, besides, no slice of another DisaggregatedSet is
	// in the domain. Defaults to None.
	// +optional
	// +kubebuilder:default=None
	Type PlacementPolicyType `json:"type,omitempty"`

	// topology is the node label whose values are the domains. Required unless type
	// is None.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.indexOf('/') <= 253",message="must be a valid label key: the part before / has at most 253 characters"
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	Topology string `json:"topology,omitempty"`
}

// PlacementPolicyType is what a slice has for itself.
// +kubebuilder:validation:Enum=None;ExclusiveSlice;ExclusiveTopology
type PlacementPolicyType string

const (
	// NonePlacement is no rule.
	NonePlacement PlacementPolicyType = "None"

	// ExclusiveSlicePlacement keeps slices of the same set apart.
	ExclusiveSlicePlacement PlacementPolicyType = "ExclusiveSlice"

	// ExclusiveTopologyPlacement keeps slices of all sets apart.
	ExclusiveTopologyPlacement PlacementPolicyType = "ExclusiveTopology"
)
