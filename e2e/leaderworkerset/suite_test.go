package leaderworkerset

import (
	"slices"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

func TestLeaderWorkerSet(t *testing.T) {
	RegisterFailHandler(Fail)
	log.SetLogger(GinkgoLogr)
	RunSpecs(t, "LeaderWorkerSet")
}

// shared is the environment of all specs that do not start one of their own. Its
// manager is at hand in the first process only: specs that stop it are Serial.
var shared *harness.Environment

var _ = SynchronizedBeforeSuite(func(ctx SpecContext) []byte {
	var err error
	shared, err = harness.Start(ctx, harness.Options{
		Suite: "leaderworkerset", Shipped: managers.LWS(), Log: GinkgoWriter,
	})
	Expect(err).NotTo(HaveOccurred())
	checkout, err := managers.Checkout()
	Expect(err).NotTo(HaveOccurred())
	Expect(managers.BuildPlugin(ctx, checkout)).To(Succeed())
	return shared.Address()
}, func(address []byte) {
	if shared != nil {
		return
	}
	var err error
	shared, err = harness.Join(address)
	Expect(err).NotTo(HaveOccurred())
})

var _ = SynchronizedAfterSuite(func() {}, func(ctx SpecContext) {
	if shared == nil {
		return
	}
	DeferCleanup(func() { Expect(shared.Stop()).To(Succeed()) })
	found, err := shared.Judge(ctx, isWhole(), exceptions)
	Expect(err).NotTo(HaveOccurred())
	Expect(found).To(BeEmpty(), "what the manager was seen to do")
})

// isWhole: nobody asked for some of the specs only.
func isWhole() bool {
	suite, _ := GinkgoConfiguration()
	return suite.LabelFilter == "" && len(slices.Concat(
		suite.FocusStrings, suite.SkipStrings, suite.FocusFiles, suite.SkipFiles)) == 0
}
