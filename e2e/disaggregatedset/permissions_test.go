package disaggregatedset

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

// unseen are permissions that the manager needs and no request shows, with the
// reason.
var unseen = map[string]string{
	"update disaggregatedsets/finalizers.disaggregatedset.x-k8s.io": "asked for by the admission plugin OwnerReferencesPermissionEnforcement, which sends no request",
	"create tokenreviews.authentication.k8s.io":                     "asked by the metrics endpoint, which the tests of the program read under the shipped role",
	"create subjectaccessreviews.authorization.k8s.io":              "the same",
	"patch events.events.k8s.io":                                    "for what is told twice about one version of a set, which a test cannot provoke",
	"get disaggregatedsetrolescalers.disaggregatedset.x-k8s.io":     "read in the moment before the cache shows the scaler that is in the way: no test can slow that down",
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
	granted, err := shared.Granted(ctx, managers.DisaggregatedSet())
	Expect(err).NotTo(HaveOccurred())
	requests, err := shared.Audit(managers.DisaggregatedSet()).Next()
	Expect(err).NotTo(HaveOccurred())
	unused, beyond := harness.ComparePermissions(granted, requests)
	Expect(beyond).To(BeEmpty(), "requests without a permission")
	unexplained := slices.DeleteFunc(unused, func(permission string) bool { return unseen[permission] != "" })
	Expect(unexplained).To(BeEmpty(), "permissions without a request")
}
