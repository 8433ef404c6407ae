package earlier

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

const (
	patience     = 2 * time.Minute
	pollInterval = 200 * time.Millisecond
)

// awaitAccepted writes until the API server accepts it: a definition that is new takes
// a moment to be served, and a webhook that went to be forgotten.
func awaitAccepted(ctx context.Context, write func(context.Context) error) error {
	var refused error
	err := wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(ctx context.Context) (bool, error) {
		refused = write(ctx)
		return refused == nil || apierrors.IsAlreadyExists(refused), nil
	})
	return errors.Join(err, refused)
}

// makeStatefulSet writes one and waits for the pods that it makes.
func (r *Release) makeStatefulSet(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	wanted := &appsv1.StatefulSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, wanted); err != nil {
		return err
	}
	if err := r.write(ctx, c, object); err != nil {
		return err
	}
	var seen string
	err := wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(ctx context.Context) (bool, error) {
		pods, err := podsOf(ctx, c, wanted)
		seen = fmt.Sprintf("%d pods of %d are as wanted", pods, *wanted.Spec.Replicas)
		return pods == int(*wanted.Spec.Replicas), err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", seen, err)
	}
	return nil
}

func (r *Release) write(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	if r.updated {
		return c.Create(ctx, object, client.FieldOwner(Applier))
	}
	return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(Applier))
}

// podsOf counts the pods of a StatefulSet, in a rollout those from its partition on
// that are new.
func podsOf(ctx context.Context, c client.Client, owner *appsv1.StatefulSet) (int, error) {
	var pods corev1.PodList
	err := c.List(ctx, &pods, client.InNamespace(owner.Namespace), client.MatchingLabels{
		lwsv1.SetNameLabelKey: owner.Labels[lwsv1.SetNameLabelKey],
	})
	count := 0
	for i := range pods.Items {
		pod := &pods.Items[i]
		controller := metav1.GetControllerOf(pod)
		if controller != nil && controller.Name == owner.Name && pod.DeletionTimestamp == nil && isOfItsRevision(pod, owner) {
			count++
		}
	}
	return count, err
}

func isOfItsRevision(pod *corev1.Pod, owner *appsv1.StatefulSet) bool {
	partition := int32(0)
	if rolling := owner.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		partition = *rolling.Partition
	}
	return ordinalOf(pod) < partition || pod.Labels[lwsv1.RevisionLabelKey] == owner.Spec.Template.Labels[lwsv1.RevisionLabelKey]
}
