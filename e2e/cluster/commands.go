package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/kubernetes"

	"sigs.k8s.io/lws/e2e/cluster/binaries"
	"sigs.k8s.io/lws/e2e/cluster/controlplane"
	"sigs.k8s.io/lws/e2e/cluster/sim"
)

// command is one invocation: its flags and where its output goes.
type command struct {
	flags    *flag.FlagSet
	args     []string
	out      io.Writer
	progress io.Writer

	dir  *string
	name *string
	kube *string
}

func newCommand(name string, args []string, out, progress io.Writer) *command {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(progress)
	return &command{flags: flags, args: args, out: out, progress: progress}
}

// ofCluster adds the flags that name a cluster.
func (c *command) ofCluster() {
	c.dir = c.flags.String("dir", defaultDir(), "directory of the clusters' state")
	c.name = c.flags.String("name", "default", "name of the cluster")
}

func (c *command) ofVersion() {
	c.kube = c.flags.String("kube", binaries.Newest, "Kubernetes version: "+strings.Join(binaries.Minors(), ", "))
}

// parse reads flags and exactly the named arguments, in any order.
func (c *command) parse(names ...string) ([]string, error) {
	var found []string
	rest := c.args
	for {
		if err := c.flags.Parse(rest); err != nil {
			return nil, err
		}
		if c.flags.NArg() == 0 {
			break
		}
		found = append(found, c.flags.Arg(0))
		rest = c.flags.Args()[1:]
	}
	if len(found) != len(names) {
		return nil, fmt.Errorf("needs %d arguments %v, has %d", len(names), names, len(found))
	}
	return found, nil
}

// defaultDir is below the checkout that the working directory is in, so that
// two checkouts never share a cluster.
func defaultDir() string {
	const module = "e2e/cluster"
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, module, "go.mod")); missing == nil {
			return filepath.Join(dir, module, ".clusters")
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	return ".clusters"
}

func build(ctx context.Context, c *command) error {
	c.ofVersion()
	return c.provide(ctx, binaries.All())
}

func assets(ctx context.Context, c *command) error {
	c.ofVersion()
	return c.provide(ctx, binaries.ForAPIServerTests())
}

// provide prints the directory that holds the programs.
func (c *command) provide(ctx context.Context, programs []string) error {
	if _, err := c.parse(); err != nil {
		return err
	}
	store, err := binaries.NewStore(c.progress)
	if err != nil {
		return err
	}
	dir, err := store.Ensure(ctx, *c.kube, programs...)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(c.out, dir)
	return nil
}

func up(ctx context.Context, c *command) error {
	c.ofCluster()
	c.ofVersion()
	o := controlplane.Defaults("")
	c.flags.IntVar(&o.Nodes, "nodes", o.Nodes, "number of nodes")
	c.flags.StringVar(&o.FeatureGates, "feature-gates", "", "feature gates of API server, controller manager and scheduler, A=true,B=false")
	c.flags.StringVar(&o.RuntimeConfig, "runtime-config", "", "APIs to switch on or off, scheduling.k8s.io/v1beta1=true")
	gang := c.flags.Bool("workload-aware-scheduling", false, "switch on the feature gates and APIs of workload-aware scheduling (from 1.37)")
	c.flags.StringVar(&o.AuditPolicy, "audit-policy", "", "audit policy file, or \""+controlplane.AuditMetadata+"\" for every request without bodies")
	c.flags.DurationVar(&o.NodeGrace, "node-grace", 0, "silence after which a node is NotReady (default 10s, with --load 200s)")
	c.flags.BoolVar(&o.Load, "load", false, "no brakes, for benchmarks")
	c.flags.IntVar(&o.Port, "port", 0, "port of the API server (default a free one)")
	if _, err := c.parse(); err != nil {
		return err
	}
	o.Dir, o.Name, o.Kubernetes, o.Log = *c.dir, *c.name, *c.kube, c.progress
	if *gang {
		o = o.WithWorkloadAwareScheduling()
	}
	cluster, err := controlplane.Up(ctx, o)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(c.progress, "to use it:")
	c.printEnv(cluster)
	return nil
}

func down(_ context.Context, c *command) error {
	c.ofCluster()
	if _, err := c.parse(); err != nil {
		return err
	}
	if err := controlplane.Down(*c.dir, *c.name); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(c.progress, "cluster %s is down\n", *c.name)
	return nil
}

// open parses the command and finds its cluster.
func (c *command) open(arguments ...string) (*controlplane.Cluster, []string, error) {
	c.ofCluster()
	found, err := c.parse(arguments...)
	if err != nil {
		return nil, nil, err
	}
	cluster, err := controlplane.Open(*c.dir, *c.name)
	return cluster, found, err
}

func status(_ context.Context, c *command) error {
	cluster, _, err := c.open()
	if err != nil {
		return err
	}
	o := cluster.Options()
	_, _ = fmt.Fprintf(c.out, "cluster %s: Kubernetes %s, state in %s\n", o.Name, o.Kubernetes, cluster.Dir())
	processes := cluster.Processes()
	for _, name := range binaries.All() {
		if pid, ok := processes[name]; ok {
			_, _ = fmt.Fprintf(c.out, "%-24s process %d, log %s\n", name, pid, cluster.LogFile(name))
		}
	}
	return nil
}

func env(_ context.Context, c *command) error {
	cluster, _, err := c.open()
	if err != nil {
		return err
	}
	c.printEnv(cluster)
	return nil
}

func (c *command) printEnv(cluster *controlplane.Cluster) {
	_, _ = fmt.Fprintf(c.out, "export PATH=%s:$PATH KUBECONFIG=%s\n", quote(cluster.BinDir()), quote(cluster.Kubeconfig()))
}

// quote makes a path one word of a shell.
func quote(path string) string {
	if strings.IndexFunc(path, func(r rune) bool { return strings.ContainsRune(" '\"$\\`&;()*?[]<>|!#~", r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

func kubeconfig(ctx context.Context, c *command) error {
	account := c.flags.String("service-account", "", "NAMESPACE/NAME: write a kubeconfig with a token of this ServiceAccount")
	file := c.flags.String("output", "", "file to write, with --service-account")
	cluster, _, err := c.open()
	if err != nil {
		return err
	}
	if *account == "" {
		_, _ = fmt.Fprintln(c.out, cluster.Kubeconfig())
		return nil
	}
	namespace, name, ok := strings.Cut(*account, "/")
	if !ok || *file == "" {
		return errors.New("--service-account needs NAMESPACE/NAME and --output")
	}
	return cluster.ServiceAccountKubeconfig(ctx, namespace, name, *file)
}

func kill(ctx context.Context, c *command) error { return c.onNode(ctx, sim.Kill) }

func revive(ctx context.Context, c *command) error { return c.onNode(ctx, sim.Revive) }

func (c *command) onNode(ctx context.Context, act func(context.Context, kubernetes.Interface, string) error) error {
	cluster, found, err := c.open("NODE")
	if err != nil {
		return err
	}
	client, err := cluster.Client()
	if err != nil {
		return err
	}
	return act(ctx, client, found[0])
}

func pin(ctx context.Context, c *command) error {
	target := c.flags.String("to", "binaries/pins", "directory of the pins")
	found, err := c.parse("VERSION")
	if err != nil {
		return err
	}
	return binaries.WritePin(ctx, *target, found[0])
}
