package group

import (
	"fmt"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// event is something to tell about the set. It is told once for each leader, unless
// another text about the same topic was told since.
type event struct {
	Type   string
	Reason string
	Action string
	Note   string
	Topic  string
	// Text tells one event of a topic from the next; empty: the note does.
	Text string
}

// What the manager was doing, for the action field of events.
const (
	actionRecreate = "Recreate"
	actionAdmit    = "Admit"
	actionCreate   = "Create"
	actionUpdate   = "Update"
	actionSchedule = "Schedule"
)

// Topics of events.
const (
	topicRecreation    = "recreation"
	topicBackoff       = "backoff"
	topicUnschedulable = "unschedulable"
	topicDeferred      = "deferred"
	topicAdmitted      = "admitted"
	topicExhausted     = "exhausted"
	topicRecovered     = "recovered"
	topicWrite         = "write"
	topicConflict      = "conflict"
)

func recreateGroup(index, cause string) event {
	return event{
		Type: corev1.EventTypeNormal, Reason: lwsv1.ReasonRecreateGroup, Action: actionRecreate,
		Note: fmt.Sprintf("Recreating group %s: %s", index, cause), Topic: topicRecreation,
	}
}

// restartBackoff is told once for each leader and count, not for each look at the
// remaining time.
func restartBackoff(index string, leader types.UID, v restartVerdict, count int32) event {
	return event{
		Type: corev1.EventTypeNormal, Reason: lwsv1.ReasonGroupRestartBackoff, Action: actionRecreate,
		Note: fmt.Sprintf("Recreating group %s in %s, after %d recreations: %s",
			index, v.After.Round(time.Second), count, v.Message),
		Topic: topicBackoff,
		Text:  fmt.Sprintf("%s/%d", leader, count),
	}
}

func groupUnschedulable(index, cause string) event {
	return event{
		Type: corev1.EventTypeWarning, Reason: lwsv1.ReasonGroupUnschedulable, Action: actionSchedule,
		Note: fmt.Sprintf("Not recreating group %s: %s", index, cause), Topic: topicUnschedulable,
	}
}

func budgetExceeded(index, cause string) event {
	return event{
		Type: corev1.EventTypeWarning, Reason: lwsv1.ReasonReplicaRestartBudgetExceeded, Action: actionRecreate,
		Note: fmt.Sprintf("Stopping group %s: %s", index, cause), Topic: topicExhausted,
	}
}

func groupRecovered(index, leader string) event {
	return event{
		Type: corev1.EventTypeNormal, Reason: lwsv1.ReasonGroupRecovered, Action: actionRecreate,
		Note:  fmt.Sprintf("Group %s starts again with a fresh restart budget, as asked for on its leader %s", index, leader),
		Topic: topicRecovered,
	}
}

// replacementDeferred is told once for each leader, not for each pod that went
// meanwhile: the condition is up to date.
func replacementDeferred(message string) event {
	return event{
		Type: corev1.EventTypeNormal, Reason: lwsv1.ReasonGroupReplacementDeferred, Action: actionAdmit,
		Note: message, Topic: topicDeferred, Text: "deferred",
	}
}

func replacementAdmitted(index, leader string) event {
	return event{
		Type: corev1.EventTypeNormal, Reason: lwsv1.ReasonGroupReplacementAdmitted, Action: actionAdmit,
		Note:  fmt.Sprintf("Leader %s of group %s is admitted: nothing of its predecessor is left", leader, index),
		Topic: topicAdmitted,
	}
}

func failedCreate(text string) event {
	return event{
		Type: corev1.EventTypeWarning, Reason: lwsv1.ReasonFailedCreate, Action: actionCreate,
		Note: text, Topic: topicWrite,
	}
}

func failedUpdate(text string) event {
	return event{
		Type: corev1.EventTypeWarning, Reason: lwsv1.ReasonFailedUpdate, Action: actionUpdate,
		Note: text, Topic: topicWrite,
	}
}

func nameConflict(text string) event {
	return event{
		Type: corev1.EventTypeWarning, Reason: lwsv1.ReasonNameConflict, Action: actionCreate,
		Note: text, Topic: topicConflict,
	}
}

// noteLimit is what the API server accepts as the note of an event, in bytes.
const noteLimit = 1024

// tell sends what was not told before. Events with the same reason about the same
// objects are counted as one, whatever they say: so the leader is named as well.
func (r *Reconciler) tell(o *observation, n *note, told []event) {
	if o.set == nil {
		return
	}
	leader := &corev1.ObjectReference{
		APIVersion: corev1.SchemeGroupVersion.String(), Kind: kindPod,
		Namespace: o.Group.Namespace, Name: o.Group.Name(), UID: o.leaderUID(),
	}
	if o.Leader != nil {
		leader.Name = o.Leader.Name
	}
	for _, e := range told {
		text := e.Text
		if text == "" {
			text = e.Note
		}
		if n.tell(e.Topic, text) {
			if e.Topic == topicBackoff {
				r.metrics.Deferred(o.Group.SetKey())
			}
			r.recorder.Eventf(o.set, leader, e.Type, e.Reason, e.Action, "%s", shortened(e.Note))
		}
	}
}

// shortened cuts a note to what is accepted, between characters.
func shortened(text string) string {
	const ellipsis = "..."
	if len(text) <= noteLimit {
		return text
	}
	cut := noteLimit - len(ellipsis)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + ellipsis
}
