package scheduling

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// List reads objects of a kind from the cache, as they are there, by an index.
func List(ctx context.Context, reader client.Reader, kind Kind, namespace, index, value string) ([]client.Object, error) {
	list := kind.NewList()
	err := reader.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{index: value}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", kind.Kind, value, err)
	}
	var objects []client.Object
	err = meta.EachListItem(list, func(item runtime.Object) error {
		obj, ok := item.(client.Object)
		if !ok {
			return fmt.Errorf("%T is no object", item)
		}
		objects = append(objects, obj)
		return nil
	})
	return objects, err
}

// RegisterIndexes adds the indexes by which scheduling objects of groups are read.
func RegisterIndexes(ctx context.Context, indexer client.FieldIndexer, kinds []Kind) error {
	for _, kind := range kinds {
		if !kind.PerGroup {
			continue
		}
		for name, keys := range map[string]func(metav1.Object) []string{
			identity.SchedulingObjectsByGroupIndex: identity.SchedulingObjectsByGroup,
			identity.SchedulingObjectsBySetIndex:   identity.SchedulingObjectsBySet,
		} {
			if err := indexer.IndexField(ctx, kind.New(), name, func(obj client.Object) []string { return keys(obj) }); err != nil {
				return fmt.Errorf("index %s of %s: %w", name, kind.Kind, err)
			}
		}
	}
	return nil
}
