package leaderworkerset

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/lws/e2e/harness"
)

// expected are the errors that the specs bring about, and why they are no fault.
var expected = map[string]string{
	"because it is being terminated":                                            "specs end their namespaces with sets in them",
	"error received after stop sequence was engaged leader election lost":       "controller-runtime's, as a leader is stopped",
	"http: TLS handshake error":                                                 "clients of a manager that is stopped or killed give up",
	"Unable to write event (may retry after sleeping) Post …: context canceled": "client-go's, as a manager is stopped",
}

// judgeLog looks for what the manager's log should not have.
func judgeLog() {
	GinkgoHelper()
	entries, err := shared.Manager.LogErrors()
	Expect(err).NotTo(HaveOccurred())
	Expect(harness.Unexplained(entries, expected)).To(BeEmpty(), "errors in the log of the manager")
}
