package disaggregatedset

import (
	"context"
	"encoding/json"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

func TestDisaggregatedSet(t *testing.T) {
	RegisterFailHandler(Fail)
	log.SetLogger(GinkgoLogr)
	RunSpecs(t, "DisaggregatedSet")
}

// shared is the environment of all specs. Its managers are at hand in the first
// process only: specs that stop one are Serial.
var shared *harness.Environment

// address is what a process needs to join the environment.
type address struct{ Dir, Name string }

var _ = SynchronizedBeforeSuite(func(ctx SpecContext) []byte {
	var err error
	shared, err = harness.Start(ctx, harness.Options{
		Suite: "disaggregatedset", Shipped: managers.DisaggregatedSet(), Beside: []managers.Shipped{managers.LWS()}, Log: GinkgoWriter,
	})
	Expect(err).NotTo(HaveOccurred())
	options := shared.Cluster.Options()
	text, err := json.Marshal(address{Dir: options.Dir, Name: options.Name})
	Expect(err).NotTo(HaveOccurred())
	return text
}, func(text []byte) {
	if shared != nil {
		return
	}
	var at address
	Expect(json.Unmarshal(text, &at)).To(Succeed())
	var err error
	shared, err = harness.Join(at.Dir, at.Name)
	Expect(err).NotTo(HaveOccurred())
})

var _ = SynchronizedAfterSuite(func() {}, func() {
	if shared == nil {
		return
	}
	DeferCleanup(func() { Expect(shared.Stop()).To(Succeed()) })
	judgeLog()
	judgePermissions(context.Background())
})
