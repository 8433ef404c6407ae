package webhook

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
)

// warnings tell a user what is accepted but likely not meant.
func warnings(set *lwsv1.LeaderWorkerSet) []string {
	return slices.Concat(
		restartPolicyWarnings(set),
		budgetWarnings(set),
		placementWarnings(set),
		templateWarnings(set),
		acceleratorWarnings(&set.Spec.LeaderWorkerTemplate),
	)
}

func restartPolicyWarnings(set *lwsv1.LeaderWorkerSet) []string {
	var warnings []string
	policy := set.Spec.LeaderWorkerTemplate.RestartPolicy
	if policy == lwsv1.DeprecatedDefaultRestartPolicy {
		warnings = append(warnings, fmt.Sprintf("%s: Default is deprecated and means None",
			templatePath().Child("restartPolicy")))
	}
	key := lwsv1.RecreateGroupAfterStartAnnotationKey
	if set.Annotations[key] == "true" && lwsv1.RestartPolicy(set) == lwsv1.NoneRestartPolicy {
		warnings = append(warnings, fmt.Sprintf("%s: ignored, because restartPolicy is %s", annotationPath(key), policy))
	}
	return warnings
}

func budgetWarnings(set *lwsv1.LeaderWorkerSet) []string {
	config, replicas := set.Spec.RolloutStrategy.RollingUpdateConfiguration, lwsv1.Replicas(set)
	if !lwsv1.BudgetRoundsToZero(config, replicas) {
		return nil
	}
	return []string{fmt.Sprintf("%s: maxUnavailable and maxSurge both come out as 0 of %d replicas; maxUnavailable counts as 1",
		field.NewPath("spec", "rolloutStrategy", "rollingUpdateConfiguration"), replicas)}
}

func placementWarnings(set *lwsv1.LeaderWorkerSet) []string {
	var warnings []string
	template := &set.Spec.LeaderWorkerTemplate
	byField := false
	for _, level := range placementLevels() {
		hasPolicy := level.policy(template) != nil
		byField = byField || hasPolicy
		if hasPolicy && set.Annotations[level.annotation] != "" {
			warnings = append(warnings, fmt.Sprintf("%s: deprecated, %s says the same",
				annotationPath(level.annotation), level.path))
		}
	}
	key := lwsv1.SubGroupExclusiveTopologyAnnotationKey
	if _, _, ok := lwsv1.SubGroups(template); !ok && set.Annotations[key] != "" {
		warnings = append(warnings, fmt.Sprintf("%s: ignored without subGroupPolicy", annotationPath(key)))
	}
	if !byField && sameTopology(set) {
		warnings = append(warnings, fmt.Sprintf("%s: the same as for groups, so a group with more than one subgroup cannot be scheduled",
			annotationPath(key)))
	}
	return warnings
}

// templateWarnings are about what admission or the StatefulSet overwrites.
func templateWarnings(set *lwsv1.LeaderWorkerSet) []string {
	template := &set.Spec.LeaderWorkerTemplate
	ours := []string{lwsv1.KeyPrefix}
	if _, managed := set.Labels[dsv1.SetNameLabelKey]; !managed {
		ours = append(ours, dsv1.KeyPrefix)
	}
	var warnings []string
	if template.LeaderTemplate != nil {
		warnings = podWarnings(template.LeaderTemplate, templatePath().Child("leaderTemplate"), ours)
	}
	return append(warnings, podWarnings(&template.WorkerTemplate, templatePath().Child("workerTemplate"), ours)...)
}

func podWarnings(template *corev1.PodTemplateSpec, path *field.Path, prefixes []string) []string {
	metadata, spec := path.Child("metadata"), path.Child("spec")
	return slices.Concat(
		keyWarnings(template.Labels, metadata.Child("labels"), prefixes),
		keyWarnings(template.Annotations, metadata.Child("annotations"), prefixes),
		overwritten(spec.Child("hostname"), template.Spec.Hostname),
		overwritten(spec.Child("subdomain"), template.Spec.Subdomain),
		containerWarnings(template.Spec.InitContainers, spec.Child("initContainers")),
		containerWarnings(template.Spec.Containers, spec.Child("containers")),
	)
}

func keyWarnings(keys map[string]string, path *field.Path, prefixes []string) []string {
	var warnings []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			warnings = append(warnings, fmt.Sprintf("%s: keys of this prefix are written by the managers", path.Key(key)))
		}
	}
	return warnings
}

func overwritten(path *field.Path, value string) []string {
	if value == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s: overwritten with the pod's own", path)}
}

func containerWarnings(containers []corev1.Container, path *field.Path) []string {
	var warnings []string
	for i := range containers {
		for j, variable := range containers[i].Env {
			if slices.Contains(podspec.Variables(), variable.Name) {
				warnings = append(warnings, fmt.Sprintf("%s: %s is replaced by lws-manager's",
					path.Index(i).Child("env").Index(j), variable.Name))
			}
		}
	}
	return warnings
}

// acceleratorWarnings: a member cannot know how many TPU containers the others
// have if they are not as many as its own.
func acceleratorWarnings(template *lwsv1.LeaderWorkerTemplate) []string {
	if template.LeaderTemplate == nil || lwsv1.Size(template) == 1 {
		return nil
	}
	leader, worker := podspec.TPUContainers(&template.LeaderTemplate.Spec), podspec.TPUContainers(&template.WorkerTemplate.Spec)
	if leader == 0 || leader == worker {
		return nil
	}
	return []string{fmt.Sprintf("%s: the leader has %d TPU containers and a worker %d, so their TPU variables do not agree",
		templatePath().Child("leaderTemplate"), leader, worker)}
}
