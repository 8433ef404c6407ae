package webhook

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// placementLevel is one of the two levels of exclusive placement, which a set can
// ask for by an annotation or by a field.
type placementLevel struct {
	annotation string
	path       *field.Path
	policy     func(*lwsv1.LeaderWorkerTemplate) *lwsv1.PlacementPolicy
}

func templatePath() *field.Path {
	return field.NewPath("spec", "leaderWorkerTemplate")
}

func placementLevels() []placementLevel {
	return []placementLevel{
		{
			annotation: lwsv1.ExclusiveTopologyAnnotationKey,
			path:       templatePath().Child("placementPolicy"),
			policy: func(template *lwsv1.LeaderWorkerTemplate) *lwsv1.PlacementPolicy {
				return template.PlacementPolicy
			},
		},
		{
			annotation: lwsv1.SubGroupExclusiveTopologyAnnotationKey,
			path:       templatePath().Child("subGroupPolicy", "placementPolicy"),
			policy: func(template *lwsv1.LeaderWorkerTemplate) *lwsv1.PlacementPolicy {
				if template.SubGroupPolicy == nil {
					return nil
				}
				return template.SubGroupPolicy.PlacementPolicy
			},
		},
	}
}

func annotationPath(key string) *field.Path {
	return field.NewPath("metadata", "annotations").Key(key)
}

// placementAnnotationErrors: the value of an annotation is a node label. An empty
// annotation is none.
func placementAnnotationErrors(set *lwsv1.LeaderWorkerSet) field.ErrorList {
	var errors field.ErrorList
	for _, level := range placementLevels() {
		value := set.Annotations[level.annotation]
		if value == "" {
			continue
		}
		if problems := validation.IsQualifiedName(value); len(problems) > 0 {
			errors = append(errors, field.Invalid(annotationPath(level.annotation), value,
				"must be a valid label key: "+strings.Join(problems, "; ")))
		}
	}
	return errors
}

// placementAnnotationChanges: these annotations shape pods but are in no revision,
// so a change could not be rolled out.
func placementAnnotationChanges(old, set *lwsv1.LeaderWorkerSet) field.ErrorList {
	var errors field.ErrorList
	for _, level := range placementLevels() {
		before, after := old.Annotations[level.annotation], set.Annotations[level.annotation]
		if before != after {
			errors = append(errors, field.Forbidden(annotationPath(level.annotation), fmt.Sprintf(
				"may not change from %q to %q on an existing set, whose pods are placed by it; %s can change",
				before, after, level.path)))
		}
	}
	return errors
}

// placementFieldErrors: a field does not contradict its annotation, and the two
// levels, as far as a field is concerned, are about different node labels.
func placementFieldErrors(set *lwsv1.LeaderWorkerSet) field.ErrorList {
	var errors field.ErrorList
	template := &set.Spec.LeaderWorkerTemplate
	byField := false
	for _, level := range placementLevels() {
		policy, annotated := level.policy(template), set.Annotations[level.annotation]
		if policy == nil {
			continue
		}
		byField = true
		if topology := topologyOf(policy); annotated != "" && annotated != topology {
			errors = append(errors, field.Invalid(level.path, policyText(policy), fmt.Sprintf(
				"disagrees with the annotation %s, which is %q", level.annotation, annotated)))
		}
	}
	if byField && sameTopology(set) {
		errors = append(errors, field.Invalid(placementLevels()[1].path.Child("topology"),
			lwsv1.SubGroupTopology(set.Annotations, template), "must differ from that of the group"))
	}
	return errors
}

// sameTopology says whether groups and subgroups are kept apart by the same label.
func sameTopology(set *lwsv1.LeaderWorkerSet) bool {
	template := &set.Spec.LeaderWorkerTemplate
	topology := lwsv1.GroupTopology(set.Annotations, template)
	return topology != "" && topology == lwsv1.SubGroupTopology(set.Annotations, template)
}

func topologyOf(policy *lwsv1.PlacementPolicy) string {
	if policy.Type == lwsv1.ExclusiveTopologyPlacement {
		return policy.Topology
	}
	return ""
}

func policyText(policy *lwsv1.PlacementPolicy) string {
	if topology := topologyOf(policy); topology != "" {
		return string(policy.Type) + " " + topology
	}
	return string(policy.Type)
}
