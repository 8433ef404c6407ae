package scheduling

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-helpers/scheduling/schedulingv1/workloadbuilder"
	"k8s.io/utils/ptr"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Validate says what is wrong with the scheduling of a set. What the set was stored
// with before, old, does not hinder an update; old is nil for a new set.
func (k *Kubernetes) Validate(ctx context.Context, old, set *lwsv1.LeaderWorkerSet) field.ErrorList {
	if set.Spec.Scheduling == nil {
		return nil
	}
	if old != nil && (old.Spec.Scheduling == nil || len(k.errors(ctx, old)) > 0) {
		return nil
	}
	if problem := k.Unavailable(set); problem != nil && old == nil {
		return field.ErrorList{field.Forbidden(schedulingPath, problem.Message)}
	}
	return k.errors(ctx, set)
}

// errors are those that CEL cannot see.
func (k *Kubernetes) errors(ctx context.Context, set *lwsv1.LeaderWorkerSet) field.ErrorList {
	if errs := append(k.levelErrors(set), delegationErrors(set)...); len(errs) > 0 {
		return errs
	}
	var errs field.ErrorList
	for _, tree := range trees(set, CountsOf(set)) {
		errs = append(errs, builderOf(set, tree).Validate(ctx, workloadbuilder.ValidationInput{})...)
	}
	errs = append(errs, claimErrors(set)...)
	return append(errs, placementErrors(set)...)
}

// levelErrors: without groups of groups there is one level.
func (k *Kubernetes) levelErrors(set *lwsv1.LeaderWorkerSet) field.ErrorList {
	levels := levelsOf(set.Spec.Scheduling)
	if k.composite || len(levels) == 1 {
		return nil
	}
	var errs field.ErrorList
	for _, level := range levels[1:] {
		errs = append(errs, field.Forbidden(pathOf(set.Spec.Scheduling, level), fmt.Sprintf(
			"the level %s is active already; several levels need the feature gate CompositePodGroup, which is off", levels[0])))
	}
	return errs
}

// pathOf is the field that makes a level active.
func pathOf(s *lwsv1.LeaderWorkerSetScheduling, level Level) *field.Path {
	path := schedulingPath.Child("replica")
	switch {
	case level == LevelSet:
		return schedulingPath
	case level == LevelReplica:
		return path
	case s.Replica.Leader != nil:
		return path.Child(roleLeader)
	}
	return path.Child(roleWorker)
}

// claimErrors: a claim of a PodGroup is used only by a claim of a pod that is equal
// in all fields.
func claimErrors(set *lwsv1.LeaderWorkerSet) field.ErrorList {
	replica := set.Spec.Scheduling.Replica
	if replica == nil {
		return nil
	}
	template := &set.Spec.LeaderWorkerTemplate
	path := schedulingPath.Child("replica")
	var errs field.ErrorList
	if replica.Leader != nil {
		errs = append(errs, unmatchedClaims(replica.Leader.ResourceClaims,
			lwsv1.LeaderTemplate(template).Spec.ResourceClaims, path.Child(roleLeader, claimsField))...)
	}
	if replica.Worker != nil {
		errs = append(errs, unmatchedClaims(replica.Worker.ResourceClaims,
			template.WorkerTemplate.Spec.ResourceClaims, path.Child(roleWorker, claimsField))...)
	}
	return errs
}

func unmatchedClaims(
	claims []schedulingv1alpha3.WorkloadPodGroupResourceClaim, ofPods []corev1.PodResourceClaim, path *field.Path,
) field.ErrorList {
	var errs field.ErrorList
	for i, claim := range claims {
		matches := func(pods corev1.PodResourceClaim) bool {
			return pods.Name == claim.Name && ptr.Equal(pods.ResourceClaimName, claim.ResourceClaimName) &&
				ptr.Equal(pods.ResourceClaimTemplateName, claim.ResourceClaimTemplateName)
		}
		if !slices.ContainsFunc(ofPods, matches) {
			errs = append(errs, field.Invalid(path.Index(i), claim.Name,
				"no claim of the pod template has this name and the same source"))
		}
	}
	return errs
}

// placementErrors are about placement annotations; CEL sees placement policies.
func placementErrors(set *lwsv1.LeaderWorkerSet) field.ErrorList {
	template := &set.Spec.LeaderWorkerTemplate
	isExclusive := template.PlacementPolicy == nil && lwsv1.GroupTopology(set.Annotations, template) != "" ||
		template.SubGroupPolicy != nil && template.SubGroupPolicy.PlacementPolicy == nil &&
			lwsv1.SubGroupTopology(set.Annotations, template) != ""
	if !isExclusive || !placesTogether(set) {
		return nil
	}
	return field.ErrorList{field.Forbidden(schedulingPath, "a gang or a topology cannot be combined with exclusive placement")}
}

// placesTogether: some pods are a gang, or in one topology domain.
func placesTogether(set *lwsv1.LeaderWorkerSet) bool {
	workload, err := compile(set, CountsOf(set))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(workload.Spec.PodGroupTemplates, isTogether) ||
		slices.ContainsFunc(workload.Spec.CompositePodGroupTemplates, areTogether)
}

func isTogether(t schedulingv1beta1.PodGroupTemplate) bool {
	return t.SchedulingPolicy.Gang != nil || t.SchedulingConstraints != nil
}

func areTogether(t schedulingv1beta1.CompositePodGroupTemplate) bool {
	return t.SchedulingPolicy.Gang != nil || t.SchedulingConstraints != nil ||
		slices.ContainsFunc(t.PodGroupTemplates, isTogether) || slices.ContainsFunc(t.CompositePodGroupTemplates, areTogether)
}
