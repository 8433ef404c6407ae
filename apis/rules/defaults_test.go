//go:build integration

package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

const defaultedSpec = `
replicas: 1
startupPolicy: LeaderCreated
networkConfig: {subdomainPolicy: Shared}
groupIdentity: Ordinal
groupReplacementPolicy: PostTermination
podTerminationPolicy: Sequential
rolloutStrategy: {type: RollingUpdate, rollingUpdateConfiguration: {maxUnavailable: 1, maxSurge: 0}}
leaderWorkerTemplate:
  size: 1
  restartPolicy: RecreateGroupOnPodRestart
  workerTemplate: {spec: {containers: [{name: worker, image: worker}]}}
`

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	object := merged(t, baseLeaderWorkerSet, "{}")
	var value map[string]any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	object.Object["spec"] = value
	data, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := object.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return object.Object["spec"].(map[string]any)
}

func TestDefaultsOfLeaderWorkerSet(t *testing.T) {
	stored := mustCreate(t, leaderWorkerSet(t, "{}"))
	if diff := cmp.Diff(parsed(t, defaultedSpec), stored.Object["spec"]); diff != "" {
		t.Errorf("spec differs (-want +got):\n%s", diff)
	}
	if _, ok := stored.Object["status"]; ok {
		t.Errorf("has a status by default: %v", stored.Object["status"])
	}
}

// What is absent and has no default stays absent: nothing drifts from what the user
// wrote.
func TestAbsentStaysAbsent(t *testing.T) {
	stored := mustCreate(t, leaderWorkerSet(t, spec("scheduling: {}\n"+
		template("size: 4, subGroupPolicy: {subGroupSize: 2}, restartBackoff: {}, persistentVolumeClaimRetentionPolicy: {}"))))
	got := stored.Object["spec"].(map[string]any)["leaderWorkerTemplate"].(map[string]any)
	want := map[string]any{
		"size":                                 int64(4),
		"restartPolicy":                        "RecreateGroupOnPodRestart",
		"subGroupPolicy":                       map[string]any{"subGroupSize": int64(2), "subGroupPolicyType": "LeaderWorker"},
		"restartBackoff":                       map[string]any{},
		"persistentVolumeClaimRetentionPolicy": map[string]any{},
		"workerTemplate":                       got["workerTemplate"],
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("leaderWorkerTemplate differs (-want +got):\n%s", diff)
	}
}

func TestDefaultsOfDisaggregatedSet(t *testing.T) {
	stored := mustCreate(t, disaggregatedSet(t, "spec: {placementPolicy: {}}"))
	got := stored.Object["spec"].(map[string]any)
	role := func(name string) any {
		roleSpec := parsed(t, defaultedSpec)
		// A role's budgets have defaults of their own, which the manager knows.
		roleSpec["rolloutStrategy"].(map[string]any)["rollingUpdateConfiguration"] = map[string]any{}
		return map[string]any{"name": name, "scaling": map[string]any{"mode": "Static"}, "spec": roleSpec}
	}
	want := map[string]any{
		"slices":          int64(1),
		"placementPolicy": map[string]any{"type": "None"},
		"roles":           []any{role("prefill"), role("decode")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spec differs (-want +got):\n%s", diff)
	}
	scaler := mustCreate(t, merged(t, "{apiVersion: disaggregatedset.x-k8s.io/v1, kind: DisaggregatedSetRoleScaler, metadata: {name: s, namespace: default}}", "{}"))
	if diff := cmp.Diff(map[string]any{"replicas": int64(0)}, scaler.Object["spec"]); diff != "" {
		t.Errorf("spec of a scaler differs (-want +got):\n%s", diff)
	}
}

// An explicit null means absent, so it is defaulted or dropped, never an error of a
// rule that meets it.
func TestNullMeansAbsent(t *testing.T) {
	for _, path := range [][]string{
		{"replicas"},
		{"startupPolicy"},
		{"networkConfig"},
		{"networkConfig", "subdomainPolicy"},
		{"groupIdentity"},
		{"groupReplacementPolicy"},
		{"podTerminationPolicy"},
		{"scheduling"},
		{"rolloutStrategy"},
		{"rolloutStrategy", "type"},
		{"rolloutStrategy", "rollingUpdateConfiguration"},
		{"rolloutStrategy", "rollingUpdateConfiguration", "partition"},
		{"rolloutStrategy", "rollingUpdateConfiguration", "maxUnavailable"},
		{"rolloutStrategy", "rollingUpdateConfiguration", "maxSurge"},
		{"leaderWorkerTemplate", "size"},
		{"leaderWorkerTemplate", "restartPolicy"},
		{"leaderWorkerTemplate", "leaderTemplate"},
		{"leaderWorkerTemplate", "maxGroupRestarts"},
		{"leaderWorkerTemplate", "restartBackoff"},
		{"leaderWorkerTemplate", "subGroupPolicy"},
		{"leaderWorkerTemplate", "volumeClaimTemplates"},
		{"leaderWorkerTemplate", "persistentVolumeClaimRetentionPolicy"},
		{"leaderWorkerTemplate", "placementPolicy"},
	} {
		object := leaderWorkerSet(t, "{}")
		if err := unstructured.SetNestedField(object.Object, nil, append([]string{"spec"}, path...)...); err != nil {
			t.Fatal(err)
		}
		for _, sent := range []*unstructured.Unstructured{object, roleOf(t, object)} {
			stored, err := create(t, sent, client.DryRunAll)
			if err != nil {
				t.Errorf("%s with %v null: %v", sent.GetKind(), path, err)
				continue
			}
			if value, found, _ := unstructured.NestedFieldNoCopy(stored.Object, append([]string{"spec"}, path...)...); found && value == nil {
				t.Errorf("%s keeps null at %v", sent.GetKind(), path)
			}
		}
	}
}

// The builders start with objects that are accepted, and typed clients send them in
// the form that untyped ones do: an update with what was read changes nothing.
func TestTypedObjectsAreAccepted(t *testing.T) {
	set := lwstest.New("typed").Size(4).VolumeClaim("data").Partition(1).MaxSurge("20%").Obj()
	if err := api.Create(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, set) })
	generation := set.Generation
	if err := api.Update(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if set.Generation != generation {
		t.Errorf("generation went from %d to %d without a change", generation, set.Generation)
	}

	roles := dstest.New("typed").Slices(2).Role(dstest.NewRole(dstest.Decode).External()).Obj()
	if err := api.Create(t.Context(), roles); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { remove(t, roles) })
	generation = roles.Generation
	if err := api.Update(t.Context(), roles); err != nil {
		t.Fatal(err)
	}
	if roles.Generation != generation {
		t.Errorf("generation went from %d to %d without a change", generation, roles.Generation)
	}
}

// A typed client may update a set that was written as text.
func TestTypedUpdateOfUntypedObject(t *testing.T) {
	stored := mustCreate(t, leaderWorkerSet(t, spec(template("size: 2, volumeClaimTemplates: ["+claim+"]"))))
	var set lwsv1.LeaderWorkerSet
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(stored), &set); err != nil {
		t.Fatal(err)
	}
	set.Labels = map[string]string{"a": "b"}
	if err := api.Update(t.Context(), &set); err != nil {
		t.Errorf("typed update of a label: %v", err)
	}
	created := mustCreate(t, disaggregatedSet(t, "{}"))
	var roles dsv1.DisaggregatedSet
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(created), &roles); err != nil {
		t.Fatal(err)
	}
	roles.Labels = map[string]string{"a": "b"}
	if err := api.Update(t.Context(), &roles); err != nil {
		t.Errorf("typed update of a label: %v", err)
	}
}
