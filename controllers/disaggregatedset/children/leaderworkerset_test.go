package children

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	lwsapply "sigs.k8s.io/lws/apis/applyconfiguration/leaderworkerset/v1"
	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
	"sigs.k8s.io/lws/controllers/disaggregatedset/revision"
)

var key = identity.Key{Slice: 2, Revision: "abcdef01", Role: dstest.Prefill}

func set(roles ...*dstest.RoleBuilder) *dsv1.DisaggregatedSet {
	return dstest.New("llm").UID("set-uid").Roles(roles...).Obj()
}

// wanted is the LeaderWorkerSet of the first role.
func wanted(t *testing.T, ds *dsv1.DisaggregatedSet, live *lwsv1.LeaderWorkerSet) *LeaderWorkerSet {
	t.Helper()
	meaning, err := revision.MeaningOf(&ds.Spec.Roles[0].Spec)
	if err != nil {
		t.Fatal(err)
	}
	return &LeaderWorkerSet{
		Set: ds, Key: key, Role: &ds.Spec.Roles[0], Live: live, Meaning: meaning,
		Replicas: 3, Budget: Budget{Surge: 1},
	}
}

func desired(t *testing.T, c *LeaderWorkerSet) (*lwsapply.LeaderWorkerSetApplyConfiguration, bool) {
	t.Helper()
	config, differs, err := c.Desired()
	if err != nil {
		t.Fatal(err)
	}
	return config, differs
}

// stored is the object that the API server has after an apply.
func stored(t *testing.T, config *lwsapply.LeaderWorkerSetApplyConfiguration) *lwsv1.LeaderWorkerSet {
	t.Helper()
	obj := &lwsv1.LeaderWorkerSet{}
	if err := convert(config, obj); err != nil {
		t.Fatal(err)
	}
	obj.UID = "lws-uid"
	owned := map[string]any{"f:metadata": map[string]any{
		"f:labels": fieldsOf(config.Labels), "f:annotations": fieldsOf(config.Annotations), "f:ownerReferences": map[string]any{},
	}}
	raw, err := json.Marshal(owned)
	if err != nil {
		t.Fatal(err)
	}
	obj.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: dsv1.FieldManager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(string(raw)),
	}}
	return obj
}

func fieldsOf(keys map[string]string) map[string]any {
	fields := map[string]any{}
	for key := range keys {
		fields["f:"+key] = map[string]any{}
	}
	return fields
}

