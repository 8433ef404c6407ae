package lwstest

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Namespace is where sets are unless a test says otherwise.
const Namespace = "default"

// Builder builds a LeaderWorkerSet.
type Builder struct {
	set lwsv1.LeaderWorkerSet
}

// New starts with a set of one group of one pod; nothing is written that has a
// default.
func New(name string) *Builder {
	return &Builder{set: lwsv1.LeaderWorkerSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: lwsv1.GroupVersion.String(), Kind: lwsv1.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: Namespace},
		Spec: lwsv1.LeaderWorkerSetSpec{
			LeaderWorkerTemplate: lwsv1.LeaderWorkerTemplate{WorkerTemplate: PodTemplate("worker")},
		},
	}}
}

// Obj is the set as it is now.
func (b *Builder) Obj() *lwsv1.LeaderWorkerSet {
	return b.set.DeepCopy()
}

// Spec is the spec as it is now, for a role.
func (b *Builder) Spec() lwsv1.LeaderWorkerSetSpec {
	return *b.set.Spec.DeepCopy()
}

// Namespace puts the set into a namespace.
func (b *Builder) Namespace(namespace string) *Builder {
	b.set.Namespace = namespace
	return b
}

// UID is for sets that no API server gave one.
func (b *Builder) UID(uid types.UID) *Builder {
	b.set.UID = uid
	return b
}

// Generation is for sets that no API server gave one.
func (b *Builder) Generation(generation int64) *Builder {
	b.set.Generation = generation
	return b
}

// Label adds a label to the set.
func (b *Builder) Label(key, value string) *Builder {
	metav1.SetMetaDataLabel(&b.set.ObjectMeta, key, value)
	return b
}

// Annotation adds an annotation to the set.
func (b *Builder) Annotation(key, value string) *Builder {
	metav1.SetMetaDataAnnotation(&b.set.ObjectMeta, key, value)
	return b
}

// Finalizer adds a finalizer to the set.
func (b *Builder) Finalizer(name string) *Builder {
	b.set.Finalizers = append(b.set.Finalizers, name)
	return b
}

// Replicas is the number of groups.
func (b *Builder) Replicas(replicas int32) *Builder {
	b.set.Spec.Replicas = &replicas
	return b
}

// Size is the number of pods of a group.
func (b *Builder) Size(size int32) *Builder {
	b.set.Spec.LeaderWorkerTemplate.Size = &size
	return b
}

// LeaderTemplate gives leaders their own template.
func (b *Builder) LeaderTemplate(template corev1.PodTemplateSpec) *Builder {
	b.set.Spec.LeaderWorkerTemplate.LeaderTemplate = &template
	return b
}

// WorkerTemplate replaces the template of workers.
func (b *Builder) WorkerTemplate(template corev1.PodTemplateSpec) *Builder {
	b.set.Spec.LeaderWorkerTemplate.WorkerTemplate = template
	return b
}

// Image changes the image of every container, as an update would that starts a
// rollout.
func (b *Builder) Image(image string) *Builder {
	template := &b.set.Spec.LeaderWorkerTemplate
	for _, pods := range []*corev1.PodTemplateSpec{template.LeaderTemplate, &template.WorkerTemplate} {
		if pods == nil {
			continue
		}
		for i := range pods.Spec.Containers {
			pods.Spec.Containers[i].Image = image
		}
	}
	return b
}

// RestartPolicy is what happens when a pod fails.
func (b *Builder) RestartPolicy(policy lwsv1.RestartPolicyType) *Builder {
	b.set.Spec.LeaderWorkerTemplate.RestartPolicy = policy
	return b
}

// MaxGroupRestarts is the restart budget.
func (b *Builder) MaxGroupRestarts(limit int32) *Builder {
	b.set.Spec.LeaderWorkerTemplate.MaxGroupRestarts = &limit
	return b
}

// RestartBackoff is the base and cap of the backoff, in seconds.
func (b *Builder) RestartBackoff(base, limit int32) *Builder {
	b.set.Spec.LeaderWorkerTemplate.RestartBackoff = &lwsv1.RestartBackoff{BaseSeconds: &base, CapSeconds: &limit}
	return b
}

