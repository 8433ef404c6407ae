package disaggregatedset

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
)

func TestClaimOf(t *testing.T) {
	set := dstest.New("llm").UID("ours").Obj()
	owner := func(kind, name, uid string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{
			APIVersion: dsv1.GroupVersion.String(), Kind: kind, Name: name, UID: types.UID(uid), Controller: ptr.To(true),
		}}
	}
	labels := map[string]string{dsv1.SetNameLabelKey: "llm"}
	now := metav1.Now()
	tests := map[string]struct {
		kind string
		obj  metav1.ObjectMeta
		want claim
	}{
		"ours":                        {leaderWorkerSetKind, metav1.ObjectMeta{OwnerReferences: owner(dsv1.Kind, "llm", "ours")}, claimOurs},
		"ours, being deleted":         {leaderWorkerSetKind, metav1.ObjectMeta{OwnerReferences: owner(dsv1.Kind, "llm", "ours"), DeletionTimestamp: &now}, claimLeaving},
		"a predecessor's":             {leaderWorkerSetKind, metav1.ObjectMeta{OwnerReferences: owner(dsv1.Kind, "llm", "before")}, claimLeaving},
		"another set's":               {leaderWorkerSetKind, metav1.ObjectMeta{OwnerReferences: owner(dsv1.Kind, "chat", "x")}, claimForeign},
		"another kind's":              {leaderWorkerSetKind, metav1.ObjectMeta{OwnerReferences: owner("Deployment", "llm", "x"), Labels: labels}, claimForeign},
		"nobody's, with our labels":   {leaderWorkerSetKind, metav1.ObjectMeta{Labels: labels}, claimLeftover},
		"nobody's, without labels":    {serviceKind, metav1.ObjectMeta{}, claimForeign},
		"a scaler without a label":    {scalerKind, metav1.ObjectMeta{}, claimLeftover},
		"nobody's, and being deleted": {serviceKind, metav1.ObjectMeta{Labels: labels, DeletionTimestamp: &now}, claimLeaving},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := claimOf(set, tc.kind, &tc.obj); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}

// was is an old generation: replicas by role, and baselines where they are written.
func was(created int, replicas, written map[string]int) *generation {
	g := newGeneration(place{Revision: "r"})
	for role, n := range replicas {
		live := &lwsv1.LeaderWorkerSet{}
		live.CreationTimestamp = metav1.NewTime(time.Unix(int64(created), 0))
		live.Spec.Replicas = ptr.To(int32(n))
		if baseline, ok := written[role]; ok {
			live.Annotations = map[string]string{dsv1.InitialReplicasAnnotationKey: string(rune('0' + baseline))}
		}
		g.add(identity.Key{Revision: "r", Role: role}, live)
	}
	return g
}

func TestBaselines(t *testing.T) {
	type counts = map[string]int
	tests := map[string]struct {
		old  []*generation // newest first
		want []counts
	}{
		"complete": {
			[]*generation{was(1, counts{"a": 4, "b": 2}, nil)},
			[]counts{{"a": 4, "b": 2}},
		},
		"written": {
			[]*generation{was(1, counts{"a": 1, "b": 2}, counts{"a": 4})},
			[]counts{{"a": 4, "b": 2}},
		},
		"interrupted while it grew: what the one before it was meant to have": {
			[]*generation{was(2, counts{"a": 1, "b": 1}, nil), was(1, counts{"a": 3, "b": 2}, counts{"a": 4, "b": 2})},
			[]counts{{"a": 4, "b": 2}, {"a": 4, "b": 2}},
		},
		"absent by wish": {
			[]*generation{was(2, counts{"a": 3, "b": 0}, nil), was(1, counts{"a": 1, "b": 1}, counts{"a": 3, "b": 2})},
			[]counts{{"a": 3, "b": 0}, {"a": 3, "b": 2}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &slice{Old: tc.old}
			s.resolveBaselines()
			for k, g := range s.Old {
				got := counts{}
				for role, m := range g.Members {
					got[role] = m.Baseline
				}
				if diff := cmp.Diff(tc.want[k], got); diff != "" {
					t.Errorf("generation %d (-want +got):\n%s", k, diff)
				}
			}
		})
	}
}

func TestNewestFirst(t *testing.T) {
	type counts = map[string]int
	older, newer := was(1, counts{"a": 1}, nil), was(2, counts{"a": 9}, nil)
	if newestFirst(newer, older) >= 0 || newestFirst(older, newer) <= 0 {
		t.Error("the newer does not come first")
	}
	small := was(2, counts{"a": 1}, nil)
	if newestFirst(small, newer) >= 0 {
		t.Error("of the same second, the smaller does not come first")
	}
}

func TestSetsOfName(t *testing.T) {
	for name, want := range map[string][]string{
		"llm-prefill":   {"llm"},
		"my-llm-decode": {"my", "my-llm"},
		"plain":         nil,
		"-odd":          nil,
	} {
		obj := &dsv1.DisaggregatedSetRoleScaler{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if diff := cmp.Diff(want, setsOfName(obj)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTransitionEvents(t *testing.T) {
	status := func(revision string, exist, updated int32) *dsv1.DisaggregatedSetStatus {
		return &dsv1.DisaggregatedSetStatus{CurrentRevision: revision, Slices: exist, UpdatedSlices: updated}
	}
	tests := map[string]struct {
		before, now *dsv1.DisaggregatedSetStatus
		want        string
	}{
		"a new set":                  {status("", 0, 0), status("a", 0, 0), ""},
		"comes up":                   {status("a", 0, 0), status("a", 1, 1), ""},
		"a new template":             {status("a", 2, 2), status("b", 2, 0), dsv1.ReasonRollingUpdateStarted},
		"another one in the middle":  {status("b", 2, 1), status("c", 2, 0), dsv1.ReasonRollingUpdateStarted},
		"goes on":                    {status("b", 2, 0), status("b", 2, 1), ""},
		"is done":                    {status("b", 2, 1), status("b", 2, 2), dsv1.ReasonRollingUpdateCompleted},
		"one more slice":             {status("b", 1, 1), status("b", 2, 2), ""},
		"a template of a paused set": {status("a", 0, 0), status("b", 0, 0), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, n := range transitionEvents(tc.before, tc.now) {
				got = append(got, n.Reason)
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestShortened(t *testing.T) {
	for text, want := range map[string]string{"short": "short", "eleven char": "eleven ...", "zwölf über": "zwölf ..."} {
		if got := shortened(text, 10); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
