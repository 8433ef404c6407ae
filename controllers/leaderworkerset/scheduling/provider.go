package scheduling

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// gateOff is why sets with spec.scheduling that were made earlier are left as they
// are.
func gateOff() *Problem {
	return &Problem{
		Reason:  lwsv1.ReasonAPINotAvailable,
		Message: "needs the feature gate " + configv1.WorkloadAwareSchedulingGate + " of lws-manager, which is off",
	}
}

// unread is why nothing can be done until the API server was asked.
func unread() *Problem {
	return &Problem{
		Reason: lwsv1.ReasonAPINotAvailable, Message: "the API server did not say yet what it serves", Unread: true,
	}
}

// NewKubernetes is workload-aware scheduling of Kubernetes. With composite, groups of
// groups are used for sets with several levels. It is available once it is opened, if
// it is enabled.
func NewKubernetes(enabled, composite bool) *Kubernetes {
	k := &Kubernetes{composite: composite}
	k.off = !enabled
	k.problem = unread()
	return k
}

// None is the provider of a manager without one.
type None struct {
	problem *Problem
}

// NewNone is no provider. Enabled is whether only the choice of one is missing.
func NewNone(enabled bool) *None {
	if !enabled {
		return &None{gateOff()}
	}
	return &None{&Problem{
		Reason:  lwsv1.ReasonUnsupportedProviderCapability,
		Message: "needs gangSchedulingManagement.schedulerProvider in the configuration of lws-manager",
	}}
}

// Kinds are none.
func (*None) Kinds() []Kind { return nil }

// Uses says whether a set wants scheduling objects, which it does not get.
func (*None) Uses(set *lwsv1.LeaderWorkerSet) bool { return set.Spec.Scheduling != nil }

// Unavailable says why it does not.
func (n *None) Unavailable(*lwsv1.LeaderWorkerSet) *Problem { return n.problem }

// Validate refuses new sets that want scheduling objects.
func (n *None) Validate(_ context.Context, old, set *lwsv1.LeaderWorkerSet) field.ErrorList {
	if set.Spec.Scheduling == nil || old != nil {
		return nil
	}
	return field.ErrorList{field.Forbidden(schedulingPath, n.problem.Message)}
}

// AdmitLeader leaves the pod as it is: it is held at its gate.
func (*None) AdmitLeader(*corev1.Pod, *lwsv1.LeaderWorkerSet, string) {}

// AdmitWorker leaves the pod as it is.
func (*None) AdmitWorker(*corev1.Pod) {}

// IsAdmitted is true: there is nothing to be admitted to.
func (*None) IsAdmitted(*corev1.Pod, *lwsv1.LeaderWorkerSet) bool { return true }

// SetObjects are none.
func (*None) SetObjects(*lwsv1.LeaderWorkerSet, []Group, []client.Object) ([]client.Object, error) {
	return nil, nil
}

// Required are none.
func (*None) Required(*lwsv1.LeaderWorkerSet) []Ref { return nil }

// GroupObjects are none.
func (*None) GroupObjects(*lwsv1.LeaderWorkerSet, *corev1.Pod, []client.Object) ([]client.Object, error) {
	return nil, nil
}

// GroupRefs are none.
func (*None) GroupRefs(metav1.Object) []Ref { return nil }

// AddToScheme registers nothing.
func (*None) AddToScheme(*runtime.Scheme) error { return nil }

// SetProblem changes nothing.
func (*None) SetProblem(*Problem) {}
