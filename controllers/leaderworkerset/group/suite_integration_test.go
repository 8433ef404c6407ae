//go:build integration

package group

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	"github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// The suite runs the reconciler of groups against a real API server. Reconcile is
// called directly, for the groups that the events of real watches wake and for no
// others; the tests do what the reconciler of sets, the StatefulSet controller, the pod
// webhook, scheduler and node agents, and garbage collection would.

func TestIntegration(t *testing.T) {
	RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "Reconciler of groups")
}

var (
	environment *envtest.Environment
	stopCache   context.CancelFunc
	worlds      = &roster{worlds: map[string]*world{}}

	// api reads from the cache, live from the API server.
	api  client.WithWatch
	live client.WithWatch
)

var _ = ginkgo.BeforeSuite(func(ctx ginkgo.SpecContext) {
	log.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(lwsv1.AddToScheme(scheme))

	environment = &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	config, err := environment.Start()
	Expect(err).NotTo(HaveOccurred())
	config.QPS, config.Burst = 1000, 2000
	live, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())

	informers, err := cache.New(config, cacheOptions(scheme))
	Expect(err).NotTo(HaveOccurred())
	registerIndexes(ctx, informers)
	for _, obj := range []client.Object{&corev1.Pod{}, &appsv1.StatefulSet{}, &corev1.Service{}, &lwsv1.LeaderWorkerSet{}, &appsv1.ControllerRevision{}} {
		informer, err := informers.GetInformer(ctx, obj, cache.BlockUntilSynced(false))
		Expect(err).NotTo(HaveOccurred())
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { worlds.notify(nil, asObject(obj)) },
			UpdateFunc: func(before, after any) { worlds.notify(asObject(before), asObject(after)) },
			DeleteFunc: func(obj any) { worlds.notify(asObject(obj), nil) },
		})
		Expect(err).NotTo(HaveOccurred())
	}
	var running context.Context
	running, stopCache = context.WithCancel(context.Background())
	go func() {
		defer ginkgo.GinkgoRecover()
		Expect(informers.Start(running)).To(Succeed())
	}()
	api, err = client.NewWithWatch(config, client.Options{Scheme: scheme, Cache: &client.CacheOptions{Reader: informers}})
	Expect(err).NotTo(HaveOccurred())
})

var _ = ginkgo.AfterSuite(func() {
	if stopCache != nil {
		stopCache()
	}
	if environment != nil {
		Expect(environment.Stop()).To(Succeed())
	}
})

// cacheOptions narrow the caches as the manager does.
func cacheOptions(scheme *runtime.Scheme) cache.Options {
	requirement, err := labels.NewRequirement(lwsv1.SetNameLabelKey, selection.Exists, nil)
	Expect(err).NotTo(HaveOccurred())
	ours := labels.NewSelector().Add(*requirement)
	return cache.Options{Scheme: scheme, ByObject: map[client.Object]cache.ByObject{
		&corev1.Pod{}:                {Label: ours, Transform: StripPod},
		&appsv1.StatefulSet{}:        {Label: ours},
		&corev1.Service{}:            {Label: ours},
		&appsv1.ControllerRevision{}: {Label: ours},
	}}
}

func registerIndexes(ctx context.Context, indexer client.FieldIndexer) {
	ginkgo.GinkgoHelper()
	Expect(registerIndex(ctx, indexer)).To(Succeed())
	for _, index := range []struct {
		obj  client.Object
		name string
		keys func(metav1.Object) []string
	}{
		{&corev1.Pod{}, identity.LeadersBySetIndex, identity.LeadersBySet},
		{&corev1.Pod{}, identity.EndingWorkersBySetIndex, identity.EndingWorkersBySet},
		{&appsv1.StatefulSet{}, identity.WorkerStatefulSetsBySetIndex, identity.WorkerStatefulSetsBySet},
		{&appsv1.ControllerRevision{}, identity.RevisionsBySetIndex, identity.RevisionsBySet},
	} {
		Expect(indexer.IndexField(ctx, index.obj, index.name, func(obj client.Object) []string { return index.keys(obj) })).To(Succeed())
	}
}

func asObject(obj any) client.Object {
	if gone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	return obj.(client.Object)
}
