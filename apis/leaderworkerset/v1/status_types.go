package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LeaderWorkerSetStatus is the observed state of a LeaderWorkerSet. A count of
// replicas counts groups.
type LeaderWorkerSetStatus struct {
	// conditions are Available (all desired groups are ready and current),
	// Progressing (some desired group is not there yet), UpdateInProgress (a
	// rollout runs), Degraded (a group has spent its restart budget) and, with
	// spec.scheduling, WorkloadSchedulingCreated (all scheduling objects exist).
	// All of them are present from the first status on.
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`

	// observedGeneration is the metadata.generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// replicas is the number of groups that exist.
	// +optional
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of groups whose leader and workers are all ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// updatedReplicas is the number of groups of the update revision.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// unschedulableReplicas is the number of groups with a pod that the scheduler
	// tried and failed to place.
	// +optional
	UnschedulableReplicas int32 `json:"unschedulableReplicas,omitempty"`

	// groupRestarts is the number of recreations of the groups that exist, as far
	// as they are counted: with maxGroupRestarts or restartBackoff.
	// +optional
	GroupRestarts int32 `json:"groupRestarts,omitempty"`

	// hpaPodSelector selects the leaders, for the scale subresource.
	// +optional
	HPAPodSelector string `json:"hpaPodSelector,omitempty"`

	// currentRevision is the hash of the revision that groups below the partition
	// run, and all groups before a rollout.
	// +optional
	CurrentRevision string `json:"currentRevision,omitempty"`

	// updateRevision is the hash of the revision of the spec.
	// +optional
	UpdateRevision string `json:"updateRevision,omitempty"`

	// summary is the reason of the condition that matters now.
	// +optional
	Summary string `json:"summary,omitempty"`
}
