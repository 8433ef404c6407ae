package disaggregatedset

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
	"because it is being terminated":    "specs end their namespaces with sets in them",
	"context canceled":                  "specs stop the manager, which drops what it was doing",
	"leader election lost":              "the same: controller-runtime says so when a leader is stopped",
	"client rate limiter Wait returned": "the same",
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
		text := entry.String()
		isExpected := slices.ContainsFunc(slices.Collect(maps.Keys(expected)), func(part string) bool { return strings.Contains(text, part) })
		if !isExpected {
			unexplained[names.ReplaceAllString(text, "…")]++
		}
	}
	Expect(unexplained).To(BeEmpty(), "errors in the log of the manager")
}
