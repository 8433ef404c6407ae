package scheduling

import (
	"strings"

	"sigs.k8s.io/lws/e2e/harness"
)

// exceptions: what specs bring about, and what the manager needs though no request
// shows it at all times.
var exceptions = harness.Exceptions{
	Unseen: map[string]string{
		"get compositepodgroups.scheduling.k8s.io":    "for a name that is taken, as with PodGroups",
		"patch compositepodgroups.scheduling.k8s.io":  "for one whose set was deleted without it",
		"delete compositepodgroups.scheduling.k8s.io": "for a group that is scaled away, if garbage collection is not faster",
		"get workloads.scheduling.k8s.io":             "for a name that is taken, or one that the cache does not show yet",
		"get podgroups.scheduling.volcano.sh":         "for a name that is taken",
	},
	// The suite leaderworkerset shows the need of all that is not for scheduling objects.
	IsElsewhere: func(permission string) bool { return !strings.Contains(permission, ".scheduling.") },
}
