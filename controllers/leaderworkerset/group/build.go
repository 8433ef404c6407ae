package group

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
	"sigs.k8s.io/lws/controllers/leaderworkerset/revision"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// workersFor is the worker StatefulSet of the leader's revision.
func (w *writer) workersFor(ctx context.Context) (*appsv1.StatefulSet, error) {
	spec, err := w.revisionOf(ctx, w.o.Group.SetKey(), w.o.Leader.Revision)
	if err != nil {
		return nil, err
	}
	p := w.leaderPod()
	return desiredWorkers(w.o, spec, podspec.PlacementOfPods(p.Annotations)), nil
}

// revisionOf reads the revision of a group. There is no group without one: the set
// makes a missing one again.
func (r *Reconciler) revisionOf(ctx context.Context, set types.NamespacedName, key string) (*revision.Spec, error) {
	var list appsv1.ControllerRevisionList
	err := r.client.List(ctx, &list, client.InNamespace(set.Namespace),
		client.MatchingFields{identity.RevisionsBySetIndex: set.String()}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("revisions of %s: %w", set, err)
	}
	revisions := make([]*appsv1.ControllerRevision, len(list.Items))
	for i := range list.Items {
		revisions[i] = &list.Items[i]
	}
	found, ok := revision.ByKey(revisions, key)
	if !ok {
		return nil, fmt.Errorf("revision %s of %s does not exist", key, set)
	}
	return revision.Restore(found)
}

func desiredWorkers(o *observation, spec *revision.Spec, placement podspec.Placement) *appsv1.StatefulSet {
	template := podspec.WorkerPodTemplate(podspec.Revision{
		Set:       o.Group.Set,
		Key:       o.Leader.Revision,
		Template:  &spec.LeaderWorkerTemplate,
		Network:   &spec.NetworkConfig,
		Placement: placement,
		Hash:      o.Group.HasKey(),
	}, podspec.Leader{
		Group:    o.Group,
		GroupKey: o.Leader.GroupKey,
		PodName:  o.Leader.Name,
		Domain:   o.Domain,

		Scheduling: scheduling.Inherited(o.pods[o.Leader.UID]),
	})
	labels := CopiedLabels(o.set)
	maps.Copy(labels, identity.WorkerLabels(o.Group.Set, o.Group.Index, o.Leader.GroupKey, o.Leader.Revision))
	replicas := o.Leader.Size - 1
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       o.Group.Namespace,
			Name:            o.Group.Name(),
			Labels:          labels,
			Annotations:     CopiedAnnotations(o.set),
			OwnerReferences: []metav1.OwnerReference{referenceTo(o.rightfulOwner())},
		},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{
				MatchLabels: identity.WorkerSelector(o.Group.Set, o.Group.Index, o.Leader.GroupKey),
			},
			ServiceName:          o.Group.ServiceName(lwsv1.SubdomainPolicyOf(&spec.NetworkConfig)),
			PodManagementPolicy:  appsv1.ParallelPodManagement,
			Ordinals:             &appsv1.StatefulSetOrdinals{Start: 1},
			Template:             *template,
			VolumeClaimTemplates: spec.LeaderWorkerTemplate.VolumeClaimTemplates,
			PersistentVolumeClaimRetentionPolicy: retentionOf(
				o.set.Spec.LeaderWorkerTemplate.PersistentVolumeClaimRetentionPolicy),
		},
	}
}

// applyConfigurationOf leaves out what only the API server writes.
func applyConfigurationOf(desired *appsv1.StatefulSet) (*appsapply.StatefulSetApplyConfiguration, error) {
	encoded, err := json.Marshal(desired)
	if err != nil {
		return nil, fmt.Errorf("encode StatefulSet %s: %w", desired.Name, err)
	}
	config := appsapply.StatefulSet(desired.Name, desired.Namespace)
	if err := json.Unmarshal(encoded, config); err != nil {
		return nil, fmt.Errorf("decode StatefulSet %s: %w", desired.Name, err)
	}
	config.WithKind("StatefulSet").WithAPIVersion(appsv1.SchemeGroupVersion.String())
	config.Status = nil
	return config, nil
}

// workersDiffer leaves out what the API server does not let change.
func workersDiffer(desired, live *appsv1.StatefulSet) bool {
	return live.Spec.Replicas == nil || *live.Spec.Replicas != *desired.Spec.Replicas ||
		dependsOn(desired.Spec.PersistentVolumeClaimRetentionPolicy) != dependsOn(live.Spec.PersistentVolumeClaimRetentionPolicy) ||
		!revision.EqualTemplates(&desired.Spec.Template, &live.Spec.Template)
}

// dependsOn is what a worker StatefulSet takes from the set as it is now, as text.
func dependsOn(policy *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy) string {
	complete := retentionOf(policy)
	return string(complete.WhenDeleted) + "/" + string(complete.WhenScaled)
}

// retentionOf is a policy with its defaults. It is written also if the set has none,
// so that one that was taken back does not stay.
func retentionOf(
	policy *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy,
) *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	complete := &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
		WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
	}
	if policy != nil && policy.WhenDeleted != "" {
		complete.WhenDeleted = policy.WhenDeleted
	}
	if policy != nil && policy.WhenScaled != "" {
		complete.WhenScaled = policy.WhenScaled
	}
	return complete
}

// hasLabels: the labels by which the workers are found.
func hasLabels(live *appsv1.StatefulSet, o *observation) bool {
	for key, value := range identity.WorkerLabels(o.Group.Set, o.Group.Index, o.Leader.GroupKey, o.Leader.Revision) {
		if live.Labels[key] != value {
			return false
		}
	}
	return true
}

func referenceTo(o owner) metav1.OwnerReference {
	controller := true
	version := corev1.SchemeGroupVersion
	if o.Kind == setKind.Kind {
		version = setKind.GroupVersion()
	}
	return metav1.OwnerReference{
		APIVersion: version.String(), Kind: o.Kind, Name: o.Name, UID: o.UID,
		Controller: &controller, BlockOwnerDeletion: &controller,
	}
}
