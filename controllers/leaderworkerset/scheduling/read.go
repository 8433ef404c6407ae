package scheduling

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
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

// Get reads an object from the cache, as it is there. It is nil if there is none.
func Get(ctx context.Context, reader client.Reader, kinds []Kind, namespace string, ref Ref) (client.Object, error) {
	at := slices.IndexFunc(kinds, func(kind Kind) bool { return kind.GroupVersionKind == ref.Kind })
	if at < 0 {
		return nil, fmt.Errorf("%s is of a kind that is not watched", ref)
	}
	if ref.Name == "" {
		objects, err := List(ctx, reader, kinds[at], namespace, identity.ByControllerIndex, string(ref.Controller))
		if err != nil || len(objects) != 1 {
			return nil, err // of several nobody knows which is meant
		}
		return objects[0], nil
	}
	obj := kinds[at].New()
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, obj, client.UnsafeDisableDeepCopy)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	return obj, nil
}

// RegisterIndexes adds the indexes by which scheduling objects are read, and the sets
// that are part of something.
func RegisterIndexes(ctx context.Context, indexer client.FieldIndexer, kinds []Kind) error {
	byController := func(obj client.Object) []string { return identity.ByController(obj) }
	if err := indexer.IndexField(ctx, &lwsv1.LeaderWorkerSet{}, identity.ByControllerIndex, byController); err != nil {
		return fmt.Errorf("index %s of sets: %w", identity.ByControllerIndex, err)
	}
	for _, kind := range kinds {
		indexes := map[string]func(metav1.Object) []string{}
		if kind.PerGroup {
			indexes[identity.SchedulingObjectsByGroupIndex] = identity.SchedulingObjectsByGroup
			indexes[identity.SchedulingObjectsBySetIndex] = identity.SchedulingObjectsBySet
		}
		if kind.Parents {
			indexes[identity.ByControllerIndex] = identity.ByController
		}
		for name, keys := range indexes {
			if err := indexer.IndexField(ctx, kind.New(), name, func(obj client.Object) []string { return keys(obj) }); err != nil {
				return fmt.Errorf("index %s of %s: %w", name, kind.Kind, err)
			}
		}
	}
	return nil
}
