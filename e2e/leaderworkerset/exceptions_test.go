package leaderworkerset

import (
	"strings"

	"sigs.k8s.io/lws/e2e/harness"
)

// exceptions: what the manager needs, though no request shows it at all times.
var exceptions = harness.Exceptions{
	Unseen: map[string]string{
		"create secrets lws-webhook-server-cert in lws-system":        "for one that somebody deletes, as the integration tests of the program do under the shipped role",
		"patch secrets lws-webhook-server-cert in lws-system":         "the same",
		"update pods/finalizers":                                      "asked for by the admission plugin OwnerReferencesPermissionEnforcement, which sends no request",
		"update leaderworkersets/finalizers.leaderworkerset.x-k8s.io": "the same",
		"patch events.events.k8s.io":                                  "for what is told twice about one version of a set, which a test cannot provoke",
		"get deployments.apps":                                        "for a name that is taken by somebody's Deployment; the integration tests of sets have it",
		"get replicasets.apps":                                        "the pod webhook reads a ReplicaSet that its cache does not show yet: no test can slow that down",
		"get leaderworkersets.leaderworkerset.x-k8s.io":               "the same of a set",
		"get pods": "the same of a leader, and workers of a leader that garbage collection is late with",
	},
	// What feature gates and a scheduler provider need is switched off here; the suite
	// scheduling uses it.
	IsElsewhere: func(permission string) bool {
		return strings.HasSuffix(permission, ".scheduling.k8s.io") || strings.HasSuffix(permission, ".scheduling.volcano.sh")
	},
}
