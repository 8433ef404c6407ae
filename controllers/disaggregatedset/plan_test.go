package disaggregatedset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/apis/disaggregatedset/v1/dstest"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/disaggregatedset/children"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
)

func budgeted(name string, replicas int32) *dstest.RoleBuilder {
	return dstest.NewRole(name).From(lwstest.New(name).Replicas(replicas).MaxSurge("1").MaxUnavailable("0"))
}

// scene is a set with LeaderWorkerSets that are told as "slice revision role
// replicas ready".
type scene struct {
	t   *testing.T
	set *dsv1.DisaggregatedSet
	all objects
}

func newScene(t *testing.T, set *dsv1.DisaggregatedSet) *scene {
	t.Helper()
	return &scene{t: t, set: set}
}

// current adds members of the revision that the spec means, old others.
func (s *scene) current(slice int, role string, replicas, ready int32) *scene {
	s.t.Helper()
	seen, err := resolve(s.set, &objects{})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.add(identity.Key{Slice: slice, Revision: seen.Revision, Role: role}, replicas, ready)
}

func (s *scene) old(slice int, role string, replicas, ready int32) *scene {
	s.t.Helper()
	return s.add(identity.Key{Slice: slice, Revision: "0ld", Role: role}, replicas, ready)
}

func (s *scene) add(key identity.Key, replicas, ready int32) *scene {
	s.t.Helper()
	at := slices.IndexFunc(s.set.Spec.Roles, func(r dsv1.DisaggregatedRoleSpec) bool { return r.Name == key.Role })
	made := children.LeaderWorkerSet{Set: s.set, Key: key, Role: &s.set.Spec.Roles[max(at, 0)], Budget: children.Budget{Surge: 1}}
	config, _, err := made.Desired()
	if err != nil {
		s.t.Fatal(err)
	}
	live := lwsv1.LeaderWorkerSet{}
	if err := convert(config, &live); err != nil {
		s.t.Fatal(err)
	}
	live.UID = "uid"
	live.Spec.Replicas = ptr.To(replicas)
	live.Status = lwsv1.LeaderWorkerSetStatus{Replicas: replicas, ReadyReplicas: ready}
	if key.Revision == "0ld" {
		live.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = "0ld"
	}
	s.all.LeaderWorkerSets = append(s.all.LeaderWorkerSets, live)
	return s
}

func (s *scene) plan(slice int) (*observation, *slicePlan) {
	s.t.Helper()
	seen, err := resolve(s.set, &s.all)
	if err != nil {
		s.t.Fatal(err)
	}
	return seen, planSlice(seen, slice)
}

// told is a plan as text, revisions as old and new.
func told(seen *observation, p *slicePlan) string {
	name := func(revision string) string {
		if revision == seen.Revision {
			return "new"
		}
		return "old"
	}
	var out []string
	for _, m := range p.Members {
		verb := "keep"
		switch {
		case m.Live == nil:
			verb = "create"
		case m.Replicas != m.From:
			verb = "scale"
		}
		out = append(out, fmt.Sprintf("%s %s %s %d", verb, name(m.Key.Revision), m.Key.Role, m.Replicas))
	}
	for what, all := range map[string][]*generation{"publish": p.Publish, "drained": p.Drained} {
		for _, g := range all {
			out = append(out, what+" "+name(g.Revision))
		}
	}
	slices.Sort(out)
	if p.Waits != "" {
		out = append(out, p.Waits)
	}
	return strings.Join(out, "; ")
}

