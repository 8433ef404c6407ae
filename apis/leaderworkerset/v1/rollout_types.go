package v1

import (
	"k8s.io/apimachinery/pkg/util/intstr"
)

// RolloutStrategy is how groups are replaced when what shapes pods changes.
type RolloutStrategy struct {
	// type is the kind of rollout. RollingUpdate is the only one. Defaults to
	// RollingUpdate.
	// +optional
	// +kubebuilder:default=RollingUpdate
	Type RolloutStrategyType `json:"type,omitempty"`

	// rollingUpdateConfiguration bounds a rolling update.
	// +optional
	// +kubebuilder:default={}
	RollingUpdateConfiguration *RollingUpdateConfiguration `json:"rollingUpdateConfiguration,omitempty"`
}

// RolloutStrategyType is the kind of rollout.
// +kubebuilder:validation:Enum=RollingUpdate
type RolloutStrategyType string

const (
	// RollingUpdateStrategyType replaces groups step by step within budgets.
	RollingUpdateStrategyType RolloutStrategyType = "RollingUpdate"
)

// RollingUpdateConfiguration bounds a rolling update. Its numbers count groups.
type RollingUpdateConfiguration struct {
	// partition keeps the groups with an index below it at the older revision, for
	// canaries: a rollout replaces groups from the highest index down to it. Absent
	// means 0, all groups. Needs groupIdentity Ordinal; in a role of a
	// DisaggregatedSet it is absent or 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Partition *int32 `json:"partition,omitempty"`

	// maxUnavailable is how many groups a rollout may take out of service at the
	// same time: a number, or a percentage of replicas that is rounded down.
	// Groups that are broken already do not count. Defaults to 1; absent in a role
	// of a DisaggregatedSet it means 0. It cannot be written as zero together with
	// maxSurge; when both come out as zero otherwise, it counts as 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) != int || self >= 0",message="must not be negative"
	// +kubebuilder:validation:MaxLength=4
	// +kubebuilder:validation:Pattern=`^(100|[1-9]?[0-9])%$`
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// maxSurge is how many groups a rollout may run above replicas: a number, or a
	// percentage of replicas that is rounded up; never more than replicas.
	// Defaults to 0; absent in a role of a DisaggregatedSet it means 1.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) != int || self >= 0",message="must not be negative"
	// +kubebuilder:validation:MaxLength=4
	// +kubebuilder:validation:Pattern=`^(100|[1-9]?[0-9])%$`
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`
}