// SubGroups divides groups.
func (b *Builder) SubGroups(size int32, kind lwsv1.SubGroupPolicyType) *Builder {
	b.set.Spec.LeaderWorkerTemplate.SubGroupPolicy = &lwsv1.SubGroupPolicy{SubGroupSize: &size, Type: &kind}
	return b
}

// GroupTopology gives groups exclusive placement by the typed field.
func (b *Builder) GroupTopology(topology string) *Builder {
	b.set.Spec.LeaderWorkerTemplate.PlacementPolicy = exclusive(topology)
	return b
}

// SubGroupTopology gives subgroups exclusive placement by the typed field; the set
// has subgroups already.
func (b *Builder) SubGroupTopology(topology string) *Builder {
	b.set.Spec.LeaderWorkerTemplate.SubGroupPolicy.PlacementPolicy = exclusive(topology)
	return b
}

func exclusive(topology string) *lwsv1.PlacementPolicy {
	return &lwsv1.PlacementPolicy{Type: lwsv1.ExclusiveTopologyPlacement, Topology: topology}
}

// VolumeClaim adds a claim of 1Gi.
func (b *Builder) VolumeClaim(name string) *Builder {
	claim := corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}
	template := &b.set.Spec.LeaderWorkerTemplate
	template.VolumeClaimTemplates = append(template.VolumeClaimTemplates, claim)
	return b
}

// ClaimRetention is what becomes of claims.
func (b *Builder) ClaimRetention(whenDeleted, whenScaled appsv1.PersistentVolumeClaimRetentionPolicyType) *Builder {
	b.set.Spec.LeaderWorkerTemplate.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: whenDeleted, WhenScaled: whenScaled,
	}
	return b
}

// StartupPolicy is when workers are created.
func (b *Builder) StartupPolicy(policy lwsv1.StartupPolicyType) *Builder {
	b.set.Spec.StartupPolicy = policy
	return b
}

// SubdomainPolicy is which Service gives pods their subdomain.
func (b *Builder) SubdomainPolicy(policy lwsv1.SubdomainPolicy) *Builder {
	b.set.Spec.NetworkConfig = &lwsv1.NetworkConfig{SubdomainPolicy: &policy}
	return b
}

// Hash names groups by keys.
func (b *Builder) Hash() *Builder {
	b.set.Spec.GroupIdentity = lwsv1.HashGroupIdentity
	return b
}

// GroupReplacementPolicy is when a replacement may start.
func (b *Builder) GroupReplacementPolicy(policy lwsv1.GroupReplacementPolicyType) *Builder {
	b.set.Spec.GroupReplacementPolicy = policy
	return b
}

// PodTerminationPolicy is how the pods of a group end.
func (b *Builder) PodTerminationPolicy(policy lwsv1.PodTerminationPolicyType) *Builder {
	b.set.Spec.PodTerminationPolicy = policy
	return b
}

// Partition keeps the groups below an index at the older revision.
func (b *Builder) Partition(partition int32) *Builder {
	b.rolloutConfiguration().Partition = &partition
	return b
}

// MaxUnavailable is a number such as "1" or a percentage such as "10%".
func (b *Builder) MaxUnavailable(value string) *Builder {
	b.rolloutConfiguration().MaxUnavailable = numberOrPercent(value)
	return b
}

// MaxSurge is a number such as "1" or a percentage such as "10%".
func (b *Builder) MaxSurge(value string) *Builder {
	b.rolloutConfiguration().MaxSurge = numberOrPercent(value)
	return b
}

func numberOrPercent(value string) *intstr.IntOrString {
	parsed := intstr.Parse(value)
	return &parsed
}

func (b *Builder) rolloutConfiguration() *lwsv1.RollingUpdateConfiguration {
	strategy := &b.set.Spec.RolloutStrategy
	strategy.Type = lwsv1.RollingUpdateStrategyType
	if strategy.RollingUpdateConfiguration == nil {
		strategy.RollingUpdateConfiguration = &lwsv1.RollingUpdateConfiguration{}
	}
	return strategy.RollingUpdateConfiguration
}

// Scheduling asks for workload-aware scheduling.
func (b *Builder) Scheduling(scheduling lwsv1.LeaderWorkerSetScheduling) *Builder {
	b.set.Spec.Scheduling = &scheduling
	return b
}

// Status replaces the status.
func (b *Builder) Status(status lwsv1.LeaderWorkerSetStatus) *Builder {
	b.set.Status = status
	return b
}
