package earlier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
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

// makeStatefulSet makes one with its pods.
func (r *Release) makeStatefulSet(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	if err := r.write(ctx, c, object); err != nil {
		return err
	}
	wanted, _, err := unstructured.NestedInt64(object.Object, "spec", "replicas")
	if err != nil {
		return err
	}
	pods, err := r.awaitPods(ctx, c, object.GetName(), int(wanted))
	if err != nil {
		return err
	}
	for i := range pods {
		if err := r.label(ctx, c, &pods[i], object.GetName() == r.Set); err != nil {
			return err
		}
	}
	return nil
}

func (r *Release) write(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	if r.updated {
		return c.Create(ctx, object, client.FieldOwner(Applier))
	}
	return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(Applier))
}

// awaitPods waits until a StatefulSet has as many pods as it wants, and returns them.
func (r *Release) awaitPods(ctx context.Context, c client.Client, owner string, wanted int) ([]corev1.Pod, error) {
	var own []corev1.Pod
	err := wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(ctx context.Context) (bool, error) {
		var pods corev1.PodList
		if err := c.List(ctx, &pods, client.InNamespace(Namespace), client.MatchingLabels{lwsv1.SetNameLabelKey: r.Set}); err != nil {
			return false, err
		}
		own = nil
		for _, pod := range pods.Items {
			if controller := metav1.GetControllerOf(&pod); controller != nil && controller.Name == owner {
				own = append(own, pod)
			}
		}
		return len(own) == wanted, nil
	})
	if err != nil {
		return nil, fmt.Errorf("it has %d pods, want %d: %w", len(own), wanted, err)
	}
	return own, nil
}

// label puts on a pod what a webhook did.
func (r *Release) label(ctx context.Context, c client.Client, pod *corev1.Pod, isLeader bool) error {
	ordinal := pod.Labels[appsv1.PodIndexLabel]
	added := map[string]string{lwsv1.WorkerIndexLabelKey: ordinal}
	if isLeader {
		added = map[string]string{lwsv1.GroupIndexLabelKey: ordinal, lwsv1.GroupKeyLabelKey: groupKey(pod.Name)}
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": added}})
	if err != nil {
		return err
	}
	return c.Patch(ctx, pod, client.RawPatch(types.MergePatchType, patch))
}
