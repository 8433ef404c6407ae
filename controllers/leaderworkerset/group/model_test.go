package group

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// model is an API server in memory as far as a group is concerned, with caches that
// show what happened to each kind of object in order, but each at its own pace.
type model struct {
	t       *testing.T
	now     time.Time
	version int
	live    map[string]client.Object // by kind and name
	log     map[string][]change      // by kind
	shown   map[string]int           // by kind: how much of the log the cache shows
	cached  map[string]client.Object
	onWrite func(verb string, obj client.Object) error // before a write of the manager
}

// change is one event of a watch.
type change struct{ before, after client.Object }

var modelKinds = []string{"Pod", "StatefulSet", "Deployment", "ReplicaSet", "LeaderWorkerSet", "ControllerRevision"}

func newModel(t *testing.T) *model {
	return &model{
		t: t, now: testStart, live: map[string]client.Object{}, log: map[string][]change{},
		shown: map[string]int{}, cached: map[string]client.Object{},
	}
}

func kindOf(obj any) string {
	if partial, ok := obj.(*metav1.PartialObjectMetadata); ok {
		return partial.Kind
	}
	return reflect.TypeOf(obj).Elem().Name()
}

func modelKey(kind, name string) string { return kind + "/" + name }

func clone[T client.Object](obj T) T { return obj.DeepCopyObject().(T) }

// store puts an object in place of another, or removes it, and tells the watches.
func (m *model) store(before, after client.Object) {
	m.version++
	obj := before
	if after != nil {
		obj = after
		after.SetResourceVersion(strconv.Itoa(m.version))
		m.live[modelKey(kindOf(obj), obj.GetName())] = after
	} else {
		delete(m.live, modelKey(kindOf(obj), obj.GetName()))
	}
	entry := change{before: before}
	if after != nil {
		entry.after = clone(after)
	}
	m.log[kindOf(obj)] = append(m.log[kindOf(obj)], entry)
}

func (m *model) create(obj client.Object) error {
	key := modelKey(kindOf(obj), obj.GetName())
	if _, found := m.live[key]; found {
		return apierrors.NewAlreadyExists(schema.GroupResource{Resource: kindOf(obj)}, obj.GetName())
	}
	obj.SetUID(types.UID(fmt.Sprintf("%s-%d", obj.GetName(), m.version+1)))
	obj.SetCreationTimestamp(metav1.NewTime(m.now))
	obj.SetGeneration(1)
	if p, ok := obj.(*corev1.Pod); ok && p.Spec.TerminationGracePeriodSeconds == nil {
		p.Spec.TerminationGracePeriodSeconds = new(int64(30)) // the default
	}
	stored := clone(obj)
	m.store(nil, stored)
	obj.SetResourceVersion(stored.GetResourceVersion())
	return nil
}

// update changes a live object; one that is being deleted goes with its last finalizer.
func (m *model) update(obj client.Object, change func(client.Object)) {
	before := m.live[modelKey(kindOf(obj), obj.GetName())]
	after := clone(before)
	change(after)
	if after.GetDeletionTimestamp() != nil && len(after.GetFinalizers()) == 0 && !m.isRunning(after) {
		m.store(before, nil)
		return
	}
	m.store(before, after)
}

// isRunning: a node agent still has the pod.
func (m *model) isRunning(obj client.Object) bool {
	p, ok := obj.(*corev1.Pod)
	return ok && p.Spec.NodeName != "" && p.Status.Phase != corev1.PodSucceeded
}

func (m *model) remove(obj client.Object, uid types.UID, policy metav1.DeletionPropagation) error {
	live, found := m.live[modelKey(kindOf(obj), obj.GetName())]
	resource := schema.GroupResource{Resource: kindOf(obj)}
	switch {
	case !found:
		return apierrors.NewNotFound(resource, obj.GetName())
	case live.GetUID() != uid:
		return apierrors.NewConflict(resource, obj.GetName(), fmt.Errorf("another UID"))
	case live.GetDeletionTimestamp() != nil && policy == metav1.DeletePropagationBackground:
		return nil
	}
	m.update(live, func(obj client.Object) {
		if obj.GetDeletionTimestamp() == nil {
			deadline := metav1.NewTime(m.now.Add(30 * time.Second))
			obj.SetDeletionTimestamp(&deadline)
			grace := int64(30)
			obj.SetDeletionGracePeriodSeconds(&grace)
		}
		switch policy {
		case metav1.DeletePropagationForeground:
			addFinalizer(obj, metav1.FinalizerDeleteDependents)
		case metav1.DeletePropagationOrphan:
			addFinalizer(obj, metav1.FinalizerOrphanDependents)
		}
	})
	return nil
}

func addFinalizer(obj client.Object, finalizer string) {
	if !slices.Contains(obj.GetFinalizers(), finalizer) {
		obj.SetFinalizers(append(slices.Clone(obj.GetFinalizers()), finalizer))
	}
}

