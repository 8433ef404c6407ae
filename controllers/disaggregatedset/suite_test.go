//go:build integration

package disaggregatedset

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

func TestDisaggregatedSet(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "DisaggregatedSet")
}

var (
	live   client.Client // reads from the API server
	cached client.Client // reads from the cache that the manager has
	stop   context.CancelFunc
)

var _ = BeforeSuite(func() {
	environment := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		// Other suites may run beside this one.
		ControlPlaneStartTimeout: 3 * time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
	}
	config, err := environment.Start()
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(environment.Stop)
	config.QPS = -1

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, lwsv1.AddToScheme, dsv1.AddToScheme} {
		Expect(add(scheme)).To(Succeed())
	}
	live, err = client.New(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())

	var ctx context.Context
	ctx, stop = context.WithCancel(context.Background())
	DeferCleanup(stop)
	options := CacheOptions()
	options.Scheme = scheme
	store, err := cache.New(config, options)
	Expect(err).NotTo(HaveOccurred())
	Expect(RegisterIndexes(ctx, store)).To(Succeed())
	Expect(RegisterLeaderWorkerSetIndexes(ctx, store)).To(Succeed())
	go func() {
		defer GinkgoRecover()
		Expect(store.Start(ctx)).To(Succeed())
	}()
	Expect(store.WaitForCacheSync(ctx)).To(BeTrue())
	cached, err = client.New(config, client.Options{Scheme: scheme, Cache: &client.CacheOptions{Reader: store}})
	Expect(err).NotTo(HaveOccurred())
})
