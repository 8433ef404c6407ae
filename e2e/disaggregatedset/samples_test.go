package disaggregatedset

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The samples", func() {
	It("apply, without a warning, and are what the API server keeps", func() {
		s := begin()
		number, err := shared.CheckSamples(s.ctx, s.namespace, "disaggregatedset")
		Expect(err).NotTo(HaveOccurred())
		Expect(number).To(BeNumerically(">=", 4))
	})
})
