package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/e2e/cluster/controlplane"
	"sigs.k8s.io/lws/e2e/cluster/sim"
	"sigs.k8s.io/lws/e2e/harness"
	"sigs.k8s.io/lws/e2e/managers"
)

type options struct {
	shape shape
	json  string
	nodes int
	// bystanders is how many StatefulSets, and pods, that are not ours are added.
	bystanders int
	// pprof is where the manager serves its profiles.
	pprof string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	err := run(ctx, parse())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

func parse() options {
	o := options{}
	flag.IntVar(&o.shape.Groups, "groups", 100, "number of groups")
	flag.IntVar(&o.shape.Size, "size", 8, "pods of a group")
	flag.IntVar(&o.nodes, "nodes", 10, "nodes of the cluster")
	flag.StringVar(&o.json, "json", "benchmark.json", "file to keep the result in")
	flag.IntVar(&o.bystanders, "bystanders", 5000, "number of StatefulSets and of pods that are none of the manager's business")
	flag.StringVar(&o.pprof, "pprof", "", "address at which the manager serves profiles meanwhile, such as localhost:6060 (default a free one)")
	flag.Parse()
	return o
}

// run starts a cluster and a manager, measures, prints, and leaves nothing behind.
func run(ctx context.Context, o options) (err error) {
	if o.shape.Groups < 1 || o.shape.Size < 2 {
		return fmt.Errorf("%s: at least 1 group of at least 2 pods is needed", o.shape)
	}
	if o.pprof == "" {
		port, err := controlplane.FreePort(ctx)
		if err != nil {
			return err
		}
		o.pprof = fmt.Sprintf("127.0.0.1:%d", port)
	}
	dir, err := os.MkdirTemp("", "lws-benchmark-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cluster, err := startCluster(ctx, o, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Down()) }()
	manager, err := startManager(ctx, cluster, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, manager.Stop()) }()

	stage, err := setUp(ctx, cluster, o.shape)
	if err != nil {
		return err
	}
	stage.bystanders = o.bystanders
	shipped := managers.LWS()
	meter := meter{
		stage:   stage,
		manager: process{manager.PID},
		heap:    profiles{o.pprof},
		audit:   &auditLog{lines: harness.Lines{Path: cluster.AuditLog()}, user: "system:serviceaccount:" + shipped.Namespace + ":" + shipped.ServiceAccount},
		log:     os.Stderr,
	}
	report, err := meter.run(ctx, o.shape)
	if err != nil {
		return err
	}
	return errors.Join(report.table(os.Stdout), report.save(o.json))
}

func startCluster(ctx context.Context, o options, dir string) (*controlplane.Cluster, error) {
	options := controlplane.Defaults(dir)
	options.Name = "benchmark"
	options.Nodes = o.nodes
	options.AuditPolicy = controlplane.AuditMetadata
	options.Load = true
	options.Log = os.Stderr
	return controlplane.Up(ctx, options)
}

func startManager(ctx context.Context, cluster *controlplane.Cluster, o options) (*managers.Process, error) {
	installed, err := managers.Install(ctx, cluster, managers.LWS())
	if err != nil {
		return nil, err
	}
	manager, err := installed.Start(ctx, managers.Options{Configure: func(c *configv1.Configuration) { c.PprofBindAddress = o.pprof }})
	if err != nil {
		return nil, err
	}
	if err := manager.AwaitReady(ctx); err != nil {
		return nil, errors.Join(err, manager.Stop())
	}
	return manager, nil
}

// setUp makes the namespace and watches it.
func setUp(ctx context.Context, cluster *controlplane.Cluster, s shape) (*stage, error) {
	config, err := cluster.RESTConfig()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 1000, 1000
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), lwsv1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	objects, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	if err := objects.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return nil, err
	}
	world, err := watchWorld(ctx, config, scheme)
	if err != nil {
		return nil, err
	}
	clientset, err := cluster.Client()
	if err != nil {
		return nil, err
	}
	restart := func(ctx context.Context, pod *corev1.Pod) error {
		return sim.Restart(ctx, clientset, pod.Namespace, pod.Name, containerName)
	}
	return &stage{shape: s, client: objects, world: world, restart: restart}, nil
}
