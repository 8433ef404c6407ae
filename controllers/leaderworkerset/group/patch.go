package group

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
)

// operation is one operation of a JSON patch. Objects that others create are changed
// by such patches, which test what they replace: a server-side apply could not remove
// what admission put there in the name of the creator.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

const (
	opTest    = "test"
	opAdd     = "add"
	opRemove  = "remove"
	opReplace = "replace"

	pathUID         = "/metadata/uid"
	pathVersion     = "/metadata/resourceVersion"
	pathAnnotations = "/metadata/annotations"
	pathFinalizers  = "/metadata/finalizers"
	pathOwners      = "/metadata/ownerReferences"
	pathGates       = "/spec/schedulingGates"
)

func jsonPatch(operations []operation) (client.Patch, error) {
	encoded, err := json.Marshal(operations)
	if err != nil {
		return nil, fmt.Errorf("encode JSON patch: %w", err)
	}
	return client.RawPatch(types.JSONPatchType, encoded), nil
}

func testUID(obj metav1.Object) operation {
	return operation{Op: opTest, Path: pathUID, Value: obj.GetUID()}
}

// gatePatch removes our gate, and tests that it is ours, with the deletion cost of
// leaders that wait at it. It is nil for a pod without it.
func gatePatch(p *corev1.Pod) []operation {
	index, ok := podspec.GateIndex(p)
	if !ok {
		return nil
	}
	path := fmt.Sprintf("%s/%d", pathGates, index)
	operations := []operation{
		testUID(p),
		{Op: opTest, Path: path + "/name", Value: lwsv1.GroupReplacementSchedulingGate},
		{Op: opRemove, Path: path},
	}
	if _, keyed := keyedLeader(p); keyed && podspec.HasGatedDeletionCost(p) {
		operations = append(operations, operation{Op: opRemove, Path: annotationPath(corev1.PodDeletionCost)})
	}
	return operations
}

// annotationPatch sets an annotation; annotationRemoval removes one.
func annotationPatch(obj metav1.Object, key, value string) []operation {
	if len(obj.GetAnnotations()) == 0 {
		// The map may be there but for us: adding it must not empty it.
		return []operation{
			testUID(obj), testVersion(obj),
			{Op: opAdd, Path: pathAnnotations, Value: map[string]string{key: value}},
		}
	}
	return []operation{testUID(obj), {Op: opAdd, Path: annotationPath(key), Value: value}}
}

func annotationRemoval(obj metav1.Object, key string) []operation {
	return []operation{testUID(obj), {Op: opRemove, Path: annotationPath(key)}}
}

func annotationPath(key string) string {
	return pathAnnotations + "/" + strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// finalizerPatch adds our finalizer. It tests the version: two of it would have to be
// removed twice. It is nil for a pod that has it.
func finalizerPatch(obj metav1.Object) []operation {
	finalizers := obj.GetFinalizers()
	switch {
	case slices.Contains(finalizers, lwsv1.GroupRestartBudgetCleanupFinalizer):
		return nil
	case len(finalizers) == 0:
		return []operation{
			testUID(obj), testVersion(obj),
			{Op: opAdd, Path: pathFinalizers, Value: []string{lwsv1.GroupRestartBudgetCleanupFinalizer}},
		}
	}
	return []operation{
		testUID(obj), testVersion(obj),
		{Op: opAdd, Path: pathFinalizers + "/-", Value: lwsv1.GroupRestartBudgetCleanupFinalizer},
	}
}

// finalizerRemoval removes our finalizer. It is nil for a pod without it.
func finalizerRemoval(obj metav1.Object) []operation {
	index := slices.Index(obj.GetFinalizers(), lwsv1.GroupRestartBudgetCleanupFinalizer)
	if index < 0 {
		return nil
	}
	path := fmt.Sprintf("%s/%d", pathFinalizers, index)
	return []operation{
		testUID(obj),
		{Op: opTest, Path: path, Value: lwsv1.GroupRestartBudgetCleanupFinalizer},
		{Op: opRemove, Path: path},
	}
}

// ownerPatch makes an object somebody else's, and leaves owners that are no
// controllers alone.
func ownerPatch(obj metav1.Object, reference metav1.OwnerReference) []operation {
	references := obj.GetOwnerReferences()
	index := slices.IndexFunc(references, func(r metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller })
	switch {
	case index >= 0:
		path := fmt.Sprintf("%s/%d", pathOwners, index)
		return []operation{
			testUID(obj),
			{Op: opTest, Path: path + "/uid", Value: references[index].UID},
			{Op: opReplace, Path: path, Value: reference},
		}
	case len(references) == 0:
		return []operation{
			testUID(obj), testVersion(obj),
			{Op: opAdd, Path: pathOwners, Value: []metav1.OwnerReference{reference}},
		}
	}
	return []operation{testUID(obj), testVersion(obj), {Op: opAdd, Path: pathOwners + "/-", Value: reference}}
}

func testVersion(obj metav1.Object) operation {
	return operation{Op: opTest, Path: pathVersion, Value: obj.GetResourceVersion()}
}
