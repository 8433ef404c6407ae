package dstest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// RoleBuilder builds a role.
type RoleBuilder struct {
	role dsv1.DisaggregatedRoleSpec
}

// NewRole starts with a role of one group of one pod.
func NewRole(name string) *RoleBuilder {
	return &RoleBuilder{role: dsv1.DisaggregatedRoleSpec{
		Name:                        name,
		LeaderWorkerSetTemplateSpec: lwsv1.LeaderWorkerSetTemplateSpec{Spec: lwstest.New(name).Spec()},
	}}
}

// Obj is the role as it is now.
func (b *RoleBuilder) Obj() dsv1.DisaggregatedRoleSpec {
	return *b.role.DeepCopy()
}

// From takes the spec of a set; the set's labels and annotations become the
// role's.
func (b *RoleBuilder) From(set *lwstest.Builder) *RoleBuilder {
	source := set.Obj()
	b.role.Spec = source.Spec
	b.role.ObjectMeta = metav1.ObjectMeta{Labels: source.Labels, Annotations: source.Annotations}
	return b
}

// Replicas is the number of groups in a slice.
func (b *RoleBuilder) Replicas(replicas int32) *RoleBuilder {
	b.role.Spec.Replicas = &replicas
	return b
}

// Size is the number of pods of a group.
func (b *RoleBuilder) Size(size int32) *RoleBuilder {
	b.role.Spec.LeaderWorkerTemplate.Size = &size
	return b
}

// Label adds a label to the role's LeaderWorkerSets.
func (b *RoleBuilder) Label(key, value string) *RoleBuilder {
	metav1.SetMetaDataLabel(&b.role.ObjectMeta, key, value)
	return b
}

// Annotation adds an annotation to the role's LeaderWorkerSets.
func (b *RoleBuilder) Annotation(key, value string) *RoleBuilder {
	metav1.SetMetaDataAnnotation(&b.role.ObjectMeta, key, value)
	return b
}

// External takes the replicas from the role's scaler.
func (b *RoleBuilder) External() *RoleBuilder {
	b.role.Scaling = &dsv1.RoleScaling{Mode: dsv1.ExternalRoleScaling}
	return b
}
