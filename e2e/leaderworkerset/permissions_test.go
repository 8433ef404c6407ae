package leaderworkerset

import (
	"context"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

// unseen are permissions that the manager needs and no request shows, with the
// reason.
var unseen = map[string]string{
	"update pods/finalizers": "asked for by the admission plugin OwnerReferencesPermissionEnforcement, which sends no request",
	"update leaderworkersets/finalizers.leaderworkerset.x-k8s.io": "the same",
	"patch events.events.k8s.io":                                  "for what is told twice about one version of a set, which a test cannot provoke",
	"get deployments.apps":                                        "for a name that is taken by somebody's Deployment; the integration tests of sets have it",
	"get replicasets.apps":                                        "the pod webhook reads a ReplicaSet that its cache does not show yet: no test can slow that down",
	"get leaderworkersets.leaderworkerset.x-k8s.io":               "the pod webhook reads a set that its cache does not show yet: no test can slow that down",
}

// isForScheduling: what feature gates and a scheduler provider need is switched off
// here; the suite scheduling uses it.
func isForScheduling(permission string) bool {
	return strings.HasSuffix(permission, ".scheduling.k8s.io") || strings.HasSuffix(permission, ".scheduling.volcano.sh")
}

// judgePermissions compares what the manager was seen to do over the whole suite with
// what its roles grant.
func judgePermissions(ctx context.Context) {
	GinkgoHelper()
	suite, _ := GinkgoConfiguration()
	if len(suite.FocusStrings)+len(suite.SkipStrings)+len(suite.FocusFiles)+len(suite.SkipFiles)+len(suite.LabelFilter) > 0 {
		GinkgoWriter.Println("not the whole suite: permissions are not judged")
		return
	}
	granted, err := shared.Granted(ctx, managers.LWS())
	Expect(err).NotTo(HaveOccurred())
	requests, err := shared.Audit(managers.LWS()).Next()
	Expect(err).NotTo(HaveOccurred())
	unused, beyond := harness.ComparePermissions(granted, requests)
	Expect(beyond).To(BeEmpty(), "requests without a permission")
	unexplained := slices.DeleteFunc(unused, func(permission string) bool {
		return unseen[permission] != "" || isForScheduling(permission)
	})
	Expect(unexplained).To(BeEmpty(), "permissions without a request")
}
