package leaderworkerset

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// setKind is the kind of the owner of a set's objects.
var setKind = lwsv1.GroupVersion.WithKind(lwsv1.Kind)

// claim is what an object of a name that a set needs is to the set. It decides
// every write and every delete.
type claim int

const (
	// claimAbsent: there is no such object as far as the cache sees.
	claimAbsent claim = iota
	// claimOurs: the set is its controller.
	claimOurs
	// claimLeftover: it has our labels and no controller, as after a deletion with
	// orphan propagation. The set takes it over.
	claimLeftover
	// claimLeaving: it is being deleted, or belongs to a deleted set of the same
	// name and so will be. The set waits.
	claimLeaving
	// claimForeign: somebody else's. The set leaves it alone.
	claimForeign
)

// claimOf decides what an object is to the set; obj is nil when there is none.
func claimOf(set *lwsv1.LeaderWorkerSet, obj metav1.Object) claim {
	if obj == nil {
		return claimAbsent
	}
	owner := metav1.GetControllerOf(obj)
	switch {
	case owner == nil && obj.GetLabels()[lwsv1.SetNameLabelKey] != set.Name:
		return claimForeign
	case owner != nil && !isSetReference(owner, set.Name):
		return claimForeign
	case obj.GetDeletionTimestamp() != nil:
		return claimLeaving
	case owner == nil:
		return claimLeftover
	case owner.UID != set.UID:
		return claimLeaving
	default:
		return claimOurs
	}
}

// claimOfStatefulSet is the claim to the leader StatefulSet.
func claimOfStatefulSet(set *lwsv1.LeaderWorkerSet, statefulSet *appsv1.StatefulSet) claim {
	if statefulSet == nil {
		return claimAbsent
	}
	return claimOfMaker(set, statefulSet, statefulSet.Spec.Selector)
}

// claimOfDeployment is the claim to the leader Deployment.
func claimOfDeployment(set *lwsv1.LeaderWorkerSet, deployment *appsv1.Deployment) claim {
	if deployment == nil {
		return claimAbsent
	}
	return claimOfMaker(set, deployment, deployment.Spec.Selector)
}

// claimOfMaker is claimOf for what makes leaders: a leftover whose selector is not ours,
// which cannot be changed, can never carry our leaders.
func claimOfMaker(set *lwsv1.LeaderWorkerSet, maker metav1.Object, selector *metav1.LabelSelector) claim {
	c := claimOf(set, maker)
	if c == claimLeftover && !selects(selector, identity.LeaderSelector(set.Name)) {
		return claimForeign
	}
	return c
}

func claimOfService(set *lwsv1.LeaderWorkerSet, service *corev1.Service) claim {
	if service == nil {
		return claimAbsent
	}
	return claimOf(set, service)
}

func selects(selector *metav1.LabelSelector, labels map[string]string) bool {
	return selector != nil && len(selector.MatchExpressions) == 0 && maps.Equal(selector.MatchLabels, labels)
}

// isSetReference says whether an owner is a set of the given name, this one or a
// predecessor.
func isSetReference(owner *metav1.OwnerReference, name string) bool {
	version, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && version.Group == setKind.Group && owner.Kind == setKind.Kind && owner.Name == name
}

// isControlledBy says whether an object's controller is the given object.
func isControlledBy(obj, controller metav1.Object) bool {
	owner := metav1.GetControllerOf(obj)
	return owner != nil && owner.UID == controller.GetUID()
}

// ownerReference makes the set the controller of an object.
func ownerReference(set *lwsv1.LeaderWorkerSet) *metaapply.OwnerReferenceApplyConfiguration {
	return metaapply.OwnerReference().
		WithAPIVersion(setKind.GroupVersion().String()).
		WithKind(setKind.Kind).
		WithName(set.Name).
		WithUID(set.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}

// describeOwner names the controller of an object for messages.
func describeOwner(obj metav1.Object) string {
	owner := metav1.GetControllerOf(obj)
	if owner == nil {
		return "nobody as its controller"
	}
	return fmt.Sprintf("%s %s as its controller", owner.Kind, owner.Name)
}
