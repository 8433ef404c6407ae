package leaderworkerset

import (
	"strings"
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
	// Related is the object beside the set that it is about, as kind and name.
	Related string
}

// What the manager was doing, for the action field of events.
const (
	actionReconcile = "Reconcile"
	actionCreate    = "Create"
	actionUpdate    = "Update"
	actionSchedule  = "Schedule"
)

func creatingRevision(object, key string) notice {
	return notice{corev1.EventTypeNormal, lwsv1.ReasonCreatingRevision, actionCreate, "Creating revision " + key, object}
}

func failedCreate(object, text string) notice {
	return notice{corev1.EventTypeWarning, lwsv1.ReasonFailedCreate, actionCreate, text, object}
}

func failedUpdate(object, text string) notice {
	return notice{corev1.EventTypeWarning, lwsv1.ReasonFailedUpdate, actionUpdate, text, object}
}

func nameConflict(object, text string) notice {
	return notice{corev1.EventTypeWarning, lwsv1.ReasonNameConflict, actionCreate, text, object}
}

// transitionEvents tells what changed between two stored sets of conditions. Refused
// writes and conflicts are told where they are met, what a group waits for and that
// it is stopped by the group: here they would be told twice. An obstacle that went
// away is no news; what was going on before it still is.
func transitionEvents(stored, current []metav1.Condition) []notice {
	var told []notice
	updating := becameTrue(stored, current, lwsv1.ConditionUpdateInProgress)
	if updating != nil {
		told = append(told, notice{corev1.EventTypeNormal, updating.Reason, actionReconcile, updating.Message, ""})
	}
	progressing := meta.FindStatusCondition(current, lwsv1.ConditionProgressing)
	switch {
	case progressing == nil:
	case isNews(stored, progressing, lwsv1.ReasonGroupUnschedulable):
		told = append(told, notice{corev1.EventTypeWarning, progressing.Reason, actionSchedule, progressing.Message, ""})
	case becameTrue(stored, current, lwsv1.ConditionProgressing) != nil && progressing.Reason == lwsv1.ReasonGroupsProgressing:
		told = append(told, notice{corev1.EventTypeNormal, progressing.Reason, actionReconcile, progressing.Message, ""})
	}
	if available := becameTrue(stored, current, lwsv1.ConditionAvailable); available != nil {
		told = append(told, notice{corev1.EventTypeNormal, available.Reason, actionReconcile, available.Message, ""})
	}
	return told
}

// becameTrue returns the current condition of a type if it is True and was not,
// and nil otherwise.
func becameTrue(stored, current []metav1.Condition, conditionType string) *metav1.Condition {
	c := meta.FindStatusCondition(current, conditionType)
	if c == nil || c.Status != metav1.ConditionTrue || meta.IsStatusConditionTrue(stored, conditionType) {
		return nil
	}
	return c
}

// isNews says whether a condition has a reason that it did not have.
func isNews(stored []metav1.Condition, c *metav1.Condition, reason string) bool {
	before := meta.FindStatusCondition(stored, c.Type)
	return c.Reason == reason && (before == nil || before.Reason != reason)
}

// noteLimit is what the API server accepts as the note of an event, in bytes.
const noteLimit = 1024

// record sends events about a set. Those with the same reason about the same objects
// are counted as one, whatever they say: so the related object is named as well.
func record(recorder events.EventRecorder, about *lwsv1.LeaderWorkerSet, told []notice) {
	for _, e := range told {
		var related runtime.Object
		if kind, name, isObject := strings.Cut(e.Related, " "); isObject {
			related = &corev1.ObjectReference{Kind: kind, Namespace: about.Namespace, Name: name}
		}
		recorder.Eventf(about, related, e.Type, e.Reason, e.Action, "%s", shortened(e.Note, noteLimit))
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
