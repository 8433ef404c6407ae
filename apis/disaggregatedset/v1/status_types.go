package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DisaggregatedSetStatus is the observed state of a DisaggregatedSet.
type DisaggregatedSetStatus struct {
	// conditions are Degraded (a LeaderWorkerSet below is Degraded), Available (every
	// role is at its target, ready and of the current revision in every slice, and
	// no old revision is left) and Progressing (that is not so), in this order.
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`

	// observedGeneration is the metadata.generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// roleStatuses are the counts of each role, in the order of spec.roles.
	// +optional
	// +listType=map
	// +listMapKey=name
	RoleStatuses []RoleStatus `json:"roleStatuses,omitempty"`

	// currentRevision is the hash of the revision of the spec.
	// +optional
	CurrentRevision string `json:"currentRevision,omitempty"`

	// slices is the number of slices that exist.
	// +optional
	Slices int32 `json:"slices"`

	// updatedSlices is the number of slices that run the current revision only.
	// +optional
	UpdatedSlices int32 `json:"updatedSlices"`

	// readySlices is the number of slices whose roles are all at their targets and
	// ready.
	// +optional
	ReadySlices int32 `json:"readySlices"`

	// summary is, for each role, its name and its ready and wanted replicas, for
	// example "prefill 3/3 decode 2/2".
	// +optional
	Summary string `json:"summary,omitempty"`
}

// RoleStatus are the counts of a role, over all slices.
type RoleStatus struct {
	// name is the name of the role.
	// +required
	Name string `json:"name"`

	// replicas is the number of groups of all revisions.
	// +optional
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of ready groups of all revisions.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// updatedReplicas is the number of groups of the current revision.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`
}
