package leaderworkerset

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

// unseen are permissions that the manager needs and no request shows, with the
// reason.
var unseen = map[string]string{}

// judgePermissions compares what the manager was seen to do over the whole suite with
// what its roles grant.
func judgePermissions(ctx context.Context) {
	GinkgoHelper()
	if !runsAllSpecs() {
		return
	}
	granted, err := shared.Granted(ctx, managers.LWS())
	Expect(err).NotTo(HaveOccurred())
	requests, err := shared.Audit(managers.LWS()).Next()
	Expect(err).NotTo(HaveOccurred())
	unused, beyond := harness.ComparePermissions(granted, requests)
	Expect(beyond).To(BeEmpty(), "requests without a permission")
	Expect(unused).To(ConsistOf(keysOf(unseen)), "permissions without a request")
}

// runsAllSpecs: only all of them together use all permissions.
func runsAllSpecs() bool {
	config, _ := GinkgoConfiguration()
	return len(config.FocusFiles)+len(config.SkipFiles)+len(config.FocusStrings)+len(config.SkipStrings) == 0 && config.LabelFilter == ""
}
