package children

import (
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
)

func ownerReference(set *dsv1.DisaggregatedSet) *metaapply.OwnerReferenceApplyConfiguration {
	return metaapply.OwnerReference().
		WithAPIVersion(dsv1.GroupVersion.String()).
		WithKind(dsv1.Kind).
		WithName(set.Name).
		WithUID(set.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}

// metadataDiffers says whether applying labels, annotations and the owner would
// change an object. A key that is no longer wanted goes only if it is ours, which
// the record of managers tells.
func metadataDiffers(live metav1.Object, set *dsv1.DisaggregatedSet, labels, annotations map[string]string) bool {
	if !metav1.IsControlledBy(live, set) || !contains(live.GetLabels(), labels) || !contains(live.GetAnnotations(), annotations) {
		return true
	}
	for _, entry := range live.GetManagedFields() {
		if !isOurs(entry) {
			continue
		}
		ownedLabels, ownedAnnotations := ownedKeys(entry)
		if leftOver(ownedLabels, live.GetLabels(), labels) || leftOver(ownedAnnotations, live.GetAnnotations(), annotations) {
			return true
		}
	}
	return false
}

func contains(have, want map[string]string) bool {
	for key, value := range want {
		if found, ok := have[key]; !ok || found != value {
			return false
		}
	}
	return true
}

func leftOver(owned []string, have, want map[string]string) bool {
	for _, key := range owned {
		_, has := have[key]
		if _, wants := want[key]; has && !wants {
			return true
		}
	}
	return false
}

// Managers are the field managers that wrote the fields of a set's object with an
// update rather than with apply: this one when it created the object, and that of
// an earlier release, which is known by the owner reference that it wrote.
func Managers(live metav1.Object) []string {
	var managers []string
	for _, entry := range live.GetManagedFields() {
		if entry.Operation == metav1.ManagedFieldsOperationUpdate && isOurs(entry) {
			managers = append(managers, entry.Manager)
		}
	}
	return managers
}

func isOurs(entry metav1.ManagedFieldsEntry) bool {
	if entry.Subresource != "" {
		return false
	}
	return entry.Manager == dsv1.FieldManager || writes(entry, "f:ownerReferences")
}

type ownedMetadata struct {
	Metadata map[string]json.RawMessage `json:"f:metadata"`
}

func metadataOf(entry metav1.ManagedFieldsEntry) map[string]json.RawMessage {
	var fields ownedMetadata
	if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
		return nil // an entry that cannot be read owns nothing
	}
	return fields.Metadata
}

func writes(entry metav1.ManagedFieldsEntry, field string) bool {
	_, ok := metadataOf(entry)[field]
	return ok
}

func ownedKeys(entry metav1.ManagedFieldsEntry) (labels, annotations []string) {
	metadata := metadataOf(entry)
	return keysIn(metadata["f:labels"]), keysIn(metadata["f:annotations"])
}

func keysIn(raw json.RawMessage) []string {
	var fields map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	var keys []string
	for field := range fields {
		if key, ok := strings.CutPrefix(field, "f:"); ok {
			keys = append(keys, key)
		}
	}
	return keys
}
