package harness

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// nudgePause is how long the controllers that make pods are left alone.
const nudgePause = 3 * time.Second

// Nudge wakes the controllers that make pods in a namespace until ctx ends: after some
// pods that they could not make while the webhook was down they would wait for minutes.
func (e *Environment) Nudge(ctx context.Context, namespace string) {
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(nudgePause):
			}
			patch := fmt.Sprintf(`{"metadata":{"annotations":{"nudged":%q}}}`, time.Now().String())
			for _, maker := range e.makers(ctx, namespace) {
				// One that is gone, or an API server that is busy: the next round is soon.
				_ = e.Client.Patch(ctx, maker, client.RawPatch(types.MergePatchType, []byte(patch)))
			}
		}
	}()
}

// makers are the objects for which pods are made. None are found while the API server is
// busy.
func (e *Environment) makers(ctx context.Context, namespace string) []client.Object {
	sets, replicaSets := &appsv1.StatefulSetList{}, &appsv1.ReplicaSetList{}
	for _, list := range []client.ObjectList{sets, replicaSets} {
		if e.Client.List(ctx, list, client.InNamespace(namespace)) != nil {
			return nil
		}
	}
	var found []client.Object
	for i := range sets.Items {
		found = append(found, &sets.Items[i])
	}
	for i := range replicaSets.Items {
		found = append(found, &replicaSets.Items[i])
	}
	return found
}
