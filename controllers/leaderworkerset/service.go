package leaderworkerset

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/revision"
)

// desiredService is the headless Service that gives the pods of all groups their
// host names. Pods that are not ready yet have to find their leader, so their
// addresses are published.
func desiredService(set *lwsv1.LeaderWorkerSet) *coreapply.ServiceApplyConfiguration {
	return coreapply.Service(identity.SharedServiceName(set.Name), set.Namespace).
		WithLabels(group.CopiedLabels(set)).
		WithLabels(identity.SetLabels(set.Name)).
		WithAnnotations(group.CopiedAnnotations(set)).
		WithOwnerReferences(ownerReference(set)).
		WithSpec(coreapply.ServiceSpec().
			WithClusterIP(corev1.ClusterIPNone).
			WithPublishNotReadyAddresses(true).
			WithSelector(identity.SetLabels(set.Name)))
}

// isServiceUsed says whether some group has, or may come back with, host names in
// the shared Service. A change of the policy is a rollout: until it is complete,
// groups of the current revision may be made again.
func isServiceUsed(seen *observation, update, current string) bool {
	if lwsv1.SubdomainPolicyOf(seen.Set.Spec.NetworkConfig) == lwsv1.SubdomainShared {
		return true
	}
	for _, g := range seen.Groups {
		if g.SharesService {
			return true
		}
	}
	return current != update && sharesService(seen.Revisions, current)
}

func sharesService(revisions []*appsv1.ControllerRevision, key string) bool {
	stored, found := revision.ByKey(revisions, key)
	if !found {
		return false
	}
	spec, err := revision.Restore(stored)
	return err == nil && lwsv1.SubdomainPolicyOf(&spec.NetworkConfig) == lwsv1.SubdomainShared
}
