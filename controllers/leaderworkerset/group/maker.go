package group

import (
	"context"
	"math"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// leadersFacts is what decisions have to know of the object that owns the leaders: the
// leader StatefulSet with Ordinal identity, the leader Deployment with Hash.
type leadersFacts struct {
	UID             types.UID
	Owner           owner
	Replicas        int32
	UpdateRevision  string
	CurrentRevision string // of its pods, as the StatefulSet controller calls it
	// Spares is the index below which the StatefulSet controller, which has observed its
	// generation, leaves leaders alone that are not of its template.
	Spares int32
	// ReplicaSet is that of the Deployment which made this leader, empty if there is none.
	ReplicaSet types.UID
}

// observeLeaders reads the object that owns the leaders of the group's set.
func (r *Reconciler) observeLeaders(ctx context.Context, o *observation) error {
	name := types.NamespacedName{Namespace: o.Group.Namespace, Name: identity.LeaderStatefulSetName(o.Group.Set)}
	if o.Group.HasKey() {
		name.Name = identity.LeaderDeploymentName(o.Group.Set)
		leaders, err := get(ctx, r.client, name, &appsv1.Deployment{})
		if leaders != nil {
			o.Leaders = leadersFactsOfDeployment(leaders)
		}
		return err
	}
	leaders, err := get(ctx, r.client, name, &appsv1.StatefulSet{})
	if leaders != nil {
		o.Leaders = leadersFactsOf(leaders)
	}
	return err
}

// observeMaker finds out whether the leader was made by a ReplicaSet of the Deployment.
func (r *Reconciler) observeMaker(ctx context.Context, o *observation) error {
	if o.Leaders == nil || o.Leader == nil || !o.Group.HasKey() {
		return nil
	}
	maker, err := r.makerOf(ctx, o.Group.Namespace, o.Leader.Controller)
	if maker != nil && controllerOf(maker).UID == o.Leaders.UID {
		o.Leaders.ReplicaSet = maker.UID
	}
	return err
}

// makerOf is the ReplicaSet that is the controller of a leader, nil if there is none.
func (r *Reconciler) makerOf(ctx context.Context, namespace string, controller owner) (*appsv1.ReplicaSet, error) {
	if controller.Kind != kindReplicaSet {
		return nil, nil
	}
	found, err := get(ctx, r.client, types.NamespacedName{Namespace: namespace, Name: controller.Name}, &appsv1.ReplicaSet{})
	if found == nil || found.UID != controller.UID {
		return nil, err
	}
	return found, err
}

func leadersFactsOf(leaders *appsv1.StatefulSet) *leadersFacts {
	return &leadersFacts{
		UID:             leaders.UID,
		Owner:           controllerOf(leaders),
		Replicas:        replicasOr1(leaders.Spec.Replicas),
		UpdateRevision:  leaders.Labels[lwsv1.RevisionLabelKey],
		CurrentRevision: leaders.Status.CurrentRevision,
		Spares:          sparedBy(leaders),
	}
}

func sparedBy(leaders *appsv1.StatefulSet) int32 {
	strategy := leaders.Spec.UpdateStrategy
	switch {
	case leaders.Status.ObservedGeneration != leaders.Generation:
		return 0
	case strategy.Type == appsv1.OnDeleteStatefulSetStrategyType:
		return math.MaxInt32
	case strategy.RollingUpdate == nil || strategy.RollingUpdate.Partition == nil:
		return 0
	default:
		return *strategy.RollingUpdate.Partition
	}
}

func leadersFactsOfDeployment(leaders *appsv1.Deployment) *leadersFacts {
	return &leadersFacts{
		UID:            leaders.UID,
		Owner:          controllerOf(leaders),
		Replicas:       replicasOr1(leaders.Spec.Replicas),
		UpdateRevision: leaders.Labels[lwsv1.RevisionLabelKey],
	}
}

func replicasOr1(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}
