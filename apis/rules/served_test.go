//go:build integration

package rules

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	applydsv1 "sigs.k8s.io/lws/apis/applyconfiguration/disaggregatedset/v1"
	applylwsv1 "sigs.k8s.io/lws/apis/applyconfiguration/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/client/clientset/versioned"
	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

func TestServedResources(t *testing.T) {
	finder, err := discovery.NewDiscoveryClientForConfig(apiConfig)
	if err != nil {
		t.Fatal(err)
	}
	type resource struct {
		Kind       string
		Short      []string
		Categories []string
	}
	got := map[string]resource{}
	for _, group := range []string{"leaderworkerset.x-k8s.io/v1", "disaggregatedset.x-k8s.io/v1"} {
		list, err := finder.ServerResourcesForGroupVersion(group)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			if !r.Namespaced {
				t.Errorf("%s is not namespaced", r.Name)
			}
			got[r.Name] = resource{r.Kind, r.ShortNames, r.Categories}
		}
	}
	want := map[string]resource{
		"leaderworkersets":                   {"LeaderWorkerSet", []string{"lws"}, []string{"all"}},
		"leaderworkersets/status":            {Kind: "LeaderWorkerSet"},
		"leaderworkersets/scale":             {Kind: "Scale"},
		"disaggregatedsets":                  {"DisaggregatedSet", []string{"dset"}, []string{"all"}},
		"disaggregatedsets/status":           {Kind: "DisaggregatedSet"},
		"disaggregatedsetrolescalers":        {"DisaggregatedSetRoleScaler", []string{"dsrs"}, nil},
		"disaggregatedsetrolescalers/status": {Kind: "DisaggregatedSetRoleScaler"},
		"disaggregatedsetrolescalers/scale":  {Kind: "Scale"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("served resources differ (-want +got):\n%s", diff)
	}
}

// table is what kubectl get shows: the columns, and the row of one object. Wide
// columns are marked by an asterisk.
func table(t *testing.T, resource, name string) (columns []string, row []any) {
	t.Helper()
	finder, err := discovery.NewDiscoveryClientForConfig(apiConfig)
	if err != nil {
		t.Fatal(err)
	}
	data, err := finder.RESTClient().Get().AbsPath("/apis/"+resource).Name(name).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var result metav1.Table
	if err := json.Unmarshal(data, &result); err != nil {
		t.Fatal(err)
	}
	for _, column := range result.ColumnDefinitions {
		text := column.Name
		if column.Priority > 0 {
			text += "*"
		}
		columns = append(columns, text)
	}
	return columns, result.Rows[0].Cells
}

