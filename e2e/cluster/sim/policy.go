package sim

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	deletePolicy   = "sim-kubelet-deletes-what-is-deleted"
	deadNodePolicy = "sim-kubelet-of-a-dead-node"
)

// Policies are the admission policies on the simulated kubelet, each with its
// binding. They match that user's requests only.
func Policies() ([]*admissionv1.ValidatingAdmissionPolicy, []*admissionv1.ValidatingAdmissionPolicyBinding) {
	return []*admissionv1.ValidatingAdmissionPolicy{deletesPolicy(), deadNodesPolicy()},
		[]*admissionv1.ValidatingAdmissionPolicyBinding{
			binding(deletePolicy, nil),
			binding(deadNodePolicy, &admissionv1.ParamRef{
				Name:                    DeadNodesName,
				Namespace:               DeadNodesNamespace,
				ParameterNotFoundAction: new(admissionv1.AllowAction),
			}),
		}
}

// DeadNodes is the ConfigMap that Kill and Revive edit, empty.
func DeadNodes() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: DeadNodesName, Namespace: DeadNodesNamespace}}
}

// deletesPolicy refuses to delete a pod that is not being deleted. kwok deletes
// by name and retries, so a pod made again under a name may otherwise be
// deleted at birth. The grace period says nothing here: for pods without a node
// or in a terminal phase the API server sets it to 0 for everybody.
func deletesPolicy() *admissionv1.ValidatingAdmissionPolicy {
	return policy(deletePolicy, nil,
		[]admissionv1.NamedRuleWithOperations{rule("", "pods", admissionv1.Delete)},
		admissionv1.Validation{
			Expression: "has(oldObject.metadata.deletionTimestamp)",
			Message:    "the pod is not being deleted: this is the successor of the pod that was",
		})
}

// deadNodesPolicy makes a dead node dead at once: a start or stop that kwok had
// already queued for it is refused, and so is a heartbeat.
func deadNodesPolicy() *admissionv1.ValidatingAdmissionPolicy {
	return policy(deadNodePolicy, &admissionv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"},
		[]admissionv1.NamedRuleWithOperations{
			rule("", "pods", admissionv1.Delete),
			rule("", "pods/status", admissionv1.Update),
			rule("", "nodes/status", admissionv1.Update),
			rule("coordination.k8s.io", "leases", admissionv1.Update),
		},
		admissionv1.Validation{
			Expression: `!has(params.data) || !((request.resource.resource == "pods" ? oldObject.spec.nodeName : oldObject.metadata.name) in params.data)`,
			Message:    "the node is dead",
		})
}

func policy(name string, params *admissionv1.ParamKind, rules []admissionv1.NamedRuleWithOperations, validation admissionv1.Validation) *admissionv1.ValidatingAdmissionPolicy {
	return &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			ParamKind:        params,
			FailurePolicy:    new(admissionv1.Fail),
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: rules},
			MatchConditions: []admissionv1.MatchCondition{{
				Name:       "simulated-kubelet",
				Expression: `request.userInfo.username == "` + User + `"`,
			}},
			Validations: []admissionv1.Validation{validation},
		},
	}
}

func rule(group, resource string, operation admissionv1.OperationType) admissionv1.NamedRuleWithOperations {
	return admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{operation},
		Rule: admissionv1.Rule{
			APIGroups:   []string{group},
			APIVersions: []string{"v1"},
			Resources:   []string{resource},
		},
	}}
}

func binding(name string, params *admissionv1.ParamRef) *admissionv1.ValidatingAdmissionPolicyBinding {
	return &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        name,
			ParamRef:          params,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
}
