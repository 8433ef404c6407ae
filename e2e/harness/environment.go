package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/cluster/controlplane"
	"sigs.k8s.io/lws/e2e/managers"
)

// clustersDir is where clusters live in a checkout, namePrefix begins their names
// and the process that started one ends it.
const (
	clustersDir = ".cluster"
	namePrefix  = "e2e-"
)

// Options are what an environment differs in.
type Options struct {
	// Suite is a word in the name of the cluster.
	Suite string
	// Shipped is the manager, Beside are others that it runs with.
	Shipped managers.Shipped
	Beside  []managers.Shipped
	// Cluster changes what the cluster is started with.
	Cluster func(*controlplane.Options)
	// Run is what the manager is started with.
	Run managers.Options
	// Bare leaves the installation of the manager to the caller.
	Bare bool
	// Log receives progress.
	Log io.Writer
}

// Environment is a cluster of its own with its managers.
type Environment struct {
	Cluster *controlplane.Cluster
	// Config, Client and Kube are the administrator's.
	Config *rest.Config
	Client client.WithWatch
	Kube   kubernetes.Interface
	// Manager and those Beside it, by name, are nil where the environment was joined
	// or is bare.
	Manager *Manager
	Beside  map[string]*Manager
}

// Start starts an environment, or leaves nothing running. What an earlier process
// left behind that was killed goes first.
func Start(ctx context.Context, options Options) (*Environment, error) {
	checkout, err := managers.Checkout()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(checkout, clustersDir)
	if err := sweep(dir); err != nil {
		return nil, err
	}
	o := controlplane.Defaults(dir)
	o.Name = fmt.Sprintf("%s%s-%d", namePrefix, options.Suite, os.Getpid())
	o.Kubernetes, o.Log = os.Getenv("KUBE"), options.Log
	if o.AuditPolicy, err = writeAuditPolicy(dir, append(options.Beside, options.Shipped)); err != nil {
		return nil, err
	}
	if options.Cluster != nil {
		options.Cluster(&o)
	}
	cluster, err := controlplane.Up(ctx, o)
	if err != nil {
		return nil, err
	}
	e, err := connect(cluster)
	if err == nil && !options.Bare {
		err = e.install(ctx, options)
	}
	if err != nil {
		return nil, errors.Join(err, managers.StopAll(cluster.Dir()), cluster.Down())
	}
	return e, nil
}

// install starts the managers; the one that is looked at is the last.
func (e *Environment) install(ctx context.Context, options Options) (err error) {
	e.Beside = map[string]*Manager{}
	for _, shipped := range options.Beside {
		if e.Beside[shipped.Name], err = install(ctx, e.Cluster, shipped, managers.Options{}); err != nil {
			return err
		}
	}
	e.Manager, err = install(ctx, e.Cluster, options.Shipped, options.Run)
	return err
}

// Address is what another process needs to join the environment.
func (e *Environment) Address() []byte {
	return []byte(e.Cluster.Dir())
}

// Join finds an environment that another process started.
func Join(address []byte) (*Environment, error) {
	dir, name := filepath.Split(string(address))
	cluster, err := controlplane.Open(dir, name)
	if err != nil {
		return nil, err
	}
	return connect(cluster)
}

// Stop ends the manager and the cluster.
func (e *Environment) Stop() error {
	return errors.Join(managers.StopAll(e.Cluster.Dir()), e.Cluster.Down())
}

func connect(cluster *controlplane.Cluster) (*Environment, error) {
	config, err := cluster.RESTConfig()
	if err != nil {
		return nil, err
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	kube, err := cluster.Client()
	if err != nil {
		return nil, err
	}
	return &Environment{Cluster: cluster, Config: config, Client: c, Kube: kube}, nil
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, lwsv1.AddToScheme, dsv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// sweep removes clusters whose process is gone.
func sweep(dir string) error {
	found, err := filepath.Glob(filepath.Join(dir, namePrefix+"*"))
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range found {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() || isAlive(path) {
			continue
		}
		errs = append(errs, managers.StopAll(path), controlplane.Down(dir, filepath.Base(path)))
	}
	return errors.Join(errs...)
}

// isAlive tells whether the process that a cluster's name ends with exists.
func isAlive(cluster string) bool {
	pid, err := strconv.Atoi(cluster[strings.LastIndex(cluster, "-")+1:])
	return err == nil && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