func TestColumnsOfLeaderWorkerSet(t *testing.T) {
	mustCreate(t, leaderWorkerSet(t, spec("replicas: 3\n"+template("size: 4"))))
	status := applylwsv1.LeaderWorkerSet("sample", "default").WithStatus(applylwsv1.LeaderWorkerSetStatus().
		WithReplicas(3).WithReadyReplicas(0).WithUpdatedReplicas(2).WithGroupRestarts(5).WithSummary(lwsv1.ReasonGroupsUpdating))
	if err := api.Status().Apply(t.Context(), status, client.FieldOwner("test"), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	columns, row := table(t, "leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets", "sample")
	if diff := cmp.Diff([]string{"Name", "Ready", "Desired", "Up-to-date", "Status", "Size*", "Identity*", "Restarts*", "Age"}, columns); diff != "" {
		t.Errorf("columns differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"sample", 0.0, 3.0, 2.0, "GroupsUpdating", 4.0, "Ordinal", 5.0}, row[:8]); diff != "" {
		t.Errorf("row differs (-want +got):\n%s", diff)
	}
}

func TestColumnsOfDisaggregatedSet(t *testing.T) {
	mustCreate(t, disaggregatedSet(t, "{}"))
	status := applydsv1.DisaggregatedSet("sample", "default").WithStatus(applydsv1.DisaggregatedSetStatus().
		WithSlices(1).WithSummary("prefill 3/3 decode 2/2").WithCurrentRevision("0123abcd").WithConditions(
		applymetav1.Condition().WithType(dsv1.ConditionDegraded).WithStatus(metav1.ConditionFalse).
			WithReason(dsv1.ReasonAsExpected).WithMessage("").WithLastTransitionTime(metav1.Now()),
		applymetav1.Condition().WithType(dsv1.ConditionAvailable).WithStatus(metav1.ConditionTrue).
			WithReason(dsv1.ReasonAllRolesReady).WithMessage("").WithLastTransitionTime(metav1.Now()),
		applymetav1.Condition().WithType(dsv1.ConditionProgressing).WithStatus(metav1.ConditionFalse).
			WithReason(dsv1.ReasonRolloutInProgress).WithMessage("").WithLastTransitionTime(metav1.Now())))
	if err := api.Status().Apply(t.Context(), status, client.FieldOwner("test"), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	columns, row := table(t, "disaggregatedset.x-k8s.io/v1/namespaces/default/disaggregatedsets", "sample")
	if diff := cmp.Diff([]string{"Name", "Slices", "Roles", "Revision", "Status", "Age"}, columns); diff != "" {
		t.Errorf("columns differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"sample", 1.0, "prefill 3/3 decode 2/2", "0123abcd", "AllRolesReady"}, row[:5]); diff != "" {
		t.Errorf("row differs (-want +got):\n%s", diff)
	}
}

func TestScale(t *testing.T) {
	clients, err := versioned.NewForConfig(apiConfig)
	if err != nil {
		t.Fatal(err)
	}
	sets := clients.LeaderworkersetV1().LeaderWorkerSets("default")
	mustCreate(t, leaderWorkerSet(t, spec("replicas: 2")))
	status := applylwsv1.LeaderWorkerSet("sample", "default").WithStatus(applylwsv1.LeaderWorkerSetStatus().
		WithReplicas(2).WithHPAPodSelector("a=b"))
	if _, err := sets.ApplyStatus(t.Context(), status, metav1.ApplyOptions{FieldManager: "test"}); err != nil {
		t.Fatal(err)
	}
	scale, err := sets.GetScale(t.Context(), "sample", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if scale.Spec.Replicas != 2 || scale.Status.Replicas != 2 || scale.Status.Selector != "a=b" {
		t.Errorf("scale is %+v %+v", scale.Spec, scale.Status)
	}
	scale.Spec.Replicas = 5
	if _, err := sets.UpdateScale(t.Context(), "sample", scale, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if set, err := sets.Get(t.Context(), "sample", metav1.GetOptions{}); err != nil || *set.Spec.Replicas != 5 {
		t.Errorf("after scaling the set is %v, %v", set, err)
	}

	// The product of replicas and size holds for the scale subresource as well.
	large := mustCreate(t, leaderWorkerSet(t, "metadata: {name: large}\n"+spec(template("size: 1000000"))))
	body := []byte(`{"spec":{"replicas":10000}}`)
	_, err = sets.Patch(t.Context(), large.GetName(), types.MergePatchType, body, metav1.PatchOptions{}, "scale")
	if err == nil || !strings.Contains(err.Error(), "replicas x leaderWorkerTemplate.size must not be more than 2147483647") {
		t.Errorf("scaled to 10^10 pods: %v", err)
	}

	scalers := clients.DisaggregatedsetV1().DisaggregatedSetRoleScalers("default")
	mustCreate(t, merged(t, "{apiVersion: disaggregatedset.x-k8s.io/v1, kind: DisaggregatedSetRoleScaler, metadata: {name: sample-prefill, namespace: default}}", "{}"))
	scale, err = scalers.GetScale(t.Context(), "sample-prefill", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	scale.Spec.Replicas = 7
	if _, err := scalers.UpdateScale(t.Context(), "sample-prefill", scale, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if scaler, err := scalers.Get(t.Context(), "sample-prefill", metav1.GetOptions{}); err != nil || *scaler.Spec.Replicas != 7 {
		t.Errorf("after scaling the scaler is %v, %v", scaler, err)
	}
}

// Apply configurations send what they were given and nothing else: the manager owns
// no field that it did not set.
func TestApply(t *testing.T) {
	containers := applycorev1.PodTemplateSpec().WithSpec(applycorev1.PodSpec().
		WithContainers(applycorev1.Container().WithName("worker").WithImage(lwstest.Image)))
	apply := func() error {
		return api.Apply(t.Context(), applylwsv1.LeaderWorkerSet("sample", "default").WithLabels(map[string]string{"a": "b"}).
			WithSpec(applylwsv1.LeaderWorkerSetSpec().WithReplicas(2).
				WithLeaderWorkerTemplate(applylwsv1.LeaderWorkerTemplate().WithSize(2).WithWorkerTemplate(containers))),
			client.FieldOwner("disaggregatedset"))
	}
	if err := apply(); err != nil {
		t.Fatal(err)
	}
	set := lwstest.New("sample").Obj()
	t.Cleanup(func() { remove(t, set) })
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
		t.Fatal(err)
	}
	entries := set.ManagedFields
	if len(entries) != 1 || entries[0].Operation != metav1.ManagedFieldsOperationApply {
		t.Fatalf("managed fields are %v, want one apply", entries)
	}
	fields := entries[0].FieldsV1.GetRawString()
	for _, absent := range []string{"f:status", "f:creationTimestamp", "f:resources", "f:rolloutStrategy", "f:restartPolicy"} {
		if strings.Contains(fields, absent) {
			t.Errorf("owns %s: %s", absent, fields)
		}
	}
	version := set.ResourceVersion
	if err := apply(); err != nil {
		t.Fatal(err)
	}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
		t.Fatal(err)
	}
	if set.ResourceVersion != version {
		t.Errorf("the same apply wrote again: resourceVersion %s, then %s", version, set.ResourceVersion)
	}
	if set.Labels["a"] != "b" {
		t.Errorf("labels are %v", set.Labels)
	}
}
