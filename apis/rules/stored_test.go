//go:build integration

package rules

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

// storedObjects are refused today. An API server without our rules stores them
// under the key as their name, unless they have one.
func storedObjects(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	long := named(leaderWorkerSet(t, spec(template("size: 2"))), 63)
	objects := map[string]*unstructured.Unstructured{
		"long":              long,
		"with-dot":          leaderWorkerSet(t, "metadata: {name: with.dot}"),
		"nothing-moves":     leaderWorkerSet(t, spec(rolling("maxUnavailable: 0, maxSurge: 0"))),
		"paused":            leaderWorkerSet(t, spec("replicas: 0\n"+rolling("maxUnavailable: 0, maxSurge: 0"))),
		"no-percentage":     leaderWorkerSet(t, spec(rolling("maxUnavailable: half, maxSurge: -3"))),
		"empty-subgroups":   leaderWorkerSet(t, spec(template("size: 4, subGroupPolicy: {}"))),
		"zero-subgroups":    leaderWorkerSet(t, spec(template("size: 4, subGroupPolicy: {subGroupSize: 0}"))),
		"odd-subgroups":     leaderWorkerSet(t, spec(template("size: 6, subGroupPolicy: {subGroupSize: 4}"))),
		"budget-of-none":    leaderWorkerSet(t, spec(template("restartPolicy: None, maxGroupRestarts: 1"))),
		"too-many-replicas": leaderWorkerSet(t, spec("replicas: 2000000")),
		"hash-with-claims":  leaderWorkerSet(t, spec("groupIdentity: Hash\n"+template("volumeClaimTemplates: ["+claim+"]"))),
		"immediate-ordinal": leaderWorkerSet(t, spec("groupReplacementPolicy: Immediate")),
		"empty-template":    leaderWorkerSet(t, spec(template("workerTemplate: {spec: null}"))),
		"pods-that-end":     leaderWorkerSet(t, spec(worker+"{restartPolicy: Never, activeDeadlineSeconds: 5}}}")),
		"bad-topology":      leaderWorkerSet(t, spec(template("placementPolicy: {type: ExclusiveTopology, topology: 'a b'}"))),
		"both-policies":     leaderWorkerSet(t, spec("scheduling: {schedulingPolicy: {basic: {}, gang: {}}}")),
		"ds-long":           named(disaggregatedSet(t, "{}"), 63),
		"ds-one-role":       disaggregatedSet(t, spec(manyRoles(1))),
		"ds-partition":      disaggregatedSet(t, spec(roles(role("a", "", rolling("partition: 3")+", "), role("b", "", "")))),
		"ds-half-paused":    disaggregatedSet(t, spec(roles(role("a", "", "replicas: 0, "), role("b", "", "replicas: 1, ")))),
		"ds-slices":         disaggregatedSet(t, spec("slices: 1000")),
		"ds-subgroups":      disaggregatedSet(t, spec(roles(placed("a", "", "subGroupPolicy: {}"), role("b", "", "")))),
	}
	for name, object := range objects {
		if object.GetName() == "sample" {
			object.SetName(name)
		}
		object.SetFinalizers([]string{"example.com/before"})
	}
	return objects
}

// An object stored before a rule existed, or before a field had its default, can
// still get status, lose a finalizer and be deleted.
func TestObjectsStoredBeforeTheRules(t *testing.T) {
	environment := &envtest.Environment{CRDs: definitionsWithoutRules(t)}
	config, err := environment.Start()
	if err != nil {
		t.Fatal(errors.Join(err, environment.Stop()))
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	old, err := newClient(config)
	if err != nil {
		t.Fatal(err)
	}
	objects := storedObjects(t)
	for name, object := range objects {
		if err := old.Create(t.Context(), object); err != nil {
			t.Fatalf("%s: create without rules: %v", name, err)
		}
	}
	changes := storedChanges(t)
	for name, change := range changes {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "stored-"}}
		if err := old.Create(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
		change.from.SetNamespace(namespace.Name)
		if err := old.Create(t.Context(), change.from); err != nil {
			t.Fatalf("%s: create without rules: %v", name, err)
		}
	}
	introduceRules(t, old)
	for name, change := range changes {
		t.Run(name, func(t *testing.T) { checkStoredChange(t, old, change) })
	}
	for name, object := range objects {
		t.Run(name, func(t *testing.T) { checkStored(t, old, object) })
	}
}

