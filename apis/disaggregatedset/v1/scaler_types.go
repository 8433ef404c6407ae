package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DisaggregatedSetRoleScaler is the handle by which the replicas of one role of a
// DisaggregatedSet are set from outside, with the scale subresource, by a
// HorizontalPodAutoscaler for example. disaggregatedset-manager creates one,
// named <set>-<role>, for each role with scaling mode External, and deletes it
// when the role no longer has that.
//
// +genclient
// +genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale
// +genclient:method=UpdateScale,verb=update,subresource=scale,input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=disaggregatedsetrolescalers,singular=disaggregatedsetrolescaler,shortName=dsrs
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`,description="Replicas that are wanted"
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.status.replicas`,description="Replicas that exist, of all revisions"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the set follows this scaler"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type DisaggregatedSetRoleScaler struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the role.
	// +optional
	// +kubebuilder:default={}
	Spec DisaggregatedSetRoleScalerSpec `json:"spec,omitzero"`

	// status is the observed state of the role. disaggregatedset-manager writes it.
	// +optional
	Status DisaggregatedSetRoleScalerStatus `json:"status,omitzero"`
}

// DisaggregatedSetRoleScalerList is a list of DisaggregatedSetRoleScalers.
//
// +kubebuilder:object:root=true
type DisaggregatedSetRoleScalerList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of a list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the DisaggregatedSetRoleScalers.
	// +required
	Items []DisaggregatedSetRoleScaler `json:"items"`
}

// DisaggregatedSetRoleScalerSpec is the desired state of a role.
type DisaggregatedSetRoleScalerSpec struct {
	// replicas is the number of groups of the role, over all slices of the set; the
	// manager spreads it evenly, at least one to each slice unless it is 0.
	// Defaults to 0, which the manager replaces by the number that runs when it
	// first sees the scaler.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`
}

// DisaggregatedSetRoleScalerStatus is the observed state of a role.
type DisaggregatedSetRoleScalerStatus struct {
	// conditions are Ready: the set follows this scaler.
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`

	// observedGeneration is the metadata.generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// replicas is the number of groups of the role, of all revisions and slices.
	// +optional
	Replicas int32 `json:"replicas"`

	// selector selects the leaders of the role, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`
}
