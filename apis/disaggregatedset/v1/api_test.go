package v1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// Services, routers and the live objects of earlier releases rely on these words: a
// change of one is a change of the API.
func TestKeysAreThoseOfTheAPI(t *testing.T) {
	got := []string{
		dsv1.SetNameLabelKey, dsv1.RoleLabelKey, dsv1.SliceLabelKey, dsv1.RevisionLabelKey, dsv1.AppLabelKey,
		dsv1.InitialReplicasAnnotationKey,
		dsv1.SetNameEnvVar, dsv1.RoleEnvVar, dsv1.SliceEnvVar, dsv1.RevisionEnvVar,
	}
	want := []string{
		"disaggregatedset.x-k8s.io/name", "disaggregatedset.x-k8s.io/role", "disaggregatedset.x-k8s.io/slice",
		"disaggregatedset.x-k8s.io/revision", "app", "disaggregatedset.x-k8s.io/initial-replicas",
		"DISAGGREGATEDSET_NAME", "DISAGGREGATEDSET_ROLE", "DISAGGREGATEDSET_SLICE", "DISAGGREGATEDSET_REVISION",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys differ (-want +got):\n%s", diff)
	}
}

func TestAccessors(t *testing.T) {
	negative := int32(-1)
	if got := dsv1.Slices(dstest.New("s").Obj()); got != 1 {
		t.Errorf("%d slices when none are given, want 1", got)
	}
	if got := dsv1.Slices(dstest.New("s").Slices(7).Obj()); got != 7 {
		t.Errorf("%d slices, want 7", got)
	}
	if got := dsv1.Slices(&dsv1.DisaggregatedSet{Spec: dsv1.DisaggregatedSetSpec{Slices: &negative}}); got != 1 {
		t.Errorf("%d slices when -1 are given, want 1", got)
	}
	static, external := dstest.NewRole("r").Obj(), dstest.NewRole("r").External().Obj()
	if dsv1.IsExternal(&static) || !dsv1.IsExternal(&external) {
		t.Error("takes a static role for external or the other way")
	}
	var scaler dsv1.DisaggregatedSetRoleScaler
	if got := dsv1.ScalerReplicas(&scaler); got != 0 {
		t.Errorf("a new scaler asks for %d", got)
	}
	scaler.Spec.Replicas = &negative
	if got := dsv1.ScalerReplicas(&scaler); got != 0 {
		t.Errorf("a scaler of -1 asks for %d", got)
	}
}

func TestSliceTopology(t *testing.T) {
	for name, c := range map[string]struct {
		set      *dstest.Builder
		kind     dsv1.PlacementPolicyType
		topology string
	}{
		"absent":    {dstest.New("s"), dsv1.NonePlacement, ""},
		"no type":   {dstest.New("s").Placement("", "rack"), dsv1.NonePlacement, ""},
		"none":      {dstest.New("s").Placement(dsv1.NonePlacement, "rack"), dsv1.NonePlacement, ""},
		"slices":    {dstest.New("s").Placement(dsv1.ExclusiveSlicePlacement, "rack"), dsv1.ExclusiveSlicePlacement, "rack"},
		"all slice": {dstest.New("s").Placement(dsv1.ExclusiveTopologyPlacement, "rack"), dsv1.ExclusiveTopologyPlacement, "rack"},
	} {
		t.Run(name, func(t *testing.T) {
			if kind, topology := dsv1.SliceTopology(c.set.Obj()); kind != c.kind || topology != c.topology {
				t.Errorf("placement is %s on %q, want %s on %q", kind, topology, c.kind, c.topology)
			}
		})
	}
}

// The accessors of LeaderWorkerSet read roles as well.
func TestRoleLeaderWorkerSet(t *testing.T) {
	role := dstest.NewRole("r").From(lwstest.New("x").Replicas(10).MaxSurge("25%").
		Annotation(lwsv1.ExclusiveTopologyAnnotationKey, "zone")).Obj()
	set := dsv1.RoleLeaderWorkerSet(&role)
	if got := lwsv1.Budget(set); got != (lwsv1.RolloutBudget{MaxSurge: 3, MaxUnavailable: 0}) {
		t.Errorf("budget is %+v", got)
	}
	if role.Spec.RolloutStrategy.RollingUpdateConfiguration.MaxUnavailable != nil {
		t.Error("the role has a default written into it")
	}
	unset := dstest.NewRole("r").Replicas(10).Obj()
	if got := lwsv1.Budget(dsv1.RoleLeaderWorkerSet(&unset)); got != (lwsv1.RolloutBudget{MaxSurge: 1, MaxUnavailable: 0}) {
		t.Errorf("budget of a role that gives none is %+v", got)
	}
	if got := lwsv1.GroupTopology(set.Annotations, &set.Spec.LeaderWorkerTemplate); got != "zone" {
		t.Errorf("topology is %q, want zone", got)
	}
}

func TestNameRoom(t *testing.T) {
	for name, c := range map[string]struct {
		set  *dstest.Builder
		want int
	}{
		// 52 - len("s-0-12345678-prefill")
		"short":         {dstest.New("s"), 32},
		"eleven slices": {dstest.New("s").Slices(11), 31},
		"ten slices":    {dstest.New("s").Slices(10), 32},
		// 50 - len("<40>-0-12345678-<20>")
		"40 and 20": {dstest.New("0123456789012345678901234567890123456789").Roles(dstest.NewRole("01234567890123456789").Size(2)), -22},
		"hash":      {dstest.New("s").Roles(dstest.NewRole("prefill").From(lwstest.New("x").Hash().Size(2))), 23},
	} {
		t.Run(name, func(t *testing.T) {
			set := c.set.Obj()
			if got := dsv1.NameRoom(set, &set.Spec.Roles[0]); got != c.want {
				t.Errorf("room for %d characters, want %d", got, c.want)
			}
		})
	}
}

func TestBuilders(t *testing.T) {
	set := dstest.New("s").Role(dstest.NewRole(dstest.Decode).Replicas(4)).Role(dstest.NewRole("router")).Obj()
	var got []string
	for _, role := range set.Spec.Roles {
		got = append(got, role.Name)
	}
	if diff := cmp.Diff([]string{"prefill", "decode", "router"}, got); diff != "" {
		t.Errorf("roles differ (-want +got):\n%s", diff)
	}
	if replicas := set.Spec.Roles[1].Spec.Replicas; replicas == nil || *replicas != 4 {
		t.Errorf("replicas of decode are %v, want 4", replicas)
	}
	builder := dstest.New("s")
	first := builder.Obj()
	builder.Slices(3)
	if first.Spec.Slices != nil {
		t.Error("an object that was taken changes with its builder")
	}
}
