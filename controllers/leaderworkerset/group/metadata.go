package group

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Kinds that own objects of a group.
var (
	setKind = lwsv1.GroupVersion.WithKind(lwsv1.Kind)
	podKind = corev1.SchemeGroupVersion.WithKind(kindPod)
)

// Labels and annotations of a set are repeated on its objects, so that policies,
// cost reports and dashboards find them. Not repeated are keys that mean something
// for the one object they are on: a tool would take the copy for an object of its
// own.
var (
	ownPrefixes = []string{lwsv1.KeyPrefix, "disaggregatedset.x-k8s.io/"}

	foreignPrefixes = []string{
		"kubectl.kubernetes.io/",
		"deployment.kubernetes.io/",
		"meta.helm.sh/",
		"argocd.argoproj.io/",
		"kustomize.toolkit.fluxcd.io/",
		"autoscaling.alpha.kubernetes.io/",
	}

	// inputKeys are under our prefix, but users write them.
	inputKeys = map[string]bool{
		lwsv1.ExclusiveTopologyAnnotationKey:         true,
		lwsv1.SubGroupExclusiveTopologyAnnotationKey: true,
		lwsv1.RecreateGroupAfterStartAnnotationKey:   true,
		lwsv1.GangSchedulingAnnotationKey:            true,
	}
)

const managedByLabelKey = "app.kubernetes.io/managed-by"

// CopiedLabels are the labels of a set that its objects repeat.
func CopiedLabels(set *lwsv1.LeaderWorkerSet) map[string]string {
	labels := copied(set.Labels)
	delete(labels, managedByLabelKey)
	return labels
}

// CopiedAnnotations are the annotations of a set that its objects repeat.
func CopiedAnnotations(set *lwsv1.LeaderWorkerSet) map[string]string {
	return copied(set.Annotations)
}

func copied(keys map[string]string) map[string]string {
	repeated := make(map[string]string, len(keys))
	for key, value := range keys {
		if !hasPrefix(key, foreignPrefixes) && (inputKeys[key] || !hasPrefix(key, ownPrefixes)) {
			repeated[key] = value
		}
	}
	return repeated
}

func hasPrefix(key string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// ownerOf makes an object the controller of another.
func ownerOf(kind schema.GroupVersionKind, obj metav1.Object) *metaapply.OwnerReferenceApplyConfiguration {
	return metaapply.OwnerReference().
		WithAPIVersion(kind.GroupVersion().String()).
		WithKind(kind.Kind).
		WithName(obj.GetName()).
		WithUID(obj.GetUID()).
		WithController(true).
		WithBlockOwnerDeletion(true)
}

// controllerOf reads the controller of an object. A kind counts only with its group:
// somebody else's Pod kind is not a pod.
func controllerOf(obj metav1.Object) owner {
	ref := metav1.GetControllerOfNoCopy(obj)
	if ref == nil {
		return owner{}
	}
	kind := ref.Kind
	if version, err := schema.ParseGroupVersion(ref.APIVersion); err != nil || version.Group != groupsOfKinds[ref.Kind] {
		kind = ref.Kind + "." + version.Group
	}
	return owner{Kind: kind, Name: ref.Name, UID: ref.UID}
}

var groupsOfKinds = map[string]string{
	kindPod:         corev1.GroupName,
	kindStatefulSet: "apps",
	kindReplicaSet:  "apps",
	setKind.Kind:    lwsv1.GroupVersion.Group,
}
