package harness

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

var moment = metav1.NewTime(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))

// described is a set with two groups that all of its status fits.
func described(isAvailable bool) *lwsv1.LeaderWorkerSet {
	status := lwsv1.LeaderWorkerSetStatus{ObservedGeneration: 1, Replicas: 2, ReadyReplicas: 1, UpdatedReplicas: 2, UpdateRevision: "r1", Summary: lwsv1.ReasonGroupsProgressing}
	conditions := []metav1.Condition{
		{Type: lwsv1.ConditionAvailable, Status: metav1.ConditionFalse, Reason: lwsv1.ReasonGroupsNotReady},
		{Type: lwsv1.ConditionProgressing, Status: metav1.ConditionTrue, Reason: lwsv1.ReasonGroupsProgressing},
	}
	if isAvailable {
		status.ReadyReplicas, status.Summary = 2, lwsv1.ReasonAllGroupsReady
		conditions = []metav1.Condition{
			{Type: lwsv1.ConditionAvailable, Status: metav1.ConditionTrue, Reason: lwsv1.ReasonAllGroupsReady},
			{Type: lwsv1.ConditionProgressing, Status: metav1.ConditionFalse, Reason: lwsv1.ReasonAllGroupsReady},
		}
	}
	for _, c := range append(conditions,
		metav1.Condition{Type: lwsv1.ConditionUpdateInProgress, Status: metav1.ConditionFalse, Reason: lwsv1.ReasonNoUpdate},
		metav1.Condition{Type: lwsv1.ConditionDegraded, Status: metav1.ConditionFalse, Reason: lwsv1.ReasonAsExpected},
	) {
		c.Message, c.ObservedGeneration, c.LastTransitionTime = "text", 1, moment
		meta.SetStatusCondition(&status.Conditions, c)
	}
	return lwstest.New("s").Generation(1).Replicas(2).Status(status).Obj()
}

func TestStatusViolations(t *testing.T) {
	for name, test := range map[string]struct {
		change func(set *lwsv1.LeaderWorkerSet)
		want   string // empty: none
	}{
		"a status that fits":   {func(*lwsv1.LeaderWorkerSet) {}, ""},
		"a condition missing":  {func(s *lwsv1.LeaderWorkerSet) { s.Status.Conditions = s.Status.Conditions[:3] }, "no condition Degraded"},
		"the wrong reason":     {func(s *lwsv1.LeaderWorkerSet) { s.Status.Conditions[0].Reason = lwsv1.ReasonGroupsNotReady }, "Available=True has the reason GroupsNotReady"},
		"no message":           {func(s *lwsv1.LeaderWorkerSet) { s.Status.Conditions[0].Message = "" }, "no message"},
		"an older generation":  {func(s *lwsv1.LeaderWorkerSet) { s.Status.Conditions[0].ObservedGeneration = 0 }, "generation 0 in a status of generation 1"},
		"a later generation":   {func(s *lwsv1.LeaderWorkerSet) { s.Generation = 0 }, "generation 1 of 0"},
		"both True":            {func(s *lwsv1.LeaderWorkerSet) { s.Status.Conditions[1].Status = metav1.ConditionTrue }, "both True"},
		"too few ready":        {func(s *lwsv1.LeaderWorkerSet) { s.Status.ReadyReplicas = 1 }, "Available with 1 of 2"},
		"more ready than are":  {func(s *lwsv1.LeaderWorkerSet) { s.Status.Replicas = 1 }, "2 ready and 2 updated of 1"},
		"an unknown summary":   {func(s *lwsv1.LeaderWorkerSet) { s.Status.Summary = "Fine" }, `summary "Fine"`},
		"a revision of no one": {func(s *lwsv1.LeaderWorkerSet) { s.Status.UpdateRevision = "r2" }, "within generation 1"},
		"time without transition": {func(s *lwsv1.LeaderWorkerSet) {
			s.Status.Conditions[3].LastTransitionTime = metav1.NewTime(moment.Add(time.Hour))
		}, "lastTransitionTime of Degraded moves"},
		"time that goes back": {func(s *lwsv1.LeaderWorkerSet) {
			s.Status.Conditions[0].LastTransitionTime = metav1.NewTime(moment.Add(-time.Hour))
		}, "lastTransitionTime of Available goes back"},
	} {
		t.Run(name, func(t *testing.T) {
			last := described(true)
			test.change(last)
			h := History{Sets: []SetState{
				{LeaderWorkerSet: lwstest.New("s").Obj()}, {LeaderWorkerSet: described(false)}, {LeaderWorkerSet: last},
			}}
			got := strings.Join(h.StatusViolations("s"), "\n")
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestEventViolations(t *testing.T) {
	course := []SetState{{LeaderWorkerSet: described(false)}, {LeaderWorkerSet: described(true)}}
	for name, test := range map[string]struct {
		events []Event
		want   string
	}{
		"each once": {[]Event{
			{Reason: lwsv1.ReasonCreatingRevision, Count: 1}, {Reason: lwsv1.ReasonGroupsProgressing, Count: 1}, {Reason: lwsv1.ReasonAllGroupsReady, Count: 1},
		}, ""},
		"a series":    {[]Event{{Reason: lwsv1.ReasonAllGroupsReady, Count: 2}}, "AllGroupsReady was told 2 times about 1 transitions"},
		"again":       {[]Event{{Reason: lwsv1.ReasonGroupsProgressing, Count: 1}, {Reason: lwsv1.ReasonGroupsProgressing, Count: 1}}, "GroupsProgressing was told 2 times"},
		"no rollout":  {[]Event{{Reason: lwsv1.ReasonGroupsUpdating, Count: 1}}, "GroupsUpdating was told 1 times about 0"},
		"no revision": {[]Event{{Reason: lwsv1.ReasonCreatingRevision, Count: 2}}, "CreatingRevision was told 2 times about 1"},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range test.events {
				test.events[i].Set = "s"
			}
			got := strings.Join(History{Sets: course, Events: test.events}.EventViolations("s"), "\n")
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A rollout is told also if something is in the way of its groups from the beginning.
func TestARolloutOfWhichNoGroupCanBeCreated(t *testing.T) {
	held := described(false)
	for kind, reason := range map[string]string{
		lwsv1.ConditionProgressing: lwsv1.ReasonFailedCreate, lwsv1.ConditionUpdateInProgress: lwsv1.ReasonGroupsUpdating,
	} {
		meta.SetStatusCondition(&held.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason})
	}
	h := History{
		Sets:   []SetState{{LeaderWorkerSet: described(true)}, {LeaderWorkerSet: held}},
		Events: []Event{{Set: "s", Reason: lwsv1.ReasonGroupsUpdating, Count: 1}},
	}
	if got := h.EventViolations("s"); got != nil {
		t.Errorf("got %q, want none", got)
	}
}

func TestCourse(t *testing.T) {
	h := History{Sets: []SetState{
		{LeaderWorkerSet: lwstest.New("s").Obj()},
		{LeaderWorkerSet: described(false)},
		{LeaderWorkerSet: described(false)},
		{LeaderWorkerSet: described(true)},
	}}
	if diff := cmp.Diff([]string{"False GroupsNotReady", "True AllGroupsReady"}, h.Course("s", lwsv1.ConditionAvailable, Mark{})); diff != "" {
		t.Errorf("from the beginning (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"True AllGroupsReady"}, h.Course("s", lwsv1.ConditionAvailable, h.Mark())); diff != "" {
		t.Errorf("from the end (-want +got):\n%s", diff)
	}
}
