package dstest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// Names of the roles that a new builder has.
const (
	Prefill = "prefill"
	Decode  = "decode"
)

// Namespace is where sets are unless a test says otherwise.
const Namespace = lwstest.Namespace

// Builder builds a DisaggregatedSet.
type Builder struct {
	set dsv1.DisaggregatedSet
}

// New starts with the roles prefill and decode of one group of one pod each;
// nothing is written that has a default.
func New(name string) *Builder {
	return &Builder{set: dsv1.DisaggregatedSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: dsv1.GroupVersion.String(), Kind: dsv1.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: Namespace},
		Spec: dsv1.DisaggregatedSetSpec{
			Roles: []dsv1.DisaggregatedRoleSpec{NewRole(Prefill).Obj(), NewRole(Decode).Obj()},
		},
	}}
}

// Obj is the set as it is now.
func (b *Builder) Obj() *dsv1.DisaggregatedSet {
	return b.set.DeepCopy()
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

// Finalizer adds a finalizer to the set.
func (b *Builder) Finalizer(name string) *Builder {
	b.set.Finalizers = append(b.set.Finalizers, name)
	return b
}

// Roles replaces all roles.
func (b *Builder) Roles(roles ...*RoleBuilder) *Builder {
	b.set.Spec.Roles = nil
	for _, role := range roles {
		b.set.Spec.Roles = append(b.set.Spec.Roles, role.Obj())
	}
	return b
}

// Role replaces the role of that name, or adds it.
func (b *Builder) Role(role *RoleBuilder) *Builder {
	for i := range b.set.Spec.Roles {
		if b.set.Spec.Roles[i].Name == role.role.Name {
			b.set.Spec.Roles[i] = role.Obj()
			return b
		}
	}
	b.set.Spec.Roles = append(b.set.Spec.Roles, role.Obj())
	return b
}

// Slices is the number of copies of all roles.
func (b *Builder) Slices(slices int32) *Builder {
	b.set.Spec.Slices = &slices
	return b
}

// Placement keeps the pods of a slice together.
func (b *Builder) Placement(kind dsv1.PlacementPolicyType, topology string) *Builder {
	b.set.Spec.PlacementPolicy = &dsv1.PlacementPolicy{Type: kind, Topology: topology}
	return b
}

// Status replaces the status.
func (b *Builder) Status(status dsv1.DisaggregatedSetStatus) *Builder {
	b.set.Status = status
	return b
}