func checkStored(t *testing.T, c client.Client, object *unstructured.Unstructured) {
	t.Helper()
	key := client.ObjectKeyFromObject(object)
	again := object.DeepCopy()
	again.SetResourceVersion("")
	again.SetUID("")
	if object.GetName() != "with.dot" && len(object.GetName()) < 63 {
		again.SetName("again-" + object.GetName())
	} else {
		again.SetNamespace("kube-system")
	}
	if err := c.Create(t.Context(), again, client.DryRunAll); !apierrors.IsInvalid(err) {
		t.Errorf("the same object anew: %v, want it refused", err)
	}

	if err := c.Get(t.Context(), key, object); err != nil {
		t.Fatal(err)
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"observedGeneration":1}}`))
	if err := c.Status().Patch(t.Context(), object, patch); err != nil {
		t.Errorf("patch of status: %v", err)
	}
	if err := unstructured.SetNestedField(object.Object, int64(2), "status", "observedGeneration"); err != nil {
		t.Fatal(err)
	}
	if err := c.Status().Update(t.Context(), object); err != nil {
		t.Errorf("update of status: %v", err)
	}
	if got, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration"); got != 2 {
		t.Errorf("status has observedGeneration %d, want 2", got)
	}
	object.SetLabels(map[string]string{"a": "b"})
	if err := c.Update(t.Context(), object); err != nil {
		t.Errorf("update of a label: %v", err)
	}
	if err := c.Delete(t.Context(), object); err != nil {
		t.Errorf("delete: %v", err)
	}
	without := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	if err := c.Patch(t.Context(), object, without); err != nil {
		t.Errorf("removal of the finalizer: %v", err)
	}
	if err := c.Get(t.Context(), key, object); !apierrors.IsNotFound(err) {
		t.Errorf("get after deletion: %v, want it gone", err)
	}
}

// storedChange is a change of an object that was stored before a rule existed.
type storedChange struct {
	from, to *unstructured.Unstructured
	// refused is empty when the change is accepted.
	refused refusal
}

// A bad object can be repaired, and may do what makes it no worse.
func storedChanges(t *testing.T) map[string]storedChange {
	t.Helper()
	workers := func(replicas string) *unstructured.Unstructured {
		return named(leaderWorkerSet(t, spec("replicas: "+replicas+"\n"+template("size: 2"))), 60)
	}
	tooLong := refusal{root, "metadata.name is too long"}
	slices := func(slices string) *unstructured.Unstructured {
		return named(disaggregatedSet(t, spec("slices: "+slices)), 60)
	}
	return map[string]storedChange{
		"fewer groups of a long name":     {workers("20"), workers("10"), refusal{}},
		"more groups of a long name":      {workers("20"), workers("21"), tooLong},
		"no workers any more":             {workers("20"), named(leaderWorkerSet(t, spec("replicas: 20")), 60), refusal{}},
		"workers for a long name":         {named(leaderWorkerSet(t, "{}"), 60), workers("1"), tooLong},
		"another image of a long name":    {workers("2"), named(leaderWorkerSet(t, spec("replicas: 2\n"+template("size: 2, leaderTemplate: {spec: {containers: [{name: leader, image: other}]}}"))), 60), refusal{}},
		"fewer slices of a long name":     {slices("11"), slices("9"), refusal{}},
		"more slices of a long name":      {slices("9"), slices("11"), refusal{root, "are too long"}},
		"another role of a long name":     {slices("2"), named(disaggregatedSet(t, spec(roles(role("prefill", "", ""), role("other", "", "")))), 60), refusal{root, "are too long"}},
		"subgroups get their size":        {leaderWorkerSet(t, spec(template("size: 4, subGroupPolicy: {}"))), leaderWorkerSet(t, spec(template("size: 4, subGroupPolicy: {subGroupSize: 2}"))), refusal{}},
		"budgets that move something":     {leaderWorkerSet(t, spec(rolling("maxUnavailable: 0"))), leaderWorkerSet(t, spec(rolling("maxUnavailable: 1"))), refusal{}},
		"paused, and nothing may move":    {leaderWorkerSet(t, spec(rolling("maxUnavailable: 0"))), leaderWorkerSet(t, spec("replicas: 0\n"+rolling("maxUnavailable: 0"))), refusal{"spec." + rollingPath + "maxUnavailable", "cannot both be zero"}},
		"another image and a wrong field": {leaderWorkerSet(t, spec("replicas: 2000000")), leaderWorkerSet(t, spec("replicas: 2000000\n"+template("size: 1"))), refusal{}},
	}
}

func checkStoredChange(t *testing.T, c client.Client, change storedChange) {
	t.Helper()
	stored := change.from
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
		t.Fatal(err)
	}
	stored.Object["spec"] = change.to.Object["spec"]
	err := c.Update(t.Context(), stored)
	switch {
	case change.refused != refusal{}:
		mustRefuse(t, err, change.refused)
	case err != nil:
		t.Errorf("update: %v", err)
	}
}

// definitionsWithoutRules are the shipped definitions without whatever refuses a
// value.
func definitionsWithoutRules(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	result := shippedDefinitions(t)
	for _, definition := range result {
		for i := range definition.Spec.Versions {
			dropRules(definition.Spec.Versions[i].Schema.OpenAPIV3Schema)
		}
	}
	return result
}

func shippedDefinitions(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(definitions, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var result []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, definition); err != nil {
			t.Fatal(err)
		}
		result = append(result, definition)
	}
	return result
}

// dropRules keeps types, defaults, and what lists with keys need.
func dropRules(schema *apiextensionsv1.JSONSchemaProps) {
	schema.XValidations, schema.Enum, schema.Pattern, schema.Required = nil, nil, "", nil
	schema.Minimum, schema.Maximum, schema.MinLength, schema.MaxLength = nil, nil, nil, nil
	schema.MinItems, schema.MaxItems = nil, nil
	for name, property := range schema.Properties {
		dropRules(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil {
		dropRules(schema.Items.Schema)
		for _, key := range schema.XListMapKeys {
			if schema.Items.Schema.Properties[key].Default == nil {
				schema.Items.Schema.Required = append(schema.Items.Schema.Required, key)
			}
		}
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		dropRules(schema.AdditionalProperties.Schema)
	}
}

// introduceRules updates the definitions to the shipped ones and waits until they
// are served.
func introduceRules(t *testing.T, c client.Client) {
	t.Helper()
	for _, definition := range shippedDefinitions(t) {
		current := &apiextensionsv1.CustomResourceDefinition{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(definition), current); err != nil {
			t.Fatal(err)
		}
		current.Spec.Versions = definition.Spec.Versions
		if err := c.Update(t.Context(), current); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []*unstructured.Unstructured{leaderWorkerSet(t, spec("replicas: -1")), disaggregatedSet(t, spec("slices: 0"))} {
		bad.SetName("probe")
		var last error
		err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
			last = c.Create(ctx, bad.DeepCopy(), client.DryRunAll)
			return apierrors.IsInvalid(last), nil
		})
		if err != nil {
			t.Fatalf("the rules of %s are not served after 30 s; a bad object gets %v", bad.GetKind(), last)
		}
	}
}
