package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of DisaggregatedSet.
const GroupName = "disaggregatedset.x-k8s.io"

const (
	// Kind is the kind of a DisaggregatedSet.
	Kind = "DisaggregatedSet"

	// RoleScalerKind is the kind of a DisaggregatedSetRoleScaler.
	RoleScalerKind = "DisaggregatedSetRoleScaler"
)

var (
	// GroupVersion is the group and version of the types of this package.
	GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

	// SchemeGroupVersion is GroupVersion under the name that generated clients use.
	SchemeGroupVersion = GroupVersion

	// SchemeBuilder collects the functions that add the types to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds the types of this package to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

// GroupKind returns the group and kind of a kind of this group.
func GroupKind(kind string) schema.GroupKind {
	return GroupVersion.WithKind(kind).GroupKind()
}

// Resource returns the group and resource of a resource of this group.
func Resource(resource string) schema.GroupResource {
	return GroupVersion.WithResource(resource).GroupResource()
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&DisaggregatedSet{}, &DisaggregatedSetList{},
		&DisaggregatedSetRoleScaler{}, &DisaggregatedSetRoleScalerList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