func TestPlanSlice(t *testing.T) {
	pair := func() *dsv1.DisaggregatedSet {
		return dstest.New("llm").UID("u").Roles(budgeted("a", 2), budgeted("b", 1)).Obj()
	}
	tests := map[string]struct {
		scene func(*testing.T) *scene
		want  string
	}{
		"nothing exists": {
			func(t *testing.T) *scene { return newScene(t, pair()) },
			"create new a 2; create new b 1",
		},
		"not all roles are ready": {
			func(t *testing.T) *scene { return newScene(t, pair()).current(0, "a", 2, 2).current(0, "b", 1, 0) },
			"keep new a 2; keep new b 1",
		},
		"all roles have a ready replica": {
			func(t *testing.T) *scene { return newScene(t, pair()).current(0, "a", 2, 1).current(0, "b", 1, 1) },
			"keep new a 2; keep new b 1; publish new",
		},
		"a new template": {
			func(t *testing.T) *scene { return newScene(t, pair()).old(0, "a", 2, 2).old(0, "b", 1, 1) },
			"create new a 1; create new b 1; keep old a 2; keep old b 1; publish old",
		},
		"both serve": {
			func(t *testing.T) *scene {
				return newScene(t, pair()).old(0, "a", 2, 2).old(0, "b", 1, 1).current(0, "a", 1, 1).current(0, "b", 1, 1)
			},
			"keep new a 1; keep new b 1; keep old b 1; publish new; publish old; scale old a 1",
		},
		"the last old replicas go, and with them the Services": {
			func(t *testing.T) *scene {
				return newScene(t, pair()).old(0, "a", 1, 1).old(0, "b", 1, 1).current(0, "a", 2, 2).current(0, "b", 1, 1)
			},
			"keep new a 2; keep new b 1; publish new; scale old a 0; scale old b 0",
		},
		"an old revision is empty": {
			func(t *testing.T) *scene {
				return newScene(t, pair()).old(0, "a", 0, 0).old(0, "b", 0, 0).current(0, "a", 2, 2).current(0, "b", 1, 1)
			},
			"drained old; keep new a 2; keep new b 1; publish new",
		},
		"a wait says what for": {
			func(t *testing.T) *scene {
				return newScene(t, pair()).old(0, "a", 2, 2).old(0, "b", 1, 1).current(0, "a", 1, 0).current(0, "b", 1, 1)
			},
			"keep new a 1; keep new b 1; keep old a 2; keep old b 1; publish old; waiting for replicas of role a to become ready",
		},
		"somebody else's LeaderWorkerSet is not planned with": {
			func(t *testing.T) *scene {
				s := newScene(t, pair()).current(0, "a", 2, 2)
				s.all.LeaderWorkerSets[0].OwnerReferences[0].Name = "other"
				return s
			},
			"create new a 2; create new b 1",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			seen, p := tc.scene(t).plan(0)
			if diff := cmp.Diff(tc.want, told(seen, p)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatusReasons(t *testing.T) {
	pair := dstest.New("llm").UID("u").Roles(budgeted("a", 2), budgeted("b", 1))
	whole := func(t *testing.T) *scene {
		t.Helper()
		return newScene(t, pair.Obj()).current(0, "a", 2, 2).current(0, "b", 1, 1)
	}
	tests := map[string]struct {
		scene func(*testing.T) *scene
		out   outcome
		want  string
	}{
		"all is there": {whole, outcome{}, dsv1.ReasonAllRolesReady},
		"not ready": {
			func(t *testing.T) *scene { return newScene(t, pair.Obj()).current(0, "a", 2, 1).current(0, "b", 1, 1) },
			outcome{},
			dsv1.ReasonScalingInProgress,
		},
		"old replicas are left": {
			func(t *testing.T) *scene { return whole(t).old(0, "a", 1, 1).old(0, "b", 1, 1) },
			outcome{},
			dsv1.ReasonRolloutInProgress,
		},
		"more is ready than is wanted": {
			func(t *testing.T) *scene { return newScene(t, pair.Obj()).current(0, "a", 3, 3).current(0, "b", 1, 1) },
			outcome{},
			dsv1.ReasonScalingInProgress,
		},
		"a slice too many": {
			func(t *testing.T) *scene { return whole(t).current(1, "a", 2, 2) }, outcome{}, dsv1.ReasonScalingInProgress,
		},
		"a name is taken": {whole, outcome{Conflicts: []string{"Service x exists"}}, dsv1.ReasonNameConflict},
		"no scaler yet": {
			func(t *testing.T) *scene {
				return newScene(t, dstest.New("llm").UID("u").Roles(budgeted("a", 2).External(), budgeted("b", 1)).Obj())
			},
			outcome{},
			dsv1.ReasonWaitingForScaler,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := tc.scene(t)
			seen, err := resolve(s.set, &s.all)
			if err != nil {
				t.Fatal(err)
			}
			status := computeStatus(seen, &tc.out)
			values := map[string]metav1.ConditionStatus{}
			for _, c := range status.Conditions {
				values[c.Type] = c.Status
				if c.Message == "" || strings.HasSuffix(c.Message, ": ") {
					t.Errorf("%s says %q, which tells nobody what is missing", c.Type, c.Message)
				}
				if c.Type == dsv1.ConditionProgressing && c.Reason != tc.want {
					t.Errorf("reason %s (%s), want %s", c.Reason, c.Message, tc.want)
				}
			}
			if order := conditionTypes(status.Conditions); !slices.Equal(order, conditionOrder) {
				t.Errorf("conditions in the order %v, want %v", order, conditionOrder)
			}
			if len(values) != 3 || values[dsv1.ConditionAvailable] == values[dsv1.ConditionProgressing] {
				t.Errorf("conditions %v: all three, and Available is what Progressing is not", values)
			}
		})
	}
}

func conditionTypes(conditions []metav1.Condition) []string {
	var types []string
	for _, c := range conditions {
		types = append(types, c.Type)
	}
	return types
}

// A status of before has its conditions in another order, or one of somebody else's.
func TestOrderOfStoredConditions(t *testing.T) {
	stored := []metav1.Condition{{Type: "Theirs"}, {Type: dsv1.ConditionAvailable}, {Type: dsv1.ConditionProgressing}, {Type: dsv1.ConditionDegraded}}
	order(stored)
	want := []string{dsv1.ConditionDegraded, dsv1.ConditionAvailable, dsv1.ConditionProgressing, "Theirs"}
	if got := conditionTypes(stored); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What a manager that died left without a role is made whole before anything else.
func TestPartialGenerationsFirst(t *testing.T) {
	pair := dstest.New("llm").UID("u").Roles(budgeted("a", 2), budgeted("b", 1))
	for name, tc := range map[string]struct {
		scene *scene
		first string
	}{
		"one that began":     {newScene(t, pair.Obj()).old(0, "a", 2, 2).old(0, "b", 1, 1).current(0, "a", 1, 1).current(0, "b", 0, 0), "new"},
		"one that was going": {newScene(t, pair.Obj()).old(0, "a", 0, 0).old(0, "b", 1, 1).current(0, "a", 2, 2).current(0, "b", 1, 1), "old"},
		"none":               {newScene(t, pair.Obj()).old(0, "a", 2, 2).old(0, "b", 1, 1).current(0, "a", 1, 1).current(0, "b", 1, 1), "old"},
	} {
		t.Run(name, func(t *testing.T) {
			seen, p := tc.scene.plan(0)
			first := "old"
			if p.Members[0].Key.Revision == seen.Revision {
				first = "new"
			}
			if first != tc.first {
				t.Errorf("the first to be written is %s, want %s: %s", first, tc.first, told(seen, p))
			}
		})
	}
}

func TestStrayServices(t *testing.T) {
	s := newScene(t, dstest.New("llm").UID("u").Roles(budgeted("a", 1), budgeted("b", 1)).Obj()).current(0, "a", 1, 1)
	key := identity.Key{Slice: 4, Revision: "gone", Role: "a"}
	service := corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: identity.ServiceName("llm", key), Labels: identity.Labels("llm", key)}}
	s.all.Services = append(s.all.Services, service)
	seen, _ := s.plan(0)
	if len(seen.Strays) != 1 {
		t.Errorf("strays %v, want the Service of a revision that is gone", seen.Strays)
	}
}
