package leaderworkerset

import (
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// notice is something to tell about a set once.
type notice struct {
	Type   string
	Reason string
	Action string
	Note   string
}

// What the manager was doing, for the action field of events.
const (
	actionReconcile = "Reconcile"
	actionCreate    = "Create"
	actionUpdate    = "Update"
	actionSchedule  = "Schedule"
)

func creatingRevision(key string) notice {
	return notice{corev1.EventTypeNormal, lwsv1.ReasonCreatingRevision, actionCreate, "Creating revision " + key}
}

func failedCreate(text string) notice {
	return notice{corev1.EventTypeWarning, lwsv1.ReasonFailedCreate, actionCreate, text}
}

func failedUpdate(text string) notice {
	return notice{corev1.EventTypeWarning, lwsv1.ReasonFailedUpdate, actionUpdate, text}
}

func nameConflict(text string) notice {
	return notice{corev1.EventTypeWarning, lwsv1.ReasonNameConflict, actionCreate, text}
}

// transitionEvents tells what changed between two stored sets of conditions. That
// a group is stopped with its budget spent, the group tells itself.
func transitionEvents(stored, current []metav1.Condition) []notice {
	var told []notice
	if c := changed(stored, current, lwsv1.ConditionProgressing); c != nil && c.Status == metav1.ConditionTrue {
		if e, ok := progressEvent(c); ok {
			told = append(told, e)
		}
	}
	if c := changed(stored, current, lwsv1.ConditionAvailable); c != nil && c.Status == metav1.ConditionTrue {
		told = append(told, notice{corev1.EventTypeNormal, c.Reason, actionReconcile, c.Message})
	}
	return told
}

// progressEvent is the event of a set that began to progress for another reason.
// Refused writes, conflicts and waiting groups are told where they are met, each
// with its own text; here they would be told twice.
func progressEvent(c *metav1.Condition) (notice, bool) {
	switch c.Reason {
	case lwsv1.ReasonGroupsProgressing, lwsv1.ReasonGroupsUpdating:
		return notice{corev1.EventTypeNormal, c.Reason, actionReconcile, c.Message}, true
	case lwsv1.ReasonGroupUnschedulable:
		return notice{corev1.EventTypeWarning, c.Reason, actionSchedule, c.Message}, true
	default:
		return notice{}, false
	}
}

// changed returns the current condition of a type if its status or its reason
// is another one than the stored, and nil otherwise.
func changed(stored, current []metav1.Condition, conditionType string) *metav1.Condition {
	now := meta.FindStatusCondition(current, conditionType)
	before := meta.FindStatusCondition(stored, conditionType)
	if now == nil || before != nil && before.Status == now.Status && before.Reason == now.Reason {
		return nil
	}
	return now
}

// noteLimit is what the API server accepts as the note of an event, in bytes.
const noteLimit = 1024

// record sends events about a set.
func record(recorder events.EventRecorder, about runtime.Object, told []notice) {
	for _, e := range told {
		recorder.Eventf(about, nil, e.Type, e.Reason, e.Action, "%s", shortened(e.Note, noteLimit))
	}
}

// shortened cuts text to a number of bytes, between characters.
func shortened(text string, limit int) string {
	const ellipsis = "..."
	if len(text) <= limit {
		return text
	}
	cut := limit - len(ellipsis)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + ellipsis
}
