package leaderworkerset

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

func TestFailedWrites(t *testing.T) {
	resource := schema.GroupResource{Resource: "statefulsets"}
	terminating := apierrors.NewForbidden(resource, "x", errors.New("namespace is going"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "StatefulSet"}, "x", field.ErrorList{})

	tests := map[string]struct {
		verb     string
		err      error
		obstacle *obstacle
		told     []string
		errors   int
		again    time.Duration
	}{
		"a namespace that goes":  {verb: verbCreate, err: terminating},
		"the manager stops":      {verb: verbUpdate, err: fmt.Errorf("patch: %w", context.Canceled)},
		"an object that is gone": {verb: verbUpdate, err: apierrors.NewNotFound(resource, "x")},
		"an old read":            {verb: verbUpdate, err: apierrors.NewConflict(resource, "x", errors.New("changed")), again: retryConflict},
		"no time":                {verb: verbCreate, err: apierrors.NewTooManyRequests("busy", 1), errors: 1},
		"a webhook is down":      {verb: verbCreate, err: apierrors.NewInternalError(errors.New("no endpoints")), errors: 1},
		"no API server":          {verb: verbCreate, err: errors.New("connection refused"), errors: 1},
		"creation refused": {
			verb: verbCreate, err: apierrors.NewForbidden(resource, "x", errors.New("quota")), errors: 1,
			obstacle: &obstacle{lwsv1.ReasonFailedCreate, `creating StatefulSet x was refused: statefulsets "x" is forbidden: quota`},
			told:     []string{lwsv1.ReasonFailedCreate},
		},
		"update refused": {
			verb: verbUpdate, err: invalid, errors: 1,
			obstacle: &obstacle{"", `updating StatefulSet x was refused: StatefulSet "x" is invalid`},
			told:     []string{lwsv1.ReasonFailedUpdate},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := testWriter()
			w.failed(write{tc.verb, "StatefulSet x"}, tc.err)
			if diff := cmp.Diff(tc.obstacle, worst(w.out.Obstacles)); diff != "" {
				t.Errorf("obstacle (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.told, reasons(w.out.Told)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if want := errors.Is(tc.err, terminating); w.remembered.Ending != want {
				t.Errorf("the namespace is remembered as ending: %v, want %v", w.remembered.Ending, want)
			}
			if len(w.out.Errs) != tc.errors || w.out.Again != tc.again {
				t.Errorf("errors %v, again in %s", w.out.Errs, w.out.Again)
			}
			w.failed(write{tc.verb, "StatefulSet x"}, tc.err)
			if diff := cmp.Diff(tc.told, reasons(w.out.Told)); diff != "" {
				t.Errorf("events after the same once more (-want +got):\n%s", diff)
			}
		})
	}
}

var testKey = types.NamespacedName{Namespace: "default", Name: "x"}

func testWriter() *writer {
	return &writer{
		seen:       &observation{Set: testSet().Obj()},
		remembered: newMemory().of(testKey, "set"),
		out:        &outcome{},
	}
}

func reasons(told []notice) []string {
	var list []string
	for _, n := range told {
		list = append(list, n.Reason)
	}
	return list
}

// A manager that was just started has told before what the stored status says.
func TestTellAfterRestart(t *testing.T) {
	tests := map[string]struct {
		stored metav1.Condition
		notice notice
		want   int
	}{
		"other reason":     {metav1.Condition{Reason: lwsv1.ReasonGroupsProgressing}, nameConflict("Service s", "taken"), 1},
		"the same reason":  {metav1.Condition{Reason: lwsv1.ReasonNameConflict}, nameConflict("Service s", "taken"), 0},
		"the same message": {metav1.Condition{Reason: lwsv1.ReasonGroupsUpdating, Message: "refused"}, failedUpdate("", "refused"), 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := testWriter()
			tc.stored.Type = lwsv1.ConditionProgressing
			w.seen.Set.Status.Conditions = []metav1.Condition{tc.stored}
			w.tell("it", tc.notice.Note, tc.notice)
			if len(w.out.Told) != tc.want {
				t.Errorf("told %v, want %d", w.out.Told, tc.want)
			}
			w.tell("it", "", tc.notice)
			w.remembered.StatusStored = testTime.Time
			w.tell("it", tc.notice.Note, tc.notice)
			if len(w.out.Told) != tc.want+1 {
				t.Errorf("told %v when it came back", w.out.Told)
			}
		})
	}
}

func TestWorstObstacle(t *testing.T) {
	of := func(reasons ...string) []obstacle {
		var list []obstacle
		for _, reason := range reasons {
			list = append(list, obstacle{reason, reason + " text"})
		}
		return list
	}
	tests := map[string]struct {
		obstacles []obstacle
		want      string
	}{
		"none":                {},
		"a conflict first":    {of(lwsv1.ReasonGroupUnschedulable, "", lwsv1.ReasonFailedCreate, lwsv1.ReasonNameConflict), lwsv1.ReasonNameConflict},
		"refused updates":     {of(lwsv1.ReasonPredecessorTerminating, ""), ""},
		"predecessors":        {of(lwsv1.ReasonGroupUnschedulable, lwsv1.ReasonPredecessorTerminating), lwsv1.ReasonPredecessorTerminating},
		"unknown reasons":     {of("Other", lwsv1.ReasonGroupUnschedulable), lwsv1.ReasonGroupUnschedulable},
		"only unknown":        {of("Other"), "Other"},
		"the first of equals": {append(of(lwsv1.ReasonNameConflict), obstacle{lwsv1.ReasonNameConflict, "second"}), lwsv1.ReasonNameConflict},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := worst(tc.obstacles)
			if len(tc.obstacles) == 0 {
				if got != nil {
					t.Errorf("%+v of none", got)
				}
				return
			}
			if got == nil || got.Reason != tc.want || got.Message != tc.want+" text" {
				t.Errorf("worst %+v, want %q", got, tc.want)
			}
		})
	}
}

func TestConflictPauses(t *testing.T) {
	remembered := newMemory().of(testKey, "set")
	var pauses []time.Duration
	for range 8 {
		pauses = append(pauses, remembered.conflicted("Service x", "taken", testTime.Time).Pause)
	}
	var want []time.Duration
	for _, seconds := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
		want = append(want, time.Duration(seconds)*time.Second)
	}
	if diff := cmp.Diff(want, pauses); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
}

func TestMemoryIsOfOneSet(t *testing.T) {
	m := newMemory()
	first := m.of(testKey, "a")
	first.announce("it", "text")
	if m.of(testKey, "a") != first {
		t.Error("forgot the set")
	}
	if second := m.of(testKey, "b"); !second.announce("it", "text") {
		t.Error("took a namesake for the same set")
	}
	m.forget(testKey)
	if len(m.sets) != 0 {
		t.Errorf("remembers %v", m.sets)
	}
}
