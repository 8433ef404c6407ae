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
	"sigs.k8s.io/lws/controllers/disaggregatedset/children"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
	"sigs.k8s.io/lws/controllers/disaggregatedset/scaler"
)

// warnings are about a set whose external roles' scalers have these replicas, as
// far as they exist.
func warnings(set *dsv1.DisaggregatedSet, scaled map[string]int) []string {
	var all []string
	for i := range set.Spec.Roles {
		role, path := &set.Spec.Roles[i], field.NewPath("spec", "roles").Index(i)
		all = slices.Concat(all,
			scalingWarnings(set, role, path, scaled),
			budgetWarnings(role, path),
			deprecationWarnings(role, path),
			keyWarnings(role.Labels, path.Child("metadata", "labels")),
			keyWarnings(role.Annotations, path.Child("metadata", "annotations")),
			templateWarnings(role, path.Child("spec", "leaderWorkerTemplate")),
		)
	}
	return append(all, loanWarnings(set)...)
}

func scalingWarnings(set *dsv1.DisaggregatedSet, role *dsv1.DisaggregatedRoleSpec, path *field.Path, scaled map[string]int) []string {
	if !dsv1.IsExternal(role) {
		return nil
	}
	var out []string
	if replicas := lwsv1.Replicas(dsv1.RoleLeaderWorkerSet(role)); replicas > 1 {
		out = append(out, fmt.Sprintf("%s: ignored, the role has the replicas of its scaler %s",
			path.Child("spec", "replicas"), identity.ScalerName(set.Name, role.Name)))
	}
	slices := int(dsv1.Slices(set))
	if total, ok := scaled[role.Name]; ok && scaler.SpreadsThin(total, slices) {
		out = append(out, fmt.Sprintf("spec.slices: scaler %s asks for %d replicas, each of the %d slices gets one",
			identity.ScalerName(set.Name, role.Name), total, slices))
	}
	return out
}

func budgetWarnings(role *dsv1.DisaggregatedRoleSpec, path *field.Path) []string {
	if !children.RoundsToZero(&role.Spec, int(lwsv1.Replicas(dsv1.RoleLeaderWorkerSet(role)))) {
		return nil
	}
	return []string{fmt.Sprintf("%s: maxUnavailable and maxSurge both come out as 0; maxUnavailable counts as 1",
		path.Child("spec", "rolloutStrategy", "rollingUpdateConfiguration"))}
}

// loanWarnings tell of roles that may exceed their surge: the last old replica of a
// role without surge stays until the roles beside it can let go.
func loanWarnings(set *dsv1.DisaggregatedSet) []string {
	var lenders, borrowers []string
	for i := range set.Spec.Roles {
		role := &set.Spec.Roles[i]
		replicas := int(lwsv1.Replicas(dsv1.RoleLeaderWorkerSet(role)))
		budget := children.BudgetOf(&role.Spec, replicas)
		switch {
		case replicas == 0:
		case budget.Surge == 0:
			borrowers = append(borrowers, role.Name)
		case replicas > budget.Unavailable:
			lenders = append(lenders, role.Name)
		}
	}
	if len(lenders) == 0 || len(borrowers) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("spec.roles: at the end of a rollout %s may run one replica more than maxSurge 0 allows, "+
		"since the last replicas of a revision go together and %s must not lose its own",
		strings.Join(borrowers, ", "), strings.Join(lenders, ", "))}
}

func deprecationWarnings(role *dsv1.DisaggregatedRoleSpec, path *field.Path) []string {
	var out []string
	if role.Spec.LeaderWorkerTemplate.RestartPolicy == lwsv1.DeprecatedDefaultRestartPolicy {
		out = append(out, fmt.Sprintf("%s: Default is deprecated and means None",
			path.Child("spec", "leaderWorkerTemplate", "restartPolicy")))
	}
	template := &role.Spec.LeaderWorkerTemplate
	byField := map[string]bool{
		lwsv1.ExclusiveTopologyAnnotationKey:         template.PlacementPolicy != nil,
		lwsv1.SubGroupExclusiveTopologyAnnotationKey: template.SubGroupPolicy != nil && template.SubGroupPolicy.PlacementPolicy != nil,
	}
	for _, key := range slices.Sorted(maps.Keys(byField)) {
		if _, written := role.Annotations[key]; written && byField[key] {
			out = append(out, fmt.Sprintf("%s: deprecated, placementPolicy says the same",
				path.Child("metadata", "annotations").Key(key)))
		}
	}
	return out
}

// templateWarnings are about what is overwritten in pods.
func templateWarnings(role *dsv1.DisaggregatedRoleSpec, path *field.Path) []string {
	template := &role.Spec.LeaderWorkerTemplate
	out := podWarnings(&template.WorkerTemplate, path.Child("workerTemplate"))
	if template.LeaderTemplate != nil {
		out = append(podWarnings(template.LeaderTemplate, path.Child("leaderTemplate")), out...)
	}
	return out
}

func podWarnings(pods *corev1.PodTemplateSpec, path *field.Path) []string {
	out := slices.Concat(
		keyWarnings(pods.Labels, path.Child("metadata", "labels")),
		keyWarnings(pods.Annotations, path.Child("metadata", "annotations")),
		variableWarnings(pods.Spec.InitContainers, path.Child("spec", "initContainers")),
		variableWarnings(pods.Spec.Containers, path.Child("spec", "containers")),
	)
	for name, value := range map[string]string{"hostname": pods.Spec.Hostname, "subdomain": pods.Spec.Subdomain} {
		if value != "" {
			out = append(out, fmt.Sprintf("%s: overwritten with the pod's own", path.Child("spec", name)))
		}
	}
	slices.Sort(out)
	return out
}

// inputs are the annotations that users write under a prefix of the managers.
var inputs = []string{
	lwsv1.ExclusiveTopologyAnnotationKey,
	lwsv1.SubGroupExclusiveTopologyAnnotationKey,
	lwsv1.RecreateGroupAfterStartAnnotationKey,
}

func keyWarnings(keys map[string]string, path *field.Path) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		ours := strings.HasPrefix(key, dsv1.KeyPrefix) || strings.HasPrefix(key, lwsv1.KeyPrefix) || key == dsv1.AppLabelKey
		if ours && !slices.Contains(inputs, key) {
			out = append(out, fmt.Sprintf("%s: overwritten, the managers write this key", path.Key(key)))
		}
	}
	return out
}

func variableWarnings(containers []corev1.Container, path *field.Path) []string {
	var out []string
	for i := range containers {
		for j, variable := range containers[i].Env {
			if identity.IsVariable(variable.Name) {
				out = append(out, fmt.Sprintf("%s: %s is replaced by the manager's",
					path.Index(i).Child("env").Index(j), variable.Name))
			}
		}
	}
	return out
}
