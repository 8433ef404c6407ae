package podspec

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// Placement is where a group, or a subgroup, is alone. An empty label means no
// such rule.
type Placement struct {
	Topology         string
	SubGroupTopology string
}

// PlacementOf is the placement that a set asks for, by the fields of the given
// template or by the set's annotations.
func PlacementOf(setAnnotations map[string]string, template *lwsv1.LeaderWorkerTemplate) Placement {
	return Placement{
		Topology:         lwsv1.GroupTopology(setAnnotations, template),
		SubGroupTopology: lwsv1.SubGroupTopology(setAnnotations, template),
	}
}

// PlacementOfPods is the placement that pods, or their template, were made with,
// whatever the set asks for now.
func PlacementOfPods(podAnnotations map[string]string) Placement {
	return Placement{
		Topology:         podAnnotations[lwsv1.ExclusiveTopologyAnnotationKey],
		SubGroupTopology: podAnnotations[lwsv1.SubGroupExclusiveTopologyAnnotationKey],
	}
}

// Revision is the revision of a set that pods are made from.
type Revision struct {
	// Set is the name of the set.
	Set string
	// Key is the value of the label template-revision-hash.
	Key string
	// Template and Network are what the revision holds.
	Template *lwsv1.LeaderWorkerTemplate
	Network  *lwsv1.NetworkConfig
	// Placement of the groups of this revision.
	Placement Placement
	// Hash: groups are named by keys.
	Hash bool
}

// Leader is what the workers of a group take from their leader.
type Leader struct {
	Group    identity.Group
	GroupKey string
	// PodName is the name of the leader pod.
	PodName string
	// Domain is the leader's value of the node label Placement.Topology. Without
	// such a label it is not used.
	Domain string
	// Scheduling are annotations by which workers are scheduled with their leader.
	Scheduling map[string]string
}

// address is the leader's DNS name.
func (l *Leader) address(network *lwsv1.NetworkConfig) string {
	subdomain := l.Group.ServiceName(lwsv1.SubdomainPolicyOf(network))
	return identity.LeaderAddress(l.Group.Name(), subdomain, l.Group.Namespace)
}

// LeaderPodTemplate is the pod template of the leaders.
func LeaderPodTemplate(revision Revision) *corev1.PodTemplateSpec {
	template := lwsv1.LeaderTemplate(revision.Template).DeepCopy()
	annotations := revision.annotations()
	if policy := lwsv1.SubdomainPolicyOf(revision.Network); policy == lwsv1.SubdomainUniquePerReplica {
		annotations[lwsv1.SubdomainPolicyAnnotationKey] = string(policy)
	}
	if revision.Hash {
		// A key in the template would be that of all groups.
		delete(template.Labels, lwsv1.GroupIndexLabelKey)
		delete(template.Labels, lwsv1.GroupKeyLabelKey)
		delete(template.Annotations, lwsv1.ReplacesAnnotationKey)
	}
	return decorate(template, identity.LeaderTemplateLabels(revision.Set, revision.Key), annotations)
}

// WorkerPodTemplate is the pod template of the workers of one group.
func WorkerPodTemplate(revision Revision, leader Leader) *corev1.PodTemplateSpec {
	template := revision.Template.WorkerTemplate.DeepCopy()
	annotations := revision.annotations()
	annotations[lwsv1.LeaderPodNameAnnotationKey] = leader.PodName
	maps.Copy(annotations, leader.Scheduling)
	if revision.Hash {
		annotations[lwsv1.LeaderAddressAnnotationKey] = leader.address(revision.Network)
	}
	if RequestsTPUs(&lwsv1.LeaderTemplate(revision.Template).Spec) {
		annotations[lwsv1.LeaderRequestsTPUsAnnotationKey] = trueValue
	}
	if topology := revision.Placement.Topology; topology != "" {
		template.Spec.NodeSelector = merge(template.Spec.NodeSelector, map[string]string{topology: leader.Domain})
	}
	labels := identity.WorkerLabels(revision.Set, leader.Group.Index, leader.GroupKey, revision.Key)
	return decorate(template, labels, annotations)
}

const trueValue = "true"

// annotations are those that leaders and workers share.
func (r *Revision) annotations() map[string]string {
	annotations := map[string]string{lwsv1.SizeAnnotationKey: formatNumber(lwsv1.Size(r.Template))}
	if r.Hash {
		annotations[lwsv1.GroupIdentityAnnotationKey] = string(lwsv1.HashGroupIdentity)
	}
	if r.Placement.Topology != "" {
		annotations[lwsv1.ExclusiveTopologyAnnotationKey] = r.Placement.Topology
	}
	subGroupSize, kind, ok := lwsv1.SubGroups(r.Template)
	if !ok {
		return annotations
	}
	annotations[lwsv1.SubGroupSizeAnnotationKey] = formatNumber(subGroupSize)
	annotations[lwsv1.SubGroupPolicyTypeAnnotationKey] = string(kind)
	if r.Placement.SubGroupTopology != "" {
		annotations[lwsv1.SubGroupExclusiveTopologyAnnotationKey] = r.Placement.SubGroupTopology
	}
	return annotations
}

func decorate(template *corev1.PodTemplateSpec, labels, annotations map[string]string) *corev1.PodTemplateSpec {
	template.Labels = merge(template.Labels, labels)
	template.Annotations = merge(template.Annotations, annotations)
	for _, key := range []string{lwsv1.SchedulingLevelAnnotationKey, lwsv1.SchedulingTokenAnnotationKey} {
		if annotations[key] == "" {
			delete(template.Annotations, key) // a user's own would make groups share a PodGroup
		}
	}
	return template
}

// merge adds ours to the user's; ours win.
func merge(users, ours map[string]string) map[string]string {
	merged := make(map[string]string, len(users)+len(ours))
	maps.Copy(merged, users)
	maps.Copy(merged, ours)
	return merged
}

// ApplyConfiguration is a template as server-side apply takes it.
func ApplyConfiguration(template *corev1.PodTemplateSpec) (*corev1ac.PodTemplateSpecApplyConfiguration, error) {
	encoded, err := json.Marshal(template)
	if err != nil {
		return nil, fmt.Errorf("encode pod template: %w", err)
	}
	configuration := &corev1ac.PodTemplateSpecApplyConfiguration{}
	if err := json.Unmarshal(encoded, configuration); err != nil {
		return nil, fmt.Errorf("decode pod template: %w", err)
	}
	return configuration, nil
}

func formatNumber(number int32) string {
	return strconv.FormatInt(int64(number), 10)
}
