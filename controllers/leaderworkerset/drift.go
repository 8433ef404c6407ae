package leaderworkerset

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// earlierFieldManager wrote the Services of earlier releases. Many other programs
// are called so: on an object that we wrote under our own name it is one of them.
const earlierFieldManager = "manager"

// ourFieldManagers are those who wrote an object for us.
func ourFieldManagers(entries []metav1.ManagedFieldsEntry) sets.Set[string] {
	wrote := func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == lwsv1.FieldManager }
	if slices.ContainsFunc(entries, wrote) {
		return sets.New(lwsv1.FieldManager)
	}
	return sets.New(earlierFieldManager)
}

// statefulSetDiffers says whether applying desired would change live.
func statefulSetDiffers(desired *appsapply.StatefulSetApplyConfiguration, live *appsv1.StatefulSet) (bool, error) {
	bare := *live
	bare.ManagedFields, bare.Status = nil, appsv1.StatefulSetStatus{}
	return differs(desired, &bare, live, desired.Labels, desired.Annotations)
}

// deploymentDiffers says whether applying desired would change live.
func deploymentDiffers(desired *appsapply.DeploymentApplyConfiguration, live *appsv1.Deployment) (bool, error) {
	bare := *live
	bare.ManagedFields, bare.Status = nil, appsv1.DeploymentStatus{}
	return differs(desired, &bare, live, desired.Labels, desired.Annotations)
}

// serviceDiffers says whether applying desired would change live.
func serviceDiffers(desired *coreapply.ServiceApplyConfiguration, live *corev1.Service) (bool, error) {
	bare := *live
	bare.ManagedFields, bare.Status = nil, corev1.ServiceStatus{}
	return differs(desired, &bare, live, desired.Labels, desired.Annotations)
}

func differs(desired, bare any, live metav1.Object, labels, annotations map[string]string) (bool, error) {
	if ownsMore(live, labels, annotations) {
		return true, nil
	}
	want, err := runtime.DefaultUnstructuredConverter.ToUnstructured(desired)
	if err != nil {
		return false, err
	}
	have, err := runtime.DefaultUnstructuredConverter.ToUnstructured(bare)
	if err != nil {
		return false, err
	}
	// A live object read through a typed client has no kind; that is what it was
	// read as. What is unstructured already was not copied.
	want = maps.Clone(want)
	delete(want, "kind")
	delete(want, "apiVersion")
	return !containsMap(have, want), nil
}

// associative are the lists of our objects to which others may add items: apply
// merges them by key and leaves what it does not own. All others are replaced
// whole.
var associative = sets.New("ownerReferences", "initContainers", "containers", "volumes",
	"imagePullSecrets", "hostAliases", "topologySpreadConstraints", "resourceClaims",
	"env", "ports", "volumeMounts", "volumeDevices", "claims")

// contains says whether all that want says holds in have. What want leaves open,
// such as a default of the API server or a field that somebody else owns, is no
// difference.
func contains(field string, have, want any) bool {
	switch want := want.(type) {
	case nil:
		return true
	case map[string]any:
		return containsMap(have, want)
	case []any:
		items, _ := have.([]any)
		if associative.Has(field) {
			return containsItems(items, want)
		}
		return containsList(items, want)
	default:
		return reflect.DeepEqual(have, want)
	}
}

func containsMap(have any, want map[string]any) bool {
	fields, ok := have.(map[string]any)
	if !ok {
		return len(want) == 0 && have == nil
	}
	for key, value := range want {
		field, present := fields[key]
		if present && !contains(key, field, value) || !present && !isEmpty(value) {
			return false
		}
	}
	return true
}

func containsList(have, want []any) bool {
	if len(have) != len(want) {
		return false
	}
	for i := range want {
		if !contains("", have[i], want[i]) {
			return false
		}
	}
	return true
}

func containsItems(have, want []any) bool {
	for _, item := range want {
		if !slices.ContainsFunc(have, func(candidate any) bool { return contains("", candidate, item) }) {
			return false
		}
	}
	return true
}

// isEmpty says whether a value disappears in a typed object.
func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	default:
		return reflect.ValueOf(value).IsZero()
	}
}

// ownsMore says whether we own a label or an annotation of a live object that is
// no longer wanted: the field is not in what we apply, so only the record of
// managers shows that applying would remove it.
func ownsMore(live metav1.Object, labels, annotations map[string]string) bool {
	ownedLabels, ownedAnnotations := ownedKeys(live.GetManagedFields())
	return !isSubset(ownedLabels, labels, live.GetLabels()) ||
		!isSubset(ownedAnnotations, annotations, live.GetAnnotations())
}

func isSubset(owned sets.Set[string], wanted, live map[string]string) bool {
	for key := range owned {
		_, want := wanted[key]
		_, have := live[key]
		if have && !want {
			return false
		}
	}
	return true
}

// ownedKeys reads which labels and annotations are ours. An entry that cannot be
// read owns nothing.
func ownedKeys(entries []metav1.ManagedFieldsEntry) (labels, annotations sets.Set[string]) {
	labels, annotations = sets.New[string](), sets.New[string]()
	ours := ourFieldManagers(entries)
	for _, entry := range entries {
		if !ours.Has(entry.Manager) || entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Metadata struct {
				Labels      map[string]json.RawMessage `json:"f:labels"`
				Annotations map[string]json.RawMessage `json:"f:annotations"`
			} `json:"f:metadata"`
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}
		addKeys(labels, fields.Metadata.Labels)
		addKeys(annotations, fields.Metadata.Annotations)
	}
	return labels, annotations
}

func addKeys(keys sets.Set[string], fields map[string]json.RawMessage) {
	for field := range maps.Keys(fields) {
		if key, ok := strings.CutPrefix(field, "f:"); ok {
			keys.Insert(key)
		}
	}
}
