package leaderworkerset

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// expected are the errors that the specs bring about, and why they are no fault.
var expected = map[string]string{
	"because it is being terminated":                                            "specs end their namespaces with sets in them",
	"error received after stop sequence was engaged leader election lost":       "controller-runtime's, as a leader is stopped",
	"http: TLS handshake error":                                                 "clients of a manager that is stopped or killed give up",
	"Unable to write event (may retry after sleeping) Post …: context canceled": "client-go's, as a manager is stopped",
}

// names are what differs from one line of a log to the next.
var names = regexp.MustCompile(`e2e-[a-z0-9]+/\S+|\b[0-9a-f]{8,}\b|"[^"]*"|'[^']*'`)

// judgeLog looks for what the manager's log should not have.
func judgeLog() {
	GinkgoHelper()
	entries, err := shared.Manager.LogErrors()
	Expect(err).NotTo(HaveOccurred())
	unexplained := map[string]int{}
	for _, entry := range entries {
		text := names.ReplaceAllString(entry.String(), "…")
		isExpected := slices.ContainsFunc(slices.Collect(maps.Keys(expected)), func(part string) bool { return strings.Contains(text, part) })
		if !isExpected {
			unexplained[text]++
		}
	}
	Expect(unexplained).To(BeEmpty(), "errors in the log of the manager")
}
