package disaggregatedset

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
)

// notice is something to tell about a set once.
type notice struct {
	Type   string
	Reason string
	Action string
	Note   string
	// Related is the object beside the set that it is about, as kind and name; empty
	// without one.
	Related string
}

// What the manager was doing, for the action field of events.
const (
	actionRollOut = "RollOut"
	actionScale   = "Scale"
	actionCreate  = "Create"
	actionDelete  = "Delete"
)

func rollingUpdateStarted(revision string) notice {
	return notice{
		corev1.EventTypeNormal, dsv1.ReasonRollingUpdateStarted, actionRollOut,
		"Rolling out revision " + revision, "",
	}
}

func rollingUpdateCompleted(revision string) notice {
	return notice{
		corev1.EventTypeNormal, dsv1.ReasonRollingUpdateCompleted, actionRollOut,
		"Rolled out revision " + revision, "",
	}
}

func scaled(role, first string, from, to int, where string) notice {
	n := notice{
		corev1.EventTypeNormal, dsv1.ReasonScalingUp, actionScale,
		fmt.Sprintf("Scaling role %s from %d to %d replicas in slices %s", role, from, to, where),
		leaderWorkerSetKind + " " + first,
	}
	if to < from {
		n.Reason = dsv1.ReasonScalingDown
	}
	return n
}

func lwsDeleted(names []string, why string) notice {
	slices.Sort(names)
	return notice{
		corev1.EventTypeNormal, dsv1.ReasonLWSDeleted, actionDelete,
		fmt.Sprintf("Deleted LeaderWorkerSet %s: %s", strings.Join(names, ", "), why),
		leaderWorkerSetKind + " " + names[0],
	}
}

func scalerCreated(name string, seed int) notice {
	return notice{
		corev1.EventTypeNormal, dsv1.ReasonScalerCreated, actionCreate,
		fmt.Sprintf("Created %s %s with %d replicas", scalerKind, name, seed),
		scalerKind + " " + name,
	}
}

func scalerDeleted(name string) notice {
	return notice{
		corev1.EventTypeNormal, dsv1.ReasonScalerDeleted, actionDelete,
		fmt.Sprintf("Deleted %s %s: its role is not scaled from outside", scalerKind, name),
		scalerKind + " " + name,
	}
}

func scalerSpreadsThin(name, text string) notice {
	return notice{corev1.EventTypeWarning, dsv1.ReasonScalerFollowed, actionScale, text, scalerKind + " " + name}
}

func nameConflict(kind, name, text string) notice {
	n := notice{corev1.EventTypeWarning, dsv1.ReasonNameConflict, actionCreate, text, kind + " " + name}
	if kind == scalerKind {
		n.Reason = dsv1.ReasonScalerConflict
	}
	return n
}

// transitionEvents tells what a status says that the one before did not.
func transitionEvents(before, now *dsv1.DisaggregatedSetStatus) []notice {
	wasRolling, isRolling := before.UpdatedSlices < before.Slices, now.UpdatedSlices < now.Slices
	switch {
	case before.CurrentRevision == "":
		return nil
	case isRolling && (!wasRolling || before.CurrentRevision != now.CurrentRevision):
		return []notice{rollingUpdateStarted(now.CurrentRevision)}
	case wasRolling && !isRolling:
		return []notice{rollingUpdateCompleted(now.CurrentRevision)}
	}
	return nil
}

// noteLimit is what the API server accepts as the note of an event, in bytes.
const noteLimit = 1024

// record tells what there is to tell. Events of one reason about the same objects are
// counted as one, whatever they say: so the related object is named as well.
func record(recorder events.EventRecorder, about *dsv1.DisaggregatedSet, told []notice) {
	for _, n := range told {
		var related runtime.Object
		if kind, name, isObject := strings.Cut(n.Related, " "); isObject {
			related = &corev1.ObjectReference{Kind: kind, Namespace: about.Namespace, Name: name}
		}
		recorder.Eventf(about, related, n.Type, n.Reason, n.Action, "%s", shortened(n.Note, noteLimit))
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
