package leaderworkerset

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/lws/e2e/harness"
)

// expected are the errors that the specs bring about, and why they are no fault.
var expected = map[string]string{
	"because it is being terminated": "specs end their namespaces with sets in them",
	"context canceled":               "specs stop and kill the manager, which drops what it was doing",
	"leader election lost":           "the same: controller-runtime says so when a leader is stopped",
	"http: TLS handshake error":      "the same: clients of its webhooks give up",
}

// judgeLog looks for what the manager's log should not have.
func judgeLog() {
	GinkgoHelper()
	entries, err := shared.Manager.LogErrors()
	Expect(err).NotTo(HaveOccurred())
	Expect(harness.Unexplained(entries, expected)).To(BeEmpty(), "errors in the log of the manager")
}
