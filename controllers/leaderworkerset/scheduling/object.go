package scheduling

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kind is a kind of scheduling objects.
type Kind struct {
	schema.GroupVersionKind

	// New and NewList make an empty object, and an empty list.
	New     func() client.Object
	NewList func() client.ObjectList
	// PerGroup: groups have such objects. Otherwise only sets do.
	PerGroup bool
	// Parents: objects of other controllers are read as well, that sets may be part of.
	Parents bool
}

// Problem is why scheduling objects are not there: reason and message as they are to
// appear in the condition WorkloadSchedulingCreated.
type Problem struct {
	Reason  string
	Message string
	// Unread: nobody knows yet. What was found before may still hold.
	Unread bool
}

// Ref names a scheduling object, or says whose it is.
type Ref struct {
	Kind schema.GroupVersionKind
	Name string
	// Controller is the UID of the controller of an object whose name is not known.
	Controller types.UID
}

// String is for messages.
func (r Ref) String() string {
	if r.Name == "" {
		return "the " + r.Kind.Kind + " of the set's owner"
	}
	return r.Kind.Kind + " " + r.Name
}

// RefOf names an object that says its kind.
func RefOf(obj client.Object) Ref {
	return Ref{Kind: obj.GetObjectKind().GroupVersionKind(), Name: obj.GetName()}
}