func TestANewLeaderWorkerSet(t *testing.T) {
	template := lwstest.PodTemplate("server")
	template.Labels = map[string]string{"team": "search", "app": "the-users"}
	template.Spec.InitContainers = []corev1.Container{{Name: "fetch", Image: "fetch:1"}}
	template.Spec.Containers[0].Env = []corev1.EnvVar{
		{Name: "ROLE", Value: "$(DISAGGREGATEDSET_ROLE)"}, {Name: "DISAGGREGATEDSET_NAME", Value: "mine"},
	}
	role := dstest.NewRole(dstest.Prefill).
		From(lwstest.New("x").Size(2).LeaderTemplate(lwstest.PodTemplate("leader")).WorkerTemplate(template).
			Label("tier", "gold").Label("disaggregatedset.x-k8s.io/role", "mine").Annotation("note", "hello"))
	ds := set(role)
	ds.Spec.PlacementPolicy = &dsv1.PlacementPolicy{Type: dsv1.ExclusiveSlicePlacement, Topology: "rack"}
	config, differs := desired(t, wanted(t, ds, nil))
	if !differs || *config.Name != "llm-2-abcdef01-prefill" || config.UID != nil {
		t.Errorf("got %s, UID %v, differs %v", *config.Name, config.UID, differs)
	}
	labels := map[string]string{
		"disaggregatedset.x-k8s.io/name": "llm", "disaggregatedset.x-k8s.io/role": "prefill",
		"disaggregatedset.x-k8s.io/slice": "2", "disaggregatedset.x-k8s.io/revision": "abcdef01", "app": "llm-2-prefill",
	}
	withUsers := func(key, value string) map[string]string {
		all := map[string]string{key: value}
		for k, v := range labels {
			all[k] = v
		}
		return all
	}
	obj := stored(t, config)
	for what, pair := range map[string][2]any{
		"labels":        {withUsers("tier", "gold"), obj.Labels},
		"annotations":   {map[string]string{"note": "hello"}, obj.Annotations},
		"leader labels": {labels, obj.Spec.LeaderWorkerTemplate.LeaderTemplate.Labels},
		"worker labels": {withUsers("team", "search"), obj.Spec.LeaderWorkerTemplate.WorkerTemplate.Labels},
		"replicas":      {ptr.To(int32(3)), obj.Spec.Replicas},
		"budgets": {
			&lwsv1.RollingUpdateConfiguration{MaxSurge: ptr.To(intstr.FromInt32(1)), MaxUnavailable: ptr.To(intstr.FromInt32(0))},
			obj.Spec.RolloutStrategy.RollingUpdateConfiguration,
		},
		"owner": {
			[]metav1.OwnerReference{{
				APIVersion: "disaggregatedset.x-k8s.io/v1", Kind: "DisaggregatedSet", Name: "llm", UID: "set-uid",
				Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
			}}, obj.OwnerReferences,
		},
		"worker variables": {
			[]corev1.EnvVar{
				{Name: "DISAGGREGATEDSET_NAME", Value: "llm"},
				{Name: "DISAGGREGATEDSET_ROLE", Value: "prefill"},
				{Name: "DISAGGREGATEDSET_SLICE", Value: "2"},
				{Name: "DISAGGREGATEDSET_REVISION", Value: "abcdef01"},
				{Name: "ROLE", Value: "$(DISAGGREGATEDSET_ROLE)"},
			}, obj.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Env,
		},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	for _, pods := range podTemplates(&obj.Spec.LeaderWorkerTemplate) {
		if pods.Spec.Affinity == nil {
			t.Error("no affinity")
		}
		for _, c := range append(pods.Spec.InitContainers, pods.Spec.Containers...) {
			if len(c.Env) < 4 {
				t.Errorf("container %s has %v", c.Name, c.Env)
			}
		}
	}
	if _, differs := desired(t, wanted(t, ds, obj)); differs {
		t.Error("what was just applied differs")
	}
}

func TestWhatChangesALiveLeaderWorkerSet(t *testing.T) {
	changes := map[string]struct {
		change           func(*LeaderWorkerSet)
		differs, rebuilt bool
	}{
		"nothing":  {func(*LeaderWorkerSet) {}, false, false},
		"replicas": {func(c *LeaderWorkerSet) { c.Replicas = 4 }, true, false},
		"budgets":  {func(c *LeaderWorkerSet) { c.Budget.Unavailable = 1 }, true, false},
		"baseline": {func(c *LeaderWorkerSet) { c.Baseline = ptr.To(3) }, true, false},
		"restart policy": {func(c *LeaderWorkerSet) {
			c.Role.Spec.LeaderWorkerTemplate.RestartPolicy = lwsv1.RecreateGroupAfterStart
		}, true, false},
		"a default written out": {func(c *LeaderWorkerSet) {
			c.Role.Spec.StartupPolicy = lwsv1.LeaderCreatedStartupPolicy
			c.Role.Spec.LeaderWorkerTemplate.RestartPolicy = lwsv1.RecreateGroupOnPodRestart
			c.Role.Spec.GroupIdentity = lwsv1.OrdinalGroupIdentity
			c.Role.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.RestartPolicy = corev1.RestartPolicyAlways
		}, false, false},
		"a label of the role":         {func(c *LeaderWorkerSet) { c.Role.Labels["tier"] = "silver" }, true, false},
		"a label of the role is gone": {func(c *LeaderWorkerSet) { delete(c.Role.Labels, "tier") }, true, false},
		"somebody else's label":       {func(c *LeaderWorkerSet) { c.Live.Labels["cost"] = "high" }, false, false},
		"an exclusive topology waits for the next revision": {func(c *LeaderWorkerSet) {
			c.Role.Annotations = map[string]string{lwsv1.ExclusiveTopologyAnnotationKey: "rack"}
		}, false, false},
		"placement waits for the next revision": {func(c *LeaderWorkerSet) {
			c.Set.Spec.PlacementPolicy = &dsv1.PlacementPolicy{Type: dsv1.ExclusiveSlicePlacement, Topology: "rack"}
		}, false, false},
		"the owner is gone": {func(c *LeaderWorkerSet) { c.Live.OwnerReferences = nil }, true, false},
		"an image edited by hand": {func(c *LeaderWorkerSet) {
			c.Live.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = "other"
		}, true, true},
		"a pod label edited by hand": {func(c *LeaderWorkerSet) {
			delete(c.Live.Spec.LeaderWorkerTemplate.WorkerTemplate.Labels, dsv1.RoleLabelKey)
		}, true, true},
		"an old revision keeps its template": {func(c *LeaderWorkerSet) {
			c.Meaning = nil
			c.Role.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = "newer"
		}, false, false},
		"a removed role keeps all": {func(c *LeaderWorkerSet) { c.Role = nil; c.Live.Labels = identity.LeaderWorkerSetLabels("llm", key) }, false, false},
		"an old revision keeps what goes with its template only": {func(c *LeaderWorkerSet) {
			c.Meaning = nil
			c.Role.Spec.GroupIdentity, c.Role.Spec.GroupReplacementPolicy = lwsv1.HashGroupIdentity, lwsv1.ImmediateGroupReplacement
		}, false, false},
		"replicas of the spec that are ignored": {func(c *LeaderWorkerSet) { c.Ignored = ptr.To(2) }, true, false},
	}
	for name, tc := range changes {
		t.Run(name, func(t *testing.T) {
			ds := set(dstest.NewRole(dstest.Prefill).Label("tier", "gold"))
			first, _ := desired(t, wanted(t, ds, nil))
			live := stored(t, first)
			c := wanted(t, ds, live)
			tc.change(c)
			config, differs := desired(t, c)
			if differs != tc.differs {
				t.Errorf("differs %v, want %v", differs, tc.differs)
			}
			if config.UID == nil || *config.UID != "lws-uid" {
				t.Errorf("UID %v, want the live object's", config.UID)
			}
			now := stored(t, config)
			changed := !cmp.Equal(live.Spec.LeaderWorkerTemplate.WorkerTemplate, now.Spec.LeaderWorkerTemplate.WorkerTemplate)
			if changed != tc.rebuilt {
				t.Errorf("the pod template changes: %v, want %v", changed, tc.rebuilt)
			}
			if again := wanted(t, ds, now); tc.differs && c.Role != nil && c.Meaning != nil {
				again.Replicas, again.Budget, again.Baseline, again.Ignored = c.Replicas, c.Budget, c.Baseline, c.Ignored
				if _, differs := desired(t, again); differs {
					t.Error("differs again after it was applied")
				}
			}
		})
	}
}

func TestASlicelessLeaderWorkerSet(t *testing.T) {
	ds := set(dstest.NewRole(dstest.Prefill))
	sliceless := identity.Key{Revision: "0ld0ld00", Role: dstest.Prefill, Sliceless: true}
	live := &lwsv1.LeaderWorkerSet{Spec: *ds.Spec.Roles[0].Spec.DeepCopy()}
	live.Name, live.Namespace, live.UID = "llm-0ld0ld00-prefill", ds.Namespace, "old-uid"
	live.Labels = identity.Labels("llm", sliceless)
	live.Spec.LeaderWorkerTemplate.WorkerTemplate.Labels = identity.Labels("llm", sliceless)
	c := wanted(t, ds, live)
	c.Key = sliceless
	config, _ := desired(t, c)
	if *config.Name != live.Name {
		t.Errorf("name %s, want %s", *config.Name, live.Name)
	}
	if _, sliced := config.Labels[dsv1.SliceLabelKey]; sliced || config.Labels[dsv1.AppLabelKey] != "" {
		t.Errorf("labels %v, want none that it did not have", config.Labels)
	}
	if diff := cmp.Diff(live.Spec.LeaderWorkerTemplate.WorkerTemplate, stored(t, config).Spec.LeaderWorkerTemplate.WorkerTemplate); diff != "" {
		t.Errorf("its pods would restart:\n%s", diff)
	}
}

func TestBudgetOf(t *testing.T) {
	tests := map[string]struct {
		surge, unavailable string
		target             int
		want               Budget
	}{
		"absent":                     {"", "", 4, Budget{1, 0}},
		"surge only":                 {"2", "", 4, Budget{2, 0}},
		"unavailable only":           {"", "2", 4, Budget{1, 2}},
		"percentages round apart":    {"25%", "25%", 5, Budget{2, 1}},
		"both round to zero":         {"0", "10%", 5, Budget{0, 1}},
		"zero and a percentage of 1": {"10%", "0", 1, Budget{1, 0}},
		"a target of zero":           {"50%", "50%", 0, Budget{0, 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			spec := lwstest.New("x").Spec()
			config := &lwsv1.RollingUpdateConfiguration{}
			if tc.surge != "" {
				config.MaxSurge = ptr.To(intstr.Parse(tc.surge))
			}
			if tc.unavailable != "" {
				config.MaxUnavailable = ptr.To(intstr.Parse(tc.unavailable))
			}
			spec.RolloutStrategy.RollingUpdateConfiguration = config
			if got := BudgetOf(&spec, tc.target); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
	if got := BudgetOf(&lwsv1.LeaderWorkerSetSpec{}, 4); got != (Budget{1, 0}) {
		t.Errorf("without a configuration %+v, want 1 and 0", got)
	}
}

func TestServiceAndScaler(t *testing.T) {
	ds := set(dstest.NewRole(dstest.Prefill))
	service, differs := (&Service{Set: ds, Key: key}).Desired()
	if !differs || *service.Name != "llm-2-abcdef01-prefill-prv" || *service.Spec.ClusterIP != "None" || len(service.Spec.Ports) > 0 {
		t.Errorf("got %+v", service)
	}
	if diff := cmp.Diff(identity.Labels("llm", key), service.Spec.Selector); diff != "" {
		t.Errorf("selector (-want +got):\n%s", diff)
	}
	live := &corev1.Service{}
	if err := convert(service, live); err != nil {
		t.Fatal(err)
	}
	if _, differs := (&Service{Set: ds, Key: key, Live: live}).Desired(); differs {
		t.Error("what was just applied differs")
	}
	live.Spec.Selector["extra"] = "x"
	if _, differs := (&Service{Set: ds, Key: key, Live: live}).Desired(); !differs {
		t.Error("a selector edited by hand does not differ")
	}
	made, _ := (&Scaler{Set: ds, Role: "prefill", Seed: 5}).Desired()
	if *made.Name != "llm-prefill" || *made.Spec.Replicas != 5 {
		t.Errorf("got %+v", made)
	}
	existing, differs := (&Scaler{Set: ds, Role: "prefill", Seed: 5, Live: &dsv1.DisaggregatedSetRoleScaler{}}).Desired()
	if !differs || existing.Spec != nil {
		t.Errorf("the replicas of a scaler that exists are its owner's, got %+v, differs %v", existing.Spec, differs)
	}
}

func TestManagers(t *testing.T) {
	entry := func(manager, operation, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation), Subresource: subresource,
			FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	obj := &lwsv1.LeaderWorkerSet{}
	obj.ManagedFields = []metav1.ManagedFieldsEntry{
		entry("disaggregatedset", "Apply", "", `{"f:metadata":{"f:labels":{"f:a":{}}}}`),
		entry("disaggregatedset", "Update", "", `{"f:spec":{}}`),
		entry("earlier", "Update", "", `{"f:metadata":{"f:ownerReferences":{}},"f:spec":{}}`),
		entry("kubectl-edit", "Update", "", `{"f:spec":{}}`),
		entry("lws", "Update", "status", `{"f:status":{}}`),
		entry("broken", "Update", "", `{`),
	}
	if got := strings.Join(Managers(obj), " "); got != "disaggregatedset earlier" {
		t.Errorf("got %q", got)
	}
}
