//go:build integration

package leaderworkerset_test

import (
	"context"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset"
)

// The suite runs the reconciler of sets against a real API server. Reconcile is
// called directly; the tests do what the StatefulSet controller, the pod webhook,
// the reconciler of groups, nodes and garbage collection would.

func TestIntegration(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Reconciler of sets")
}

var (
	environment *envtest.Environment
	stopCache   context.CancelFunc

	// api reads from the manager's cache, after all writes that went through it,
	// and live from the API server.
	api  client.WithWatch
	live client.Client
)

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrl.SetLogger(GinkgoLogr)
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(lwsv1.AddToScheme(scheme))

	environment = &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	config, err := environment.Start()
	Expect(err).NotTo(HaveOccurred())
	config.QPS, config.Burst = 500, 1000

	live, err = client.New(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())

	options := leaderworkerset.CacheOptions()
	options.Scheme = scheme
	informers, err := cache.New(config, options)
	Expect(err).NotTo(HaveOccurred())
	Expect(leaderworkerset.RegisterIndexes(ctx, informers)).To(Succeed())
	var running context.Context
	running, stopCache = context.WithCancel(context.Background())
	go func() {
		defer GinkgoRecover()
		Expect(informers.Start(running)).To(Succeed())
	}()
	consistent := true
	api, err = client.NewWithWatch(config, client.Options{
		Scheme: scheme,
		Cache:  &client.CacheOptions{Reader: informers, EnableReadYourWritesConsistency: &consistent},
	})
	Expect(err).NotTo(HaveOccurred())
})

var _ = AfterSuite(func() {
	if stopCache != nil {
		stopCache()
	}
	if environment != nil {
		Expect(environment.Stop()).To(Succeed())
	}
})
