package disaggregatedset

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/lws/e2e/managers"
)

var _ = Describe("The samples", func() {
	It("apply, without a warning, and are what the API server keeps", func() {
		s := begin()
		checkout, err := managers.Checkout()
		Expect(err).NotTo(HaveOccurred())
		files, err := filepath.Glob(filepath.Join(checkout, "config/samples/disaggregatedset_*.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(len(files)).To(BeNumerically(">=", 4))
		for _, file := range files {
			text, err := os.ReadFile(file)
			Expect(err).NotTo(HaveOccurred())
			_, err = managers.Kubectl(s.ctx, shared.Cluster, text, "apply", "--server-side", "--dry-run=server", "--warnings-as-errors", "-n", s.namespace, "-f", "-")
			Expect(err).NotTo(HaveOccurred(), filepath.Base(file))
		}
	})
})
