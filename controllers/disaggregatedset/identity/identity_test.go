package identity

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

func TestNamesAndLabels(t *testing.T) {
	key := Key{Slice: 3, Revision: "a1b2c3d4", Role: "prefill"}
	sliceless := Key{Revision: "a1b2c3d4", Role: "prefill", Sliceless: true}
	tests := map[string]struct{ got, want string }{
		"LeaderWorkerSet":           {LeaderWorkerSetName("llm", key), "llm-3-a1b2c3d4-prefill"},
		"LeaderWorkerSet sliceless": {LeaderWorkerSetName("llm", sliceless), "llm-a1b2c3d4-prefill"},
		"Service":                   {ServiceName("llm", key), "llm-3-a1b2c3d4-prefill-prv"},
		"Service sliceless":         {ServiceName("llm", sliceless), "llm-a1b2c3d4-prefill-prv"},
		"scaler":                    {ScalerName("llm", "prefill"), "llm-prefill"},
		"scaler selector": {
			ScalerSelector("llm", "prefill"),
			"disaggregatedset.x-k8s.io/name=llm,disaggregatedset.x-k8s.io/role=prefill,leaderworkerset.sigs.k8s.io/worker-index=0",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %q, want %q", tc.got, tc.want)
			}
		})
	}
	want := map[string]string{
		"disaggregatedset.x-k8s.io/name":     "llm",
		"disaggregatedset.x-k8s.io/role":     "prefill",
		"disaggregatedset.x-k8s.io/slice":    "3",
		"disaggregatedset.x-k8s.io/revision": "a1b2c3d4",
		"app":                                "llm-3-prefill",
	}
	if diff := cmp.Diff(want, LeaderWorkerSetLabels("llm", key)); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestKeyOf(t *testing.T) {
	labels := func(slice string) map[string]string {
		l := map[string]string{dsv1.RevisionLabelKey: "r", dsv1.RoleLabelKey: "a"}
		if slice != "" {
			l[dsv1.SliceLabelKey] = slice
		}
		return l
	}
	tests := map[string]struct {
		labels map[string]string
		want   Key
		ok     bool
	}{
		"whole":                 {labels("12"), Key{Slice: 12, Revision: "r", Role: "a"}, true},
		"sliceless":             {labels(""), Key{Revision: "r", Role: "a", Sliceless: true}, true},
		"a slice that is none":  {labels("x"), Key{}, false},
		"a negative slice":      {labels("-1"), Key{}, false},
		"a slice with a zero":   {labels("01"), Key{}, false},
		"without role":          {map[string]string{dsv1.RevisionLabelKey: "r"}, Key{}, false},
		"without revision":      {map[string]string{dsv1.RoleLabelKey: "a"}, Key{}, false},
		"somebody else's label": {map[string]string{"app": "x"}, Key{}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := KeyOf(tc.labels)
			if got != tc.want || ok != tc.ok {
				t.Errorf("got %+v %v, want %+v %v", got, ok, tc.want, tc.ok)
			}
			if ok && !got.Sliceless {
				if back, _ := KeyOf(Labels("llm", got)); back != got {
					t.Errorf("there and back: %+v", back)
				}
			}
		})
	}
}

func TestLongest(t *testing.T) {
	hash := func(r *dstest.RoleBuilder) dsv1.DisaggregatedRoleSpec {
		role := r.Obj()
		role.Spec.GroupIdentity = lwsv1.HashGroupIdentity
		return role
	}
	tests := map[string]struct {
		set     string
		role    dsv1.DisaggregatedRoleSpec
		slices  int32
		object  string
		tooLong int
	}{
		// <set>-0-<8>-<role>: 12 characters besides the names of set and role.
		"size 1 fits exactly":       {strings.Repeat("s", 30), dstest.NewRole("0123456789").Obj(), 1, "leader StatefulSet", 0},
		"size 1, one too many":      {strings.Repeat("s", 31), dstest.NewRole("0123456789").Obj(), 1, "leader StatefulSet", 1},
		"two digits of slices":      {strings.Repeat("s", 30), dstest.NewRole("0123456789").Obj(), 11, "leader StatefulSet", 1},
		"workers need two more":     {strings.Repeat("s", 28), dstest.NewRole("0123456789").Size(2).Obj(), 1, "worker StatefulSet", 0},
		"digits of replicas":        {strings.Repeat("s", 28), dstest.NewRole("0123456789").Size(2).Replicas(10).Obj(), 1, "worker StatefulSet", 1},
		"a digit less":              {strings.Repeat("s", 28), dstest.NewRole("0123456789").Size(2).Replicas(9).Obj(), 1, "worker StatefulSet", 0},
		"Hash with workers":         {strings.Repeat("s", 21), hash(dstest.NewRole("0123456789").Size(2)), 1, "worker StatefulSet", 0},
		"Hash with size 1":          {strings.Repeat("s", 32), hash(dstest.NewRole("0123456789")), 1, "leader pod", 0},
		"40 characters and role 20": {strings.Repeat("s", 40), dstest.NewRole(strings.Repeat("r", 20)).Obj(), 1, "leader StatefulSet", 20},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			set := dstest.New(tc.set).Slices(tc.slices).Obj()
			set.Spec.Roles = []dsv1.DisaggregatedRoleSpec{tc.role}
			got := Longest(set, &set.Spec.Roles[0])
			if got.Object != tc.object || got.TooLong() != tc.tooLong {
				t.Errorf("got %s (%d too long), want the %s to be %d too long", got, got.TooLong(), tc.object, tc.tooLong)
			}
			if want := len(tc.set) + len(tc.role.Name) - tc.tooLong; got.Left(tc.set) != want {
				t.Errorf("left %d, want %d", got.Left(tc.set), want)
			}
		})
	}
}
