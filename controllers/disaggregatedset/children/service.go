package children

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
)

// Service is the Service of a role in a slice and revision, as it is to be.
type Service struct {
	Set  *dsv1.DisaggregatedSet
	Key  identity.Key
	Live *corev1.Service
}

// Desired is the apply configuration, and whether it would change the live object.
func (c *Service) Desired() (*coreapply.ServiceApplyConfiguration, bool) {
	labels := identity.Labels(c.Set.Name, c.Key)
	config := coreapply.Service(identity.ServiceName(c.Set.Name, c.Key), c.Set.Namespace).
		WithLabels(labels).
		WithOwnerReferences(ownerReference(c.Set)).
		WithSpec(coreapply.ServiceSpec().
			WithClusterIP(corev1.ClusterIPNone).
			WithSelector(labels))
	if c.Live == nil {
		return config, true
	}
	config.WithUID(c.Live.UID)
	differs := metadataDiffers(c.Live, c.Set, labels, nil) ||
		c.Live.Spec.ClusterIP != corev1.ClusterIPNone ||
		!maps.Equal(c.Live.Spec.Selector, labels)
	return config, differs
}
