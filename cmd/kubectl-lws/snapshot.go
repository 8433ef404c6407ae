package main

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, lwsv1.AddToScheme,
		scheduling.NewKubernetes(true, true).AddToScheme, scheduling.NewVolcano(true).AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// snapshot is what the manager's cache would hold of one set. Each kind is read when it
// is asked for first. What the manager does not cache in full is read from the cluster.
type snapshot struct {
	reader client.Reader
	scheme *runtime.Scheme
	set    types.NamespacedName
	cached map[schema.GroupVersionKind]cache.ByObject
	kinds  map[schema.GroupVersionKind]*kindSnapshot
}

// kindSnapshot are the objects of a kind.
type kindSnapshot struct {
	keys    map[string]client.IndexerFunc // by index
	loaded  bool
	objects []client.Object
	byName  map[types.NamespacedName]client.Object
	byIndex map[string]map[string][]client.Object
}

func newSnapshot(reader client.Reader, set *lwsv1.LeaderWorkerSet) (*snapshot, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	s := &snapshot{
		reader: reader, scheme: scheme,
		set:    client.ObjectKeyFromObject(set),
		cached: map[schema.GroupVersionKind]cache.ByObject{},
		kinds:  map[schema.GroupVersionKind]*kindSnapshot{},
	}
	for object, narrowed := range leaderworkerset.CacheOptions(schedulingKinds()...).ByObject {
		gvk, err := apiutil.GVKForObject(object, scheme)
		if err != nil {
			return nil, err
		}
		s.cached[gvk] = narrowed
	}
	s.kind(lwsv1.GroupVersion.WithKind(lwsv1.Kind)).fill([]client.Object{set})
	return s, nil
}

func (s *snapshot) kind(gvk schema.GroupVersionKind) *kindSnapshot {
	if s.kinds[gvk] == nil {
		s.kinds[gvk] = &kindSnapshot{keys: map[string]client.IndexerFunc{}}
	}
	return s.kinds[gvk]
}

func (k *kindSnapshot) fill(objects []client.Object) {
	k.loaded, k.objects, k.byIndex = true, objects, map[string]map[string][]client.Object{}
	k.byName = make(map[types.NamespacedName]client.Object, len(objects))
	for _, object := range objects {
		k.byName[client.ObjectKeyFromObject(object)] = object
	}
}

// index is that of a name, made when it is asked for first.
func (k *kindSnapshot) index(name string) (map[string][]client.Object, error) {
	keys := k.keys[name]
	if keys == nil {
		return nil, fmt.Errorf("there is no index %s", name)
	}
	if k.byIndex[name] == nil {
		k.byIndex[name] = map[string][]client.Object{}
		for _, object := range k.objects {
			for _, value := range keys(object) {
				k.byIndex[name][value] = append(k.byIndex[name][value], object)
			}
		}
	}
	return k.byIndex[name], nil
}

// IndexField adds an index that lists can ask for.
func (s *snapshot) IndexField(_ context.Context, object client.Object, name string, keys client.IndexerFunc) error {
	gvk, err := apiutil.GVKForObject(object, s.scheme)
	if err != nil {
		return err
	}
	s.kind(gvk).keys[name] = keys
	return nil
}

// Get reads an object, which is not to be changed.
func (s *snapshot) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	gvk, err := apiutil.GVKForObject(into, s.scheme)
	if err != nil {
		gvk = into.GetObjectKind().GroupVersionKind() // metadata alone says its kind
	}
	kind, err := s.load(ctx, gvk)
	if err != nil {
		return err
	}
	if kind == nil {
		return s.reader.Get(ctx, key, into, options...)
	}
	found := kind.byName[key]
	if found == nil {
		return apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found).Elem())
	return nil
}

// List reads objects, all of a kind or those of an index.
func (s *snapshot) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	gvk, err := apiutil.GVKForObject(into, s.scheme)
	if err != nil {
		return err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	kind, err := s.load(ctx, gvk)
	if err != nil {
		return err
	}
	if kind == nil {
		return fmt.Errorf("%s is not what the manager caches", gvk.Kind)
	}
	var asked client.ListOptions
	asked.ApplyOptions(options)
	objects := kind.objects
	if asked.FieldSelector != nil {
		for _, requirement := range asked.FieldSelector.Requirements() {
			index, err := kind.index(requirement.Field)
			if err != nil {
				return fmt.Errorf("list %s: %w", gvk.Kind, err)
			}
			objects = index[requirement.Value]
		}
	}
	items := make([]runtime.Object, 0, len(objects))
	for _, object := range objects {
		items = append(items, object)
	}
	return meta.SetList(into, items)
}

// load reads a kind from the cluster, narrowed as the manager's cache and to the set.
// It is nil for a kind that is not cached.
func (s *snapshot) load(ctx context.Context, gvk schema.GroupVersionKind) (*kindSnapshot, error) {
	kind := s.kinds[gvk]
	if kind != nil && kind.loaded {
		return kind, nil
	}
	narrowed, cached := s.cached[gvk]
	if !cached {
		return nil, nil
	}
	list, err := s.newList(gvk)
	if err != nil {
		return nil, err
	}
	err = s.reader.List(ctx, list, s.narrow(narrowed))
	switch {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err): // it is not served: there are none
	case err != nil:
		return nil, fmt.Errorf("%s of LeaderWorkerSet %s: %w", gvk.Kind, s.set, err)
	}
	var objects []client.Object
	err = meta.EachListItem(list, func(item runtime.Object) error {
		object, ok := item.(client.Object)
		if !ok {
			return fmt.Errorf("%T is no object", item)
		}
		objects = append(objects, object)
		return nil
	})
	kind = s.kind(gvk)
	kind.fill(objects)
	return kind, err
}

func (s *snapshot) newList(gvk schema.GroupVersionKind) (client.ObjectList, error) {
	gvk.Kind += "List"
	object, err := s.scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	list, ok := object.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("%T is no list", object)
	}
	return list, nil
}

func (s *snapshot) narrow(narrowed cache.ByObject) *client.ListOptions {
	options := &client.ListOptions{Namespace: s.set.Namespace, FieldSelector: narrowed.Field}
	if narrowed.Label == nil {
		return options
	}
	ours, err := labels.NewRequirement(lwsv1.SetNameLabelKey, selection.Equals, []string{s.set.Name})
	if err != nil {
		return options // no set has a name that is no label
	}
	options.LabelSelector = narrowed.Label.Add(*ours)
	return options
}
