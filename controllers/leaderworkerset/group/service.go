package group

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// ownService is what decisions have to know of the Service of one group, which there
// is with the subdomain policy UniquePerReplica.
type ownService struct {
	UID       types.UID
	Owner     owner
	Deleting  bool
	AsDesired bool
}

// serviceVerdict is what is done about the Service of a group.
type serviceVerdict string

const (
	serviceKeep     serviceVerdict = "Keep"
	serviceCreate   serviceVerdict = "Create"
	serviceApply    serviceVerdict = "Apply" // it differs from what it has to be
	serviceWait     serviceVerdict = "Wait"  // one that is going has the name
	serviceDelete   serviceVerdict = "Delete"
	serviceConflict serviceVerdict = "Conflict"
)

// isPredecessors: the Service is a predecessor's, and goes before the leader is admitted.
func (v serviceVerdict) isPredecessors() bool {
	return v == serviceWait || v == serviceDelete
}

// decideService decides about the Service of a leader's group. A predecessor's is
// deleted: changing its owner would race with garbage collection.
func decideService(l *leader, s *ownService) serviceVerdict {
	switch {
	case !l.OwnService:
		return serviceKeep
	case s == nil:
		return serviceCreate
	case s.Deleting:
		return serviceWait
	case s.Owner == owner{}:
		return serviceApply
	case s.Owner.Kind != kindPod:
		return serviceConflict
	case s.Owner.UID != l.UID:
		return serviceDelete
	case !s.AsDesired:
		return serviceApply
	}
	return serviceKeep
}

// desiredService is the headless Service of one group. It has no label of the
// group: what selects Services by the labels of groups would take it for a worker.
func desiredService(group identity.Group, set *lwsv1.LeaderWorkerSet, leaderPod *corev1.Pod) *coreapply.ServiceApplyConfiguration {
	return coreapply.Service(group.Name(), group.Namespace).
		WithLabels(CopiedLabels(set)).
		WithLabels(identity.SetLabels(group.Set)).
		WithAnnotations(CopiedAnnotations(set)).
		WithOwnerReferences(ownerOf(podKind, leaderPod)).
		WithSpec(coreapply.ServiceSpec().
			WithClusterIP(corev1.ClusterIPNone).
			WithPublishNotReadyAddresses(true).
			WithSelector(group.ServiceSelector()))
}

// isServiceAsDesired leaves the set's own labels and annotations out: they reach it
// with its next write.
func isServiceAsDesired(group identity.Group, s *corev1.Service) bool {
	return s.Labels[lwsv1.SetNameLabelKey] == group.Set &&
		s.Spec.PublishNotReadyAddresses &&
		s.Spec.ClusterIP == corev1.ClusterIPNone &&
		maps.Equal(s.Spec.Selector, group.ServiceSelector())
}
