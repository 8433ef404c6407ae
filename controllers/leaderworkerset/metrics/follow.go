package metrics

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Follow knows from now on the sets that are in the cache. Every replica of the
// manager admits pods, so every replica follows, whether or not it leads.
func (m *Metrics) Follow(ctx context.Context, sets cache.Cache) error {
	informer, err := sets.GetInformer(ctx, &lwsv1.LeaderWorkerSet{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("metrics follow sets: %w", err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    m.appear,
		UpdateFunc: func(_, set any) { m.appear(set) },
		DeleteFunc: m.disappear,
	})
	if err != nil {
		return fmt.Errorf("metrics follow sets: %w", err)
	}
	return nil
}

func (m *Metrics) appear(obj any) {
	if set, ok := obj.(client.Object); ok {
		m.Appear(client.ObjectKeyFromObject(set), set.GetUID())
	}
}

// disappear is called with the set, or with its key if nobody saw how it went.
func (m *Metrics) disappear(obj any) {
	if gone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		namespace, name, err := toolscache.SplitMetaNamespaceKey(gone.Key)
		if err == nil {
			m.Forget(types.NamespacedName{Namespace: namespace, Name: name})
		}
		return
	}
	if set, ok := obj.(client.Object); ok {
		m.Forget(client.ObjectKeyFromObject(set))
	}
}
