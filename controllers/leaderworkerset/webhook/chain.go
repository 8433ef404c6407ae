package webhook

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

const (
	statefulSetKind = "StatefulSet"
	replicaSetKind  = "ReplicaSet"
	deploymentKind  = "Deployment"
	podKind         = "Pod"
)

// reader reads from the cache and, what is not there, once from the API server:
// the cache is a moment behind, and a pod may be created just before its owner
// arrives in it.
type reader struct {
	cached, live client.Reader
}

// get is false if the object does not exist. A cache that cannot answer, because
// it is still being filled, is asked no further. What it answers is only read.
func (r reader) get(ctx context.Context, key types.NamespacedName, obj client.Object) (bool, error) {
	if r.cached.Get(ctx, key, obj, client.UnsafeDisableDeepCopy) == nil {
		return true, nil
	}
	return r.getLive(ctx, key, obj)
}

func (r reader) getLive(ctx context.Context, key types.NamespacedName, obj client.Object) (bool, error) {
	err := r.live.Get(ctx, key, obj)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// maxChain is the number of owners above a worker: its StatefulSet, the leader, the
// leader's StatefulSet or its ReplicaSet and Deployment, and the set.
const maxChain = 5

// belongs says whether the owner chain of a pod ends in the set of that name. A
// chain that breaks off, as while a group is being deleted, belongs to nobody. Only
// the API server can say so: the cache may show an owner as it was before the set
// adopted it, and a pod that passes as it is never becomes a member of a group.
func (r reader) belongs(ctx context.Context, pod *corev1.Pod, set string) (bool, error) {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || !isKind(owner, statefulSetKind) && !isKind(owner, replicaSetKind) {
		return false, nil
	}
	ours, err := endsIn(ctx, r.get, pod.Namespace, owner, set)
	if err != nil || ours {
		return ours, err
	}
	return endsIn(ctx, r.getLive, pod.Namespace, owner, set)
}

// getter is false if the object does not exist.
type getter func(ctx context.Context, key types.NamespacedName, obj client.Object) (bool, error)

// endsIn follows a chain of owners to its end.
func endsIn(ctx context.Context, get getter, namespace string, owner *metav1.OwnerReference, set string) (bool, error) {
	for range maxChain {
		if isSet(owner) {
			return owner.Name == set, nil
		}
		next, err := controllerOf(ctx, get, namespace, owner)
		if err != nil || next == nil {
			return false, err
		}
		owner = next
	}
	return false, nil
}

// controllerOf is the controller of an owner, nil if it has none, does not exist,
// or is of a kind that no pod of ours has above it.
func controllerOf(ctx context.Context, get getter, namespace string, owner *metav1.OwnerReference) (*metav1.OwnerReference, error) {
	var obj client.Object
	switch {
	case isKind(owner, statefulSetKind):
		obj = &appsv1.StatefulSet{}
	case isKind(owner, deploymentKind):
		obj = &appsv1.Deployment{}
	case isKind(owner, replicaSetKind):
		obj = &appsv1.ReplicaSet{}
	case owner.Kind == podKind && owner.APIVersion == corev1.SchemeGroupVersion.String():
		obj = &corev1.Pod{}
	default:
		return nil, nil
	}
	found, err := get(ctx, types.NamespacedName{Namespace: namespace, Name: owner.Name}, obj)
	if err != nil {
		return nil, fmt.Errorf("owner %s %s/%s: %w", owner.Kind, namespace, owner.Name, err)
	}
	if !found {
		return nil, nil
	}
	return metav1.GetControllerOf(obj), nil
}

// isKind says whether an owner is of a kind of the workload API.
func isKind(owner *metav1.OwnerReference, kind string) bool {
	return owner.Kind == kind && groupOf(owner) == appsv1.GroupName
}

func isSet(owner *metav1.OwnerReference) bool {
	return owner.Kind == lwsv1.Kind && groupOf(owner) == lwsv1.GroupName
}

func groupOf(owner *metav1.OwnerReference) string {
	version, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return ""
	}
	return version.Group
}
