package leaderworkerset

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

func conditionsFor(t tally, o *obstacle) []metav1.Condition {
	var conditions []metav1.Condition
	setConditions(&conditions, t, o, 1, testTime)
	return conditions
}

func TestTransitionEvents(t *testing.T) {
	starting := conditionsFor(tally{Desired: 2}, nil)
	halfway := conditionsFor(tally{Desired: 2, Settled: 1}, nil)
	ready := conditionsFor(tally{Desired: 2, Settled: 2}, nil)
	updating := conditionsFor(tally{Desired: 2, Settled: 1, Outdated: 1}, nil)
	unplaced := conditionsFor(tally{Desired: 2}, &obstacle{lwsv1.ReasonGroupUnschedulable, "no room"})
	updatingUnplaced := conditionsFor(tally{Desired: 2, Outdated: 1}, &obstacle{lwsv1.ReasonGroupUnschedulable, "no room"})
	refused := conditionsFor(tally{Desired: 2}, &obstacle{lwsv1.ReasonFailedCreate, "quota"})
	waiting := conditionsFor(tally{Desired: 2}, &obstacle{lwsv1.ReasonPredecessorTerminating, "pod x-0"})
	exhausted := conditionsFor(tally{Desired: 2, Settled: 1, Exhausted: 1, DesiredExhausted: 1}, nil)

	tests := map[string]struct {
		stored, current []metav1.Condition
		want            []string
	}{
		"the first status":                    {nil, starting, []string{"Normal GroupsProgressing"}},
		"nothing":                             {starting, starting, nil},
		"only a message":                      {starting, halfway, nil},
		"all ready":                           {halfway, ready, []string{"Normal AllGroupsReady"}},
		"ready from the first":                {nil, ready, []string{"Normal AllGroupsReady"}},
		"a rollout begins":                    {ready, updating, []string{"Normal GroupsUpdating"}},
		"a rollout ends":                      {updating, ready, []string{"Normal AllGroupsReady"}},
		"its last groups start":               {updating, halfway, nil},
		"a group fails":                       {ready, halfway, []string{"Normal GroupsProgressing"}},
		"a rollout of a set that is starting": {starting, updating, []string{"Normal GroupsUpdating"}},
		"no room":                             {starting, unplaced, []string{"Warning GroupUnschedulable"}},
		"still no room":                       {unplaced, unplaced, nil},
		"room again":                          {unplaced, starting, nil},
		"an update begins, no room":           {ready, updatingUnplaced, []string{"Normal GroupsUpdating", "Warning GroupUnschedulable"}},
		"an update goes on, with room":        {updatingUnplaced, updating, nil},
		"refused, told by the writer":         {starting, refused, nil},
		"waiting, told by the group":          {starting, waiting, nil},
		"stopped, told by the group":          {ready, exhausted, nil},
		"a recovery":                          {exhausted, starting, []string{"Normal GroupsProgressing"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, n := range transitionEvents(tc.stored, tc.current) {
				if n.Note == "" || n.Action == "" {
					t.Errorf("%+v says too little", n)
				}
				got = append(got, n.Type+" "+n.Reason)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestShortened(t *testing.T) {
	tests := map[string]struct {
		text  string
		limit int
		want  string
	}{
		"fits":                      {"abcdef", 6, "abcdef"},
		"does not":                  {"abcdefg", 6, "abc..."},
		"between characters":        {"aéééé", 6, "aé..."},
		"not inside of a character": {"éééé", 6, "é..."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := shortened(tc.text, tc.limit); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
	long := shortened(strings.Repeat("é", noteLimit), noteLimit)
	if len(long) > noteLimit || !utf8.ValidString(long) {
		t.Errorf("%d bytes, valid %t", len(long), utf8.ValidString(long))
	}
}

func TestEventsNameTheObjectBesideTheSet(t *testing.T) {
	recorder := &relatedRecorder{}
	set := lwstest.New("set").Obj()
	record(recorder, set, []notice{creatingRevision("ControllerRevision set-a-1", "a"), failedUpdate("", "refused")})
	want := []runtime.Object{&corev1.ObjectReference{Kind: "ControllerRevision", Namespace: set.Namespace, Name: "set-a-1"}, nil}
	if diff := cmp.Diff(want, recorder.related); diff != "" {
		t.Errorf("related (-want +got):\n%s", diff)
	}
}

// relatedRecorder keeps what events are about beside the set.
type relatedRecorder struct{ related []runtime.Object }

func (r *relatedRecorder) Eventf(_, related runtime.Object, _, _, _, _ string, _ ...any) {
	r.related = append(r.related, related)
}
