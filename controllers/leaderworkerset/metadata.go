package leaderworkerset

import (
	"strings"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Labels and annotations of a set are repeated on its objects, so that policies,
// cost reports and dashboards find them. Not repeated are keys with a meaning for
// the one object they are on: a tool would take the copy for an object of its own.
var (
	// ownPrefixes are written by the managers, but for what users write.
	ownPrefixes = []string{lwsv1.KeyPrefix, "disaggregatedset.x-k8s.io/"}

	foreignPrefixes = []string{
		"kubectl.kubernetes.io/",
		"deployment.kubernetes.io/",
		"meta.helm.sh/",
		"argocd.argoproj.io/",
		"kustomize.toolkit.fluxcd.io/",
		"autoscaling.alpha.kubernetes.io/",
	}

	inputKeys = map[string]bool{
		lwsv1.ExclusiveTopologyAnnotationKey:         true,
		lwsv1.SubGroupExclusiveTopologyAnnotationKey: true,
		lwsv1.RecreateGroupAfterStartAnnotationKey:   true,
	}
)

const managedByLabelKey = "app.kubernetes.io/managed-by"

// copiedLabels are the labels of the set that its objects repeat.
func copiedLabels(set *lwsv1.LeaderWorkerSet) map[string]string {
	labels := copied(set.Labels)
	delete(labels, managedByLabelKey)
	return labels
}

// copiedAnnotations are the annotations of the set that its objects repeat.
func copiedAnnotations(set *lwsv1.LeaderWorkerSet) map[string]string {
	return copied(set.Annotations)
}

func copied(keys map[string]string) map[string]string {
	repeated := make(map[string]string, len(keys))
	for key, value := range keys {
		if isCopied(key) {
			repeated[key] = value
		}
	}
	return repeated
}

func isCopied(key string) bool {
	return !hasPrefix(key, foreignPrefixes) && (inputKeys[key] || !hasPrefix(key, ownPrefixes))
}

func hasPrefix(key string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}