func dropFinalizer(obj client.Object, finalizer string) {
	obj.SetFinalizers(slices.DeleteFunc(slices.Clone(obj.GetFinalizers()), func(f string) bool { return f == finalizer }))
}

// show lets the cache of a kind see one more event, and returns it.
func (m *model) show(kind string) (change, bool) {
	at := m.shown[kind]
	if at == len(m.log[kind]) {
		return change{}, false
	}
	m.shown[kind]++
	event := m.log[kind][at]
	obj := event.before
	if event.after != nil {
		obj = event.after
		m.cached[modelKey(kind, obj.GetName())] = obj
	} else {
		delete(m.cached, modelKey(kind, obj.GetName()))
	}
	return event, true
}

// liveOnes are the live objects of a kind, in the order of their names.
func liveOnes[T client.Object](m *model) []T {
	var found []T
	for _, key := range slices.Sorted(maps.Keys(m.live)) {
		if obj, ok := m.live[key].(T); ok {
			found = append(found, obj)
		}
	}
	return found
}

// modelClient reads the caches and writes to the model; past says that it reads the
// model itself.
type modelClient struct {
	client.Client
	*model
	past bool
}

func (c modelClient) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	from := c.cached
	if c.past {
		from = c.live
	}
	kind := kindOf(into)
	found, ok := from[modelKey(kind, key.Name)]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: kind}, key.Name)
	}
	if partial, isPartial := into.(*metav1.PartialObjectMetadata); isPartial {
		partial.SetName(found.GetName())
		partial.SetUID(found.GetUID())
		return nil
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(clone(found)).Elem())
	return nil
}

func (c modelClient) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	o := (&client.ListOptions{}).ApplyOptions(options)
	keysOf := map[string]func(metav1.Object) []string{
		identity.PodsByGroupIndex: identity.PodsByGroup, identity.LeadersBySetIndex: identity.LeadersBySet,
		identity.WorkerStatefulSetsBySetIndex: identity.WorkerStatefulSetsBySet, identity.RevisionsBySetIndex: identity.RevisionsBySet,
		identity.EndingWorkersBySetIndex: identity.EndingWorkersBySet, identity.ReplacementsByGroupIndex: identity.ReplacementsByGroup,
		identity.KeyedLeadersByNameIndex: identity.KeyedLeadersByName,
	}
	requirement := o.FieldSelector.Requirements()[0]
	items := reflect.ValueOf(into).Elem().FieldByName("Items")
	for _, key := range slices.Sorted(maps.Keys(c.cached)) {
		obj := c.cached[key]
		if reflect.TypeOf(obj).Elem() == items.Type().Elem() && slices.Contains(keysOf[requirement.Field](obj), requirement.Value) {
			items.Set(reflect.Append(items, reflect.ValueOf(clone(obj)).Elem()))
		}
	}
	return nil
}

func (c modelClient) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	if err := c.onWrite("create", obj); err != nil {
		return err
	}
	return c.create(obj)
}

func (c modelClient) Delete(_ context.Context, obj client.Object, options ...client.DeleteOption) error {
	o := (&client.DeleteOptions{}).ApplyOptions(options)
	obj.SetUID(*o.Preconditions.UID)
	if err := c.onWrite("delete", obj); err != nil {
		return err
	}
	return c.remove(obj, *o.Preconditions.UID, *o.PropagationPolicy)
}

func (c modelClient) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
	data, err := patch.Data(obj)
	if err != nil {
		return err
	}
	var operations []operation
	if err := json.Unmarshal(data, &operations); err != nil {
		return err
	}
	verb := "patch"
	for _, o := range operations {
		if uid, isText := o.Value.(string); isText && o.Path == pathUID {
			obj.SetUID(types.UID(uid))
		}
		if o.Op == opRemove && strings.HasPrefix(o.Path, pathGates) {
			verb = "admit"
		}
	}
	if err := c.onWrite(verb, obj); err != nil {
		return err
	}
	kind := kindOf(obj)
	live, found := c.live[modelKey(kind, obj.GetName())]
	if !found {
		return apierrors.NewNotFound(schema.GroupResource{Resource: kind}, obj.GetName())
	}
	decoded, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return err
	}
	before, err := json.Marshal(live)
	if err != nil {
		return err
	}
	after, err := decoded.Apply(before)
	if err != nil {
		return apierrors.NewGenericServerResponse(422, "patch", schema.GroupResource{Resource: kind}, obj.GetName(), err.Error(), 0, false)
	}
	fresh := reflect.New(reflect.TypeOf(live).Elem()).Interface().(client.Object)
	if err := json.Unmarshal(after, fresh); err != nil {
		return err
	}
	c.update(live, func(obj client.Object) { reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(fresh).Elem()) })
	return nil
}

func (modelClient) GroupVersionKindFor(runtime.Object) (schema.GroupVersionKind, error) {
	return schema.GroupVersionKind{}, &meta.NoKindMatchError{}
}
