package group

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// gang is what decisions have to know of the scheduling objects of a group.
type gang struct {
	// Used: the set has scheduling objects. Without it nothing else is looked at.
	Used bool
	// Unavailable is why there can be none now, empty if there can.
	Unavailable string
	// Unread: nobody knows yet whether there can.
	Unread bool
	// Admitted: the leader refers to the objects that its set, and workers that are
	// there already, want it to.
	Admitted bool
	// Awaited are objects of the set that are not there yet.
	Awaited []string
	// Missing are objects of the group, Leaving those that go under their names.
	Missing []scheduling.Ref
	Leaving []string
	// Left are objects that no pod refers to, and none will.
	Left []leftObject

	required []client.Object
	// orphans are objects of the group whose owner was deleted without them.
	orphans []client.Object
}

// leftObject is a scheduling object of an earlier incarnation of the group.
type leftObject struct {
	Ref     scheduling.Ref
	UID     types.UID
	Deleted time.Time // zero if it is not being deleted
	HeldBy  []string
}

// gangVerdict is what the scheduling objects of a group mean for a gated leader.
type gangVerdict string

const (
	gangReady   gangVerdict = "Ready" // or none are wanted
	gangMissing gangVerdict = "Missing"
	gangAwaited gangVerdict = "Awaited" // something else has to happen first
	gangReplace gangVerdict = "Replace" // the leader was admitted to something else
)

// decideGang decides about the scheduling objects of a gated leader's group.
func decideGang(g *gang) (verdict gangVerdict, message string) {
	switch {
	case !g.Used:
		return gangReady, ""
	case g.Unavailable != "":
		return gangAwaited, g.Unavailable
	case !g.Admitted:
		return gangReplace, "it was admitted without its PodGroup"
	case len(g.Awaited) > 0:
		return gangAwaited, strings.Join(g.Awaited, ", ") + " is not there yet"
	case len(g.Leaving) > 0:
		return gangAwaited, strings.Join(g.Leaving, ", ") + " is being deleted"
	case len(g.Missing) > 0:
		return gangMissing, ""
	}
	return gangReady, ""
}
