package leaderworkerset

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// unadmitted is a leader that was made while the webhook of pods was not there, as
// between the removal of lws-manager and its return. It knows nothing of a group, and
// what makes leaders makes no other as long as it runs.
type unadmitted struct {
	objectRef
	Created time.Time
}

// unadmittedPatience is how old such a leader gets at least. Where the webhook is still
// not there its successor is no better, so they must not follow each other at once.
const unadmittedPatience = 30 * time.Second

// unadmittedOf finds them, by name. A leader that lost one of the labels of its group
// to somebody was admitted.
func unadmittedOf(m members) []unadmitted {
	var found []unadmitted
	for _, leader := range m.leaders {
		_, hasIndex := leader.Labels[lwsv1.GroupIndexLabelKey]
		_, hasKey := leader.Labels[lwsv1.GroupKeyLabelKey]
		if !hasIndex && !hasKey && !isGoing(leader) && m.makes(leader) {
			found = append(found, unadmitted{objectRef{leader.Name, leader.UID}, leader.CreationTimestamp.Time})
		}
	}
	slices.SortFunc(found, func(a, b unadmitted) int { return cmp.Compare(a.Name, b.Name) })
	return found
}

// unadmittedPlan is what is done about them.
type unadmittedPlan struct {
	Message string // about all of them, empty if there are none
	Delete  []objectRef
	Again   time.Duration // when the next one is old enough, zero for never
}

func planUnadmitted(found []unadmitted, now time.Time) unadmittedPlan {
	var p unadmittedPlan
	for _, leader := range found {
		wait := leader.Created.Add(unadmittedPatience).Sub(now)
		switch {
		case wait <= 0:
			p.Delete = append(p.Delete, leader.objectRef)
		case p.Again == 0 || wait < p.Again:
			p.Again = wait
		}
	}
	if len(found) > 0 {
		p.Message = fmt.Sprintf("Pod %s was created while the webhook of lws-manager was not there, so it is in no group; it is deleted when it is %s old",
			found[0].Name, unadmittedPatience)
	}
	if more := len(found) - 1; more > 0 {
		p.Message += fmt.Sprintf(" (and %d more)", more)
	}
	return p
}

const aboutUnadmitted = "pods that were not admitted"

// replaceUnadmitted deletes those that are old enough, so that others are made.
func (w *writer) replaceUnadmitted(ctx context.Context, p unadmittedPlan) {
	if p.Message == "" {
		w.remembered.announce(aboutUnadmitted, "")
		return
	}
	w.tell(aboutUnadmitted, p.Message, failedCreate("", p.Message))
	for _, leader := range p.Delete {
		w.removeLeader(ctx, leader)
	}
	if p.Again > 0 {
		w.out.lookAgain(p.Again)
	}
}
