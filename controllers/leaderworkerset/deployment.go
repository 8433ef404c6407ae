package leaderworkerset

import (
	"math"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// noProgressDeadline switches a Deployment's deadline off: how far the set is says the
// set's status, and a group may take as long as it needs.
const noProgressDeadline = math.MaxInt32

// desiredDeployment is the Deployment of the leaders, with the pod template of the
// update revision.
func desiredDeployment(
	set *lwsv1.LeaderWorkerSet, key string, template *coreapply.PodTemplateSpecApplyConfiguration,
) *appsapply.DeploymentApplyConfiguration {
	budget := lwsv1.Budget(set)
	return appsapply.Deployment(identity.LeaderDeploymentName(set.Name), set.Namespace).
		WithLabels(group.CopiedLabels(set)).
		WithLabels(identity.LeaderStatefulSetLabels(set.Name, key)).
		WithAnnotations(group.CopiedAnnotations(set)).
		WithOwnerReferences(ownerReference(set)).
		WithSpec(appsapply.DeploymentSpec().
			WithReplicas(lwsv1.Replicas(set)).
			WithSelector(metaapply.LabelSelector().WithMatchLabels(identity.LeaderSelector(set.Name))).
			WithProgressDeadlineSeconds(noProgressDeadline).
			WithStrategy(appsapply.DeploymentStrategy().
				WithType(appsv1.RollingUpdateDeploymentStrategyType).
				WithRollingUpdate(appsapply.RollingUpdateDeployment().
					WithMaxSurge(intstr.FromInt32(budget.MaxSurge)).
					WithMaxUnavailable(intstr.FromInt32(budget.MaxUnavailable)))).
			WithTemplate(template))
}
