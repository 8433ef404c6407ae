package disaggregatedset

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
)

// claim is what an object is to a set. It decides every write and every delete.
type claim int

const (
	// claimOurs: the set is its controller.
	claimOurs claim = iota
	// claimLeftover: it carries the set's labels and no controller, as after a
	// deletion that orphans. The set takes it over.
	claimLeftover
	// claimLeaving: it is being deleted, or belongs to a deleted set of the same
	// name and so will be. The set waits.
	claimLeaving
	// claimForeign: somebody else's. The set leaves it alone.
	claimForeign
)

func claimOf(set *dsv1.DisaggregatedSet, kind string, obj metav1.Object) claim {
	owner := metav1.GetControllerOf(obj)
	switch {
	case owner != nil && !isSetReference(owner, set.Name):
		return claimForeign
	case owner == nil && !mayTakeOver(set, kind, obj):
		return claimForeign
	case obj.GetDeletionTimestamp() != nil:
		return claimLeaving
	case owner == nil:
		return claimLeftover
	case owner.UID != set.UID:
		return claimLeaving
	}
	return claimOurs
}

// mayTakeOver says whether an object without a controller is the set's to have: it
// says so itself, or it is of a kind that only sets use.
func mayTakeOver(set *dsv1.DisaggregatedSet, kind string, obj metav1.Object) bool {
	return kind == scalerKind || identity.SetOf(obj.GetLabels()) == set.Name
}

func isSetReference(owner *metav1.OwnerReference, name string) bool {
	version, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && version.Group == dsv1.GroupName && owner.Kind == dsv1.Kind && owner.Name == name
}

func describeOwner(obj metav1.Object) string {
	owner := metav1.GetControllerOf(obj)
	if owner == nil {
		return "without a controller"
	}
	return fmt.Sprintf("controlled by %s %s", owner.Kind, owner.Name)
}
