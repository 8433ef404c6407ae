package leaderworkerset

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// statefulSetHashLabelKey is on the ControllerRevisions that the StatefulSet
// controller makes; they copy the other labels of our pods.
const statefulSetHashLabelKey = "controller.kubernetes.io/hash"

// CacheOptions are the caches that the reconcilers of sets and groups read from:
// of each kind what is ours, and of that what they read.
//
// Scheduling objects are of the given kinds.
func CacheOptions(kinds ...scheduling.Kind) cache.Options {
	ours := withLabels(requirement(lwsv1.SetNameLabelKey, selection.Exists))
	revisions := withLabels(
		requirement(lwsv1.SetNameLabelKey, selection.Exists),
		requirement(statefulSetHashLabelKey, selection.DoesNotExist))
	stripManagedFields := cache.TransformStripManagedFields()
	options := cache.Options{
		DefaultTransform: stripManagedFields,
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:                {Label: ours, Transform: group.StripPod},
			&corev1.Service{}:            {Label: ours, Transform: asIs},
			&appsv1.StatefulSet{}:        {Label: ours, Transform: keepManagersOfLeaders},
			&appsv1.Deployment{}:         {Label: ours, Transform: asIs},
			&appsv1.ReplicaSet{}:         {Label: ours, Transform: group.StripReplicaSet},
			&appsv1.ControllerRevision{}: {Label: revisions},
			&corev1.Event{}:              {Field: failuresToCreate(), Transform: stripEvent},
		},
	}
	for _, kind := range kinds {
		byObject := cache.ByObject{Label: ours}
		if kind.Parents {
			byObject.Label = nil
		}
		options.ByObject[kind.New()] = byObject
	}
	return options
}

func requirement(key string, operator selection.Operator) labels.Requirement {
	r, err := labels.NewRequirement(key, operator, nil)
	if err != nil {
		panic(err) // the keys are constants
	}
	return *r
}

func withLabels(requirements ...labels.Requirement) labels.Selector {
	return labels.NewSelector().Add(requirements...)
}

// failuresToCreate are what StatefulSets and ReplicaSets, and few others, could not
// make: a selector of fields has no alternatives.
func failuresToCreate() fields.Selector {
	return fields.Set{
		"reason":                    lwsv1.ReasonFailedCreate,
		"involvedObject.apiVersion": appsv1.SchemeGroupVersion.String(),
	}.AsSelector()
}

func asIs(obj any) (any, error) { return obj, nil }

// keepManagersOfLeaders keeps the record of field managers where it is read: to
// notice labels and annotations of the leader StatefulSet that are to go.
func keepManagersOfLeaders(obj any) (any, error) {
	statefulSet, ok := obj.(*appsv1.StatefulSet)
	if !ok {
		return obj, nil
	}
	if _, ofGroup := identity.GroupOfWorkerStatefulSet(statefulSet); ofGroup {
		statefulSet.ManagedFields = nil
	}
	return statefulSet, nil
}

// stripEvent keeps what a failure is about, its text and when it was seen.
func stripEvent(obj any) (any, error) {
	failure, ok := obj.(*corev1.Event)
	if !ok {
		return obj, nil
	}
	return &corev1.Event{
		TypeMeta: failure.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{
			Namespace: failure.Namespace, Name: failure.Name, UID: failure.UID, ResourceVersion: failure.ResourceVersion,
		},
		InvolvedObject: failure.InvolvedObject,
		Reason:         failure.Reason,
		Message:        failure.Message,
		EventTime:      failure.EventTime,
		LastTimestamp:  failure.LastTimestamp,
		Series:         failure.Series,
	}, nil
}

// RegisterIndexes adds the indexes that the reconciler of sets lists by.
func RegisterIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, index := range []struct {
		obj  client.Object
		name string
		keys client.IndexerFunc
	}{
		{&corev1.Pod{}, identity.LeadersBySetIndex, byMeta(identity.LeadersBySet)},
		{&corev1.Pod{}, identity.UnschedulableBySetIndex, byUnschedulable},
		{&corev1.Pod{}, identity.EndingWorkersBySetIndex, byMeta(identity.EndingWorkersBySet)},
		{&appsv1.ReplicaSet{}, identity.ReplicaSetsBySetIndex, byMeta(identity.ReplicaSetsBySet)},
		{&appsv1.StatefulSet{}, identity.WorkerStatefulSetsBySetIndex, byMeta(identity.WorkerStatefulSetsBySet)},
		{&appsv1.ControllerRevision{}, identity.RevisionsBySetIndex, byMeta(identity.RevisionsBySet)},
	} {
		if err := indexer.IndexField(ctx, index.obj, index.name, index.keys); err != nil {
			return fmt.Errorf("index %s: %w", index.name, err)
		}
	}
	return nil
}

func byMeta(keys func(metav1.Object) []string) client.IndexerFunc {
	return func(obj client.Object) []string { return keys(obj) }
}

func byUnschedulable(obj client.Object) []string {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil
	}
	return identity.UnschedulableBySet(pod)
}
