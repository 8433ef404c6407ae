package group

import (
	"fmt"
	"strings"
	"time"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

const (
	// gangPatience is how long a leader that was admitted to no PodGroup is left, so
	// that a webhook that does not know better is not asked all the time.
	gangPatience = 5 * time.Second

	// cleanupPatience is how long an object that nothing refers to may take to go.
	cleanupPatience = 30 * time.Second
)

// replaceUnadmitted ends a gated leader, so that its successor is admitted anew.
func (p *plan) replaceUnadmitted(o *observation) {
	if wait := o.Leader.Created.Add(gangPatience).Sub(o.Now); wait > 0 {
		p.again(wait)
		return
	}
	p.do(deleteLeader{Leader: o.Leader.pod})
}

// keepGang makes what somebody deleted while the group lives, and takes over what has
// no owner.
func (p *plan) keepGang(o *observation) {
	for _, orphan := range o.Gang.orphans {
		p.do(adoptGang{Object: orphan})
	}
	if verdict, _ := decideGang(&o.Gang); verdict == gangMissing {
		p.do(createGang{Missing: o.Gang.Missing})
	}
}

// tidyGang ends the objects that nothing refers to, and reports those that do not go.
func (p *plan) tidyGang(o *observation) {
	for _, left := range o.Gang.Left {
		if left.Deleted.IsZero() {
			p.do(deleteGang{Ref: left.Ref, UID: left.UID})
			continue
		}
		if wait := left.Deleted.Add(cleanupPatience).Sub(o.Now); wait > 0 {
			p.again(wait)
			continue
		}
		p.Report.Scheduling = &Problem{Reason: lwsv1.ReasonPodGroupCleanupBlocked, Message: fmt.Sprintf(
			"Group %s: %s, which no pod refers to, is held by the finalizer %s", o.Group.Index, left.Ref, strings.Join(left.HeldBy, " and "))}
	}
}
