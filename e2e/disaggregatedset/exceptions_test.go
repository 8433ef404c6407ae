package disaggregatedset

import "sigs.k8s.io/lws/e2e/harness"

// exceptions: what the manager needs, though no request shows it at all times.
var exceptions = harness.Exceptions{
	Unseen: map[string]string{
		"create secrets disaggregatedset-webhook-server-cert in disaggregatedset-system": "for one that somebody deletes, as the integration tests of the program do under the shipped role",
		"patch secrets disaggregatedset-webhook-server-cert in disaggregatedset-system":  "the same",
		"update disaggregatedsets/finalizers.disaggregatedset.x-k8s.io":                  "asked for by the admission plugin OwnerReferencesPermissionEnforcement, which sends no request",
		"create tokenreviews.authentication.k8s.io":                                      "asked by the metrics endpoint, which the tests of the program read under the shipped role",
		"create subjectaccessreviews.authorization.k8s.io":                               "the same",
		"patch events.events.k8s.io":                                                     "for what is told twice about one version of a set, which a test cannot provoke",
		"get disaggregatedsetrolescalers.disaggregatedset.x-k8s.io":                      "read in the moment before the cache shows the scaler that is in the way: no test can slow that down",
	},
}
