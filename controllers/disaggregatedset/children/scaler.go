package children

import (
	dsapply "sigs.k8s.io/lws/apis/applyconfiguration/disaggregatedset/v1"
	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
)

// Scaler is the scaler of a role, as it is to be.
type Scaler struct {
	Set  *dsv1.DisaggregatedSet
	Role string
	Live *dsv1.DisaggregatedSetRoleScaler
	// Seed is for a scaler that is to be made. The replicas of one that exists
	// belong to those who scale it.
	Seed int
}

// Desired is the apply configuration, and whether it would change the live object.
func (c *Scaler) Desired() (*dsapply.DisaggregatedSetRoleScalerApplyConfiguration, bool) {
	labels := identity.ScalerLabels(c.Set.Name, c.Role)
	config := dsapply.DisaggregatedSetRoleScaler(identity.ScalerName(c.Set.Name, c.Role), c.Set.Namespace).
		WithLabels(labels).
		WithOwnerReferences(ownerReference(c.Set))
	if c.Live == nil {
		config.WithSpec(dsapply.DisaggregatedSetRoleScalerSpec().WithReplicas(int32(c.Seed)))
		return config, true
	}
	config.WithUID(c.Live.UID)
	return config, metadataDiffers(c.Live, c.Set, labels, nil)
}
