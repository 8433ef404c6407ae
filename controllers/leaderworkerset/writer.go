package leaderworkerset

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// writer does the writes of one reconcile and tells what became of them.
type writer struct {
	*Reconciler
	seen       *observation
	remembered *recollection
	out        *outcome
}

// tellObserved tells what nobody wrote but somebody has to know.
func (w *writer) tellObserved() {
	// Every pod that cannot be made has its own text; the first stands for all.
	about, failure := "pods", w.seen.CreateFailure
	if failure == "" {
		w.remembered.announce(about, "")
	} else {
		w.tell(about, "cannot be made", failedCreate("", failure))
	}
	w.tell("placement", w.seen.Kept.Text, failedUpdate("", w.seen.Kept.Text))
}

// tell makes an event of a text about something unless it is the last that was
// told about it. An empty text only ends the matter. After a restart of the
// manager the stored status shows what has been told.
func (w *writer) tell(about, text string, n notice) {
	if !w.remembered.announce(about, text) {
		return
	}
	progressing := meta.FindStatusCondition(w.seen.Set.Status.Conditions, lwsv1.ConditionProgressing)
	isStored := progressing != nil && (progressing.Reason == n.Reason || progressing.Message == n.Note)
	if w.remembered.StatusStored.IsZero() && isStored {
		return
	}
	w.out.Told = append(w.out.Told, n)
}

// failed sorts out the error of a write. What the API server refuses is told.
func (w *writer) failed(tried write, err error) {
	w.remembered.Ending = w.remembered.Ending || isNamespaceTerminating(err)
	if isRefusal(err) {
		text := fmt.Sprintf("%s was refused: %v", tried, err)
		tell, reason := failedUpdate, ""
		if tried.Verb == verbCreate {
			tell, reason = failedCreate, lwsv1.ReasonFailedCreate
		}
		w.out.obstruct(reason, text)
		w.tell(tried.Object, text, tell(tried.Object, text))
	}
	w.out.failed(tried.String(), err)
}
