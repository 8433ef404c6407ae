package leaderworkerset

import (
	"encoding/json"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// desiredStatefulSet is the StatefulSet of the leaders, with the pod template of
// the update revision and the rollout as planned.
func desiredStatefulSet(
	set *lwsv1.LeaderWorkerSet, key string, template *coreapply.PodTemplateSpecApplyConfiguration, spec rollout.Spec,
) (*appsapply.StatefulSetApplyConfiguration, error) {
	claims, err := claimTemplates(set.Spec.LeaderWorkerTemplate.VolumeClaimTemplates)
	if err != nil {
		return nil, err
	}
	desired := appsapply.StatefulSet(identity.LeaderStatefulSetName(set.Name), set.Namespace).
		WithLabels(group.CopiedLabels(set)).
		WithLabels(identity.LeaderStatefulSetLabels(set.Name, key)).
		WithAnnotations(group.CopiedAnnotations(set)).
		WithAnnotations(rolloutAnnotations(set, spec)).
		WithOwnerReferences(ownerReference(set)).
		WithSpec(appsapply.StatefulSetSpec().
			WithReplicas(int32(spec.Replicas)).
			WithServiceName(identity.SharedServiceName(set.Name)).
			WithPodManagementPolicy(appsv1.ParallelPodManagement).
			WithSelector(metaapply.LabelSelector().WithMatchLabels(identity.LeaderSelector(set.Name))).
			WithUpdateStrategy(updateStrategy(spec)).
			WithTemplate(template).
			WithPersistentVolumeClaimRetentionPolicy(retentionPolicy(set)))
	desired.Spec.VolumeClaimTemplates = claims
	return desired, nil
}

// leaderTemplate is the pod template of the set's leaders as the spec has it now.
func leaderTemplate(set *lwsv1.LeaderWorkerSet, key string) (*coreapply.PodTemplateSpecApplyConfiguration, error) {
	template := &set.Spec.LeaderWorkerTemplate
	return podspec.ApplyConfiguration(podspec.LeaderPodTemplate(podspec.Revision{
		Set:       set.Name,
		Key:       key,
		Template:  template,
		Network:   set.Spec.NetworkConfig,
		Placement: podspec.PlacementOf(set.Annotations, template),
		Hash:      lwsv1.GroupIdentity(set) == lwsv1.HashGroupIdentity,
	}))
}

// updateStrategy always writes the partition: absent, it is not defaulted, and a
// StatefulSet controller with its maxUnavailable on would delete gated pods for ever.
func updateStrategy(spec rollout.Spec) *appsapply.StatefulSetUpdateStrategyApplyConfiguration {
	if spec.OnDelete {
		return appsapply.StatefulSetUpdateStrategy().WithType(appsv1.OnDeleteStatefulSetStrategyType)
	}
	return appsapply.StatefulSetUpdateStrategy().
		WithType(appsv1.RollingUpdateStatefulSetStrategyType).
		WithRollingUpdate(appsapply.RollingUpdateStatefulSetStrategy().WithPartition(int32(spec.Partition)))
}

// retentionPolicy is written also when the set has none, as the default, so that
// a policy that was taken back is noticed.
func retentionPolicy(set *lwsv1.LeaderWorkerSet) *appsapply.StatefulSetPersistentVolumeClaimRetentionPolicyApplyConfiguration {
	deleted, scaled := appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	if policy := set.Spec.LeaderWorkerTemplate.PersistentVolumeClaimRetentionPolicy; policy != nil {
		if policy.WhenDeleted != "" {
			deleted = policy.WhenDeleted
		}
		if policy.WhenScaled != "" {
			scaled = policy.WhenScaled
		}
	}
	return appsapply.StatefulSetPersistentVolumeClaimRetentionPolicy().WithWhenDeleted(deleted).WithWhenScaled(scaled)
}

// claimTemplates keeps every field of the claims but their status, which a
// StatefulSet fills in itself.
func claimTemplates(claims []corev1.PersistentVolumeClaim) ([]coreapply.PersistentVolumeClaimApplyConfiguration, error) {
	var templates []coreapply.PersistentVolumeClaimApplyConfiguration
	for i := range claims {
		encoded, err := json.Marshal(&claims[i])
		if err != nil {
			return nil, fmt.Errorf("volumeClaimTemplates[%d]: %w", i, err)
		}
		template := coreapply.PersistentVolumeClaimApplyConfiguration{}
		if err := json.Unmarshal(encoded, &template); err != nil {
			return nil, fmt.Errorf("volumeClaimTemplates[%d]: %w", i, err)
		}
		template.Status = nil
		templates = append(templates, template)
	}
	return templates, nil
}

func rolloutAnnotations(set *lwsv1.LeaderWorkerSet, spec rollout.Spec) map[string]string {
	annotations := map[string]string{
		lwsv1.ReplicasAnnotationKey: strconv.Itoa(int(lwsv1.Replicas(set))),
	}
	if spec.Rolling {
		annotations[lwsv1.RolloutBaselineAnnotationKey] = strconv.Itoa(spec.Baseline)
	}
	return annotations
}

// observedSpec reads back what desiredStatefulSet wrote, or an earlier release.
func observedSpec(leaders *appsv1.StatefulSet) rollout.Spec {
	spec := rollout.Spec{Replicas: 1, OnDelete: leaders.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType}
	if leaders.Spec.Replicas != nil {
		spec.Replicas = int(*leaders.Spec.Replicas)
	}
	if desired, ok := number(leaders, lwsv1.ReplicasAnnotationKey); ok {
		spec.Surge = max(0, spec.Replicas-desired)
	}
	if rolling := leaders.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil && !spec.OnDelete {
		spec.Partition = int(*rolling.Partition)
	}
	spec.Baseline, spec.Rolling = number(leaders, lwsv1.RolloutBaselineAnnotationKey)
	return spec
}

// number reads a count from an annotation; one that is no count is absent.
func number(leaders *appsv1.StatefulSet, annotation string) (int, bool) {
	value, err := strconv.ParseUint(leaders.Annotations[annotation], 10, 31)
	return int(value), err == nil
}
