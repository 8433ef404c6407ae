package harness

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// tape records a set "ds" of roles a and b in slice 0, each entry a second and a
// version later than the one before.
type tape struct {
	History
	version int
}

func labelsOf(revision, role string) map[string]string {
	return map[string]string{
		dsv1.SetNameLabelKey: "ds", dsv1.SliceLabelKey: "0", dsv1.RevisionLabelKey: revision, dsv1.RoleLabelKey: role,
	}
}

func (t *tape) next() (string, time.Time) {
	t.version++
	return strconv.Itoa(t.version), moment.Add(time.Duration(t.version) * time.Second)
}

// scale gives a role of a revision replicas; old says that it is marked as old.
func (t *tape) scale(revision, role string, replicas int32, old ...bool) {
	version, at := t.next()
	set := &lwsv1.LeaderWorkerSet{ObjectMeta: metav1.ObjectMeta{
		Name: revision + "-" + role, Labels: labelsOf(revision, role), ResourceVersion: version,
	}}
	set.Spec.Replicas = &replicas
	if len(old) > 0 {
		set.Annotations = map[string]string{dsv1.InitialReplicasAnnotationKey: "2"}
	}
	t.Sets = append(t.Sets, SetState{At: at, LeaderWorkerSet: set})
}

// group records the leader of a group of one pod.
func (t *tape) group(revision, role, index string, change ...func(*PodState)) {
	version, at := t.next()
	number, _ := strconv.Atoi(version)
	state := pod(revision+"-"+role+"-"+index, revision+role+index, index, 0, change...)
	state.Set, state.Size, state.Labels, state.Version, state.At = revision+"-"+role, 1, labelsOf(revision, role), uint64(number), at
	state.UID = types.UID(revision + role + index)
	t.Pods = append(t.Pods, state)
}

func (t *tape) publish(revision, role string) {
	version, at := t.next()
	t.Further = append(t.Further, FurtherState{At: at, Object: &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Name: revision + "-" + role + "-prv", Labels: labelsOf(revision, role), ResourceVersion: version,
	}}})
}

// serving is a tape on which revision r1 has one ready group of each role.
func serving() *tape {
	t := &tape{}
	for _, role := range []string{"a", "b"} {
		t.scale("r1", role, 1)
		t.group("r1", role, "0", isReadyNow)
	}
	return t
}

func TestWatchRoles(t *testing.T) {
	for name, test := range map[string]struct {
		then                          func(*tape)
		a, b                          RoleExtremes
		orphans, published, reversals string // a part of the only one; empty: none
		longest                       time.Duration
	}{
		"nothing happens": {func(*tape) {}, RoleExtremes{1, 1, 1}, RoleExtremes{1, 1, 1}, "", "", "", 0},
		"a new revision beside the old one": {func(t *tape) {
			t.scale("r2", "a", 1)
			t.scale("r2", "b", 1)
			t.group("r2", "a", "0")
		}, RoleExtremes{1, 2, 2}, RoleExtremes{1, 1, 2}, "", "", "", 0},
		"an old group that ends before a new one is ready": {func(t *tape) {
			t.scale("r2", "a", 1)
			t.group("r2", "a", "0")
			t.group("r1", "a", "0", isReadyNow, isEnding)
		}, RoleExtremes{0, 2, 2}, RoleExtremes{1, 1, 1}, "", "", "", 0},
		"roles that are written one after the other": {func(t *tape) {
			t.scale("r1", "a", 0)
			t.scale("r1", "b", 0)
		}, RoleExtremes{1, 1, 1}, RoleExtremes{1, 1, 1}, "", "", "", time.Second},
		"something else in between": {func(t *tape) {
			t.scale("r2", "a", 0)
			t.scale("r2", "b", 0)
			t.scale("r1", "a", 0)
			t.scale("r2", "a", 1)
		}, RoleExtremes{1, 1, 1}, RoleExtremes{1, 1, 1}, "0/r1 lacks a role while 0/r2 changes", "", "", 0},
		"Services of a revision that is not ready": {func(t *tape) {
			t.publish("r2", "a")
			t.scale("r2", "a", 1)
		}, RoleExtremes{1, 1, 2}, RoleExtremes{1, 1, 1}, "", "0/r2 is published while a has no ready group", "", 0},
		"an old revision that grows": {func(t *tape) {
			t.scale("r1", "a", 1, true)
			t.scale("r1", "a", 2, true)
		}, RoleExtremes{1, 1, 2}, RoleExtremes{1, 1, 1}, "", "", "r1-a grew from 1 to 2", 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := serving()
			mark := h.Mark()
			test.then(h)
			got := h.WatchRoles("ds", mark)
			want := map[string]*RoleExtremes{"0/a": &test.a, "0/b": &test.b}
			if diff := cmp.Diff(want, got.Roles); diff != "" {
				t.Errorf("extremes (-want +got):\n%s", diff)
			}
			for what, pair := range map[string]struct {
				got  []string
				want string
			}{"orphans": {got.Orphans, test.orphans}, "published": {got.HalfPublished, test.published}, "reversals": {got.Reversals, test.reversals}} {
				if text := strings.Join(pair.got, "; "); (pair.want == "") != (text == "") || !strings.Contains(text, pair.want) {
					t.Errorf("%s %q, want %q", what, text, pair.want)
				}
			}
			if got.LongestPartial != test.longest {
				t.Errorf("partial for %s, want %s", got.LongestPartial, test.longest)
			}
		})
	}
}

func TestStepsAndCourses(t *testing.T) {
	h := serving()
	mark := h.Mark()
	h.scale("r2", "a", 1)
	h.scale("r1", "a", 0)
	h.scale("r2", "b", 1)
	steps := h.Steps("ds", "0", "r2", mark)
	if len(steps) != 3 || steps[0].New["a"] != 1 || steps[0].Old["a"] != 1 || steps[2].New["b"] != 1 {
		t.Errorf("steps %+v", steps)
	}
	want := map[string][]string{"a": {"1+1", "0+1"}, "b": {"1+1"}}
	if diff := cmp.Diff(want, h.Courses("ds", "0", "r2", mark)); diff != "" {
		t.Errorf("courses (-want +got):\n%s", diff)
	}
	if got := h.StartTimes("ds", "0", "a", "r1"); len(got) != 1 || got[0] != 0 {
		t.Errorf("start times %v", got)
	}
	h.scale("r2", "a", 2)
	h.Sets[len(h.Sets)-1].Status.ReadyReplicas = 1
	h.scale("r2", "a", 2)
	h.Sets[len(h.Sets)-1].Status.ReadyReplicas = 2
	if diff := cmp.Diff([]time.Duration{3 * time.Second, time.Second}, h.ReplicaTimes("ds", "0", "a", "r2")); diff != "" {
		t.Errorf("replica times (-want +got):\n%s", diff)
	}
}
