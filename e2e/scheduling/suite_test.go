package scheduling

import (
	"context"
	"slices"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/log"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/cluster/controlplane"
	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

func TestScheduling(t *testing.T) {
	RegisterFailHandler(Fail)
	log.SetLogger(GinkgoLogr)
	RunSpecs(t, "Scheduling")
}

// shared is the environment of all specs that do not start one of their own.
var shared *harness.Environment

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	shared, err = start(ctx, "scheduling", func(o *controlplane.Options) { *o = o.WithWorkloadAwareScheduling() })
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(shared.Stop()).To(Succeed()) })
})

var _ = AfterSuite(func(ctx SpecContext) {
	if shared == nil {
		return
	}
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

// start starts an environment without nodes: each spec has its own.
func start(ctx context.Context, name string, cluster func(*controlplane.Options)) (*harness.Environment, error) {
	env, err := harness.Start(ctx, harness.Options{
		Suite: name, Shipped: managers.LWS(), Log: GinkgoWriter, Run: usual,
		Cluster: func(o *controlplane.Options) {
			o.Nodes = 1
			cluster(o)
		},
	})
	if err != nil {
		return nil, err
	}
	// What a definition that was just applied serves is known everywhere a moment later.
	Eventually(func() error {
		return env.Client.List(ctx, &lwsv1.LeaderWorkerSetList{})
	}).WithTimeout(patience).Should(Succeed())
	return env, nil
}

// usual is how the manager runs unless a spec says otherwise.
var usual = running(configv1.KubernetesSchedulerProvider, true, false)

// running is the manager with a provider, none if that is empty, and feature gates.
func running(provider string, enabled, composite bool) managers.Options {
	return managers.Options{Configure: func(c *configv1.Configuration) {
		if provider != "" {
			c.GangSchedulingManagement = &configv1.GangSchedulingManagement{SchedulerProvider: &provider}
		}
		c.FeatureGates = map[string]bool{
			configv1.WorkloadAwareSchedulingGate: enabled,
			configv1.CompositePodGroupGate:       composite,
		}
	}}
}
