//go:build integration

package rules

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// Objects of the tables are written as YAML that is merged into an object that
// every rule accepts. They are sent untyped, so that what is absent stays absent.
const (
	baseLeaderWorkerSet = `
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: sample, namespace: default}
spec:
  leaderWorkerTemplate:
    workerTemplate: {spec: {containers: [{name: worker, image: worker}]}}
`
	baseDisaggregatedSet = `
apiVersion: disaggregatedset.x-k8s.io/v1
kind: DisaggregatedSet
metadata: {name: sample, namespace: default}
spec:
  roles:
  - name: prefill
    spec:
      leaderWorkerTemplate:
        workerTemplate: {spec: {containers: [{name: worker, image: worker}]}}
  - name: decode
    spec:
      leaderWorkerTemplate:
        workerTemplate: {spec: {containers: [{name: worker, image: worker}]}}
`
)

// leaderWorkerSet merges YAML into the base object.
func leaderWorkerSet(t *testing.T, patch string) *unstructured.Unstructured {
	t.Helper()
	return merged(t, baseLeaderWorkerSet, patch)
}

// disaggregatedSet merges YAML into the base object.
func disaggregatedSet(t *testing.T, patch string) *unstructured.Unstructured {
	t.Helper()
	return merged(t, baseDisaggregatedSet, patch)
}

// roleOf puts a LeaderWorkerSet into the first role of a DisaggregatedSet.
func roleOf(t *testing.T, set *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	result := disaggregatedSet(t, "{}")
	roles, _, err := unstructured.NestedSlice(result.Object, "spec", "roles")
	if err != nil {
		t.Fatal(err)
	}
	roles[0].(map[string]any)["spec"] = set.DeepCopy().Object["spec"]
	if err := unstructured.SetNestedSlice(result.Object, roles, "spec", "roles"); err != nil {
		t.Fatal(err)
	}
	return result
}

func merged(t *testing.T, base, patch string) *unstructured.Unstructured {
	t.Helper()
	document, err := yaml.YAMLToJSON([]byte(base))
	if err != nil {
		t.Fatal(err)
	}
	change, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	if document, err = jsonpatch.MergePatch(document, change); err != nil {
		t.Fatal(err)
	}
	result := &unstructured.Unstructured{}
	if err := json.Unmarshal(document, result); err != nil {
		t.Fatal(err)
	}
	return result
}

// create sends an object and removes it after the test.
func create(t *testing.T, object *unstructured.Unstructured, options ...client.CreateOption) (*unstructured.Unstructured, error) {
	t.Helper()
	object = object.DeepCopy()
	err := api.Create(t.Context(), object, options...)
	if err == nil && len(options) == 0 {
		t.Cleanup(func() { remove(t, object) })
	}
	return object, err
}

func mustCreate(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	created, err := create(t, object)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return created
}

// remove deletes an object and waits for nothing: nothing in these tests holds it.
func remove(t *testing.T, object client.Object) {
	t.Helper()
	if err := api.Delete(context.Background(), object); client.IgnoreNotFound(err) != nil {
		t.Errorf("delete %s: %v", object.GetName(), err)
	}
}

// update replaces the spec of a stored object.
func update(t *testing.T, stored, next *unstructured.Unstructured, options ...client.UpdateOption) error {
	t.Helper()
	current := stored.DeepCopy()
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(stored), current); err != nil {
		t.Fatal(err)
	}
	current.Object["spec"] = next.DeepCopy().Object["spec"]
	return api.Update(t.Context(), current, options...)
}

// refusal is one cause of an API server's refusal.
type refusal struct{ field, message string }

// refusals are the causes of an error that refuses an object as invalid.
func refusals(t *testing.T, err error) []refusal {
	t.Helper()
	if err == nil {
		t.Fatal("accepted, want it refused")
	}
	var status *apierrors.StatusError
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		t.Fatalf("refused otherwise than as invalid: %v", err)
	}
	var result []refusal
	for _, cause := range status.Status().Details.Causes {
		if strings.Contains(cause.Message, "some validation rules were not checked") || cause.Field == ".spec.replicas" {
			continue // what the API server adds for every definition: CEL was skipped, and the scale subresource has its own check
		}
		result = append(result, refusal{cause.Field, cause.Message})
	}
	return result
}

// mustRefuse wants the refusal of one field with a message, and none of another
// field.
func mustRefuse(t *testing.T, err error, want refusal) {
	t.Helper()
	found := false
	for _, got := range refusals(t, err) {
		switch {
		case got.field != want.field:
			t.Errorf("refuses %s as well: %s", got.field, got.message)
		case strings.Contains(got.message, want.message):
			found = true
		default:
			t.Errorf("says of %s: %s", got.field, got.message)
		}
	}
	if !found {
		t.Errorf("does not refuse %s with %q: %v", want.field, want.message, err)
	}
}

// mustMention wants the refusal of a field with a message, among others.
func mustMention(t *testing.T, err error, want refusal) {
	t.Helper()
	for _, got := range refusals(t, err) {
		if got.field == want.field && strings.Contains(got.message, want.message) {
			return
		}
	}
	t.Errorf("does not refuse %s with %q: %v", want.field, want.message, err)
}

// kindCase is an object that is accepted, one that is not, and why.
type kindCase struct {
	good, bad *unstructured.Unstructured
	refusal
}
