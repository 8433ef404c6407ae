package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"sigs.k8s.io/lws/e2e/cluster/controlplane"
	"sigs.k8s.io/lws/e2e/managers"
)

const (
	usage          = "Usage: local up|down|env|webhooks|earlier [flags]"
	exitUsage      = 2
	exitInterrupt  = 130
	availableAfter = "120s"
)

// commands are what can be done.
var commands = []string{"up", "down", "env", "webhooks", "earlier"}

// samples are what make up starts, with the set of each file.
var samples = map[string]string{
	"leaderworkerset_basic.yaml": "leaderworkerset/basic",
	"leaderworkerset_vllm.yaml":  "leaderworkerset/vllm",
	// Its HorizontalPodAutoscaler finds no metrics here, and keeps the least replicas.
	"disaggregatedset_vllm_router.yaml": "disaggregatedset/vllm",
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes one command. Progress goes to progress, what the user needs to out.
func run(ctx context.Context, args []string, out, progress io.Writer) int {
	if len(args) == 0 || !slices.Contains(commands, args[0]) {
		fmt.Fprintln(progress, usage)
		return exitUsage
	}
	options := controlplane.Defaults("")
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(progress)
	flags.StringVar(&options.Name, "name", "local", "name of the cluster")
	flags.StringVar(&options.Kubernetes, "kube", options.Kubernetes, "Kubernetes version, as 1.37")
	flags.IntVar(&options.Nodes, "nodes", options.Nodes, "number of nodes")
	if err := flags.Parse(args[1:]); err != nil {
		return exitUsage
	}
	checkout, err := managers.Checkout()
	if err != nil {
		fmt.Fprintln(progress, "local:", err)
		return 1
	}
	options.Dir, options.Log = filepath.Join(checkout, ".cluster"), progress
	unlock, err := lock(ctx, options.Dir, options.Name, progress)
	if err != nil {
		fmt.Fprintln(progress, "local:", err)
		return 1
	}
	defer unlock()
	err = execute(ctx, args[0], options, checkout, out)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, errGoesOn):
		fmt.Fprintln(progress, "interrupted; the cluster that ran before goes on")
		return exitInterrupt
	case ctx.Err() != nil:
		fmt.Fprintln(progress, "interrupted; nothing is left running")
		return exitInterrupt
	}
	fmt.Fprintf(progress, "make %s: %v\n", args[0], err)
	return 1
}

func execute(ctx context.Context, command string, options controlplane.Options, checkout string, out io.Writer) error {
	switch command {
	case "down":
		return down(options)
	case "env":
		return environment(options, checkout, out)
	case "webhooks":
		return callHere(options, os.Stdin, out)
	case "earlier":
		return makeEarlier(ctx, options, out)
	default:
		return up(ctx, withGangs(options), checkout, out)
	}
}

// errGoesOn is part of the error of an up that found a cluster running.
var errGoesOn = errors.New("the cluster that ran before goes on; make down ends it")

// up starts everything, or leaves running what ran before and nothing else.
func up(ctx context.Context, options controlplane.Options, checkout string, out io.Writer) error {
	_, notUp := controlplane.Open(options.Dir, options.Name)
	err := start(ctx, options, checkout, out, notUp == nil)
	switch {
	case err == nil:
		return nil
	case notUp == nil:
		return fmt.Errorf("%w (%w)", err, errGoesOn)
	}
	return errors.Join(err, down(options))
}

// start brings up what is missing and the managers of this checkout. What is most
// likely to fail comes before managers that run already are replaced.
func start(ctx context.Context, options controlplane.Options, checkout string, out io.Writer, runs bool) error {
	cluster, err := controlplane.Up(ctx, options)
	if err != nil {
		return err
	}
	for _, shipped := range managers.All() {
		if !runs {
			break
		}
		if _, err := shipped.Build(ctx, checkout); err != nil {
			return err
		}
	}
	if err := managers.StopAll(cluster.Dir()); err != nil {
		return err
	}
	for _, shipped := range managers.All() {
		if err := startManager(ctx, cluster, shipped, options.Log); err != nil {
			return err
		}
	}
	if err := managers.BuildPlugin(ctx, checkout); err != nil {
		return err
	}
	if err := startSamples(ctx, cluster, checkout, options.Log); err != nil {
		return err
	}
	return show(ctx, cluster, checkout, out)
}

func startManager(ctx context.Context, cluster *controlplane.Cluster, shipped managers.Shipped, log io.Writer) error {
	installed, err := managers.Install(ctx, cluster, shipped)
	if err != nil {
		return err
	}
	process, err := installed.Start(ctx, managerOptions(shipped, cluster.Options().Kubernetes))
	if err != nil {
		return err
	}
	if err := process.AwaitReady(ctx); err != nil {
		return err
	}
	fmt.Fprintf(log, "%s is ready: process %d, log %s\n", shipped.Name, process.PID, process.LogFile())
	return nil
}

// startSamples applies the samples and waits until they are Available. What else is
// in the cluster is the user's.
func startSamples(ctx context.Context, cluster *controlplane.Cluster, checkout string, log io.Writer) error {
	wait := []string{"wait", "--for=condition=Available", "--timeout=" + availableAfter}
	for file, set := range samples {
		if _, err := managers.Kubectl(ctx, cluster, nil, "apply", "--server-side", "-f", filepath.Join(checkout, "config", "samples", file)); err != nil {
			return err
		}
		wait = append(wait, set)
	}
	fmt.Fprintln(log, "samples are applied; waiting until they are Available")
	if _, err := managers.Kubectl(ctx, cluster, nil, wait...); err != nil {
		seen, _ := managers.Kubectl(context.WithoutCancel(ctx), cluster, nil, "get", "disaggregatedsets,leaderworkersets,pods", "--output=wide")
		return fmt.Errorf("%w\n%s", err, seen)
	}
	return nil
}

// show prints what there is and how to reach it.
func show(ctx context.Context, cluster *controlplane.Cluster, checkout string, out io.Writer) error {
	sets, err := managers.Kubectl(ctx, cluster, nil, "get", "disaggregatedsets,leaderworkersets")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\nto use it:\n%s\n", sets, export(cluster, checkout))
	return nil
}

// environment prints the line for a shell that make up ends with.
func environment(options controlplane.Options, checkout string, out io.Writer) error {
	cluster, err := controlplane.Open(options.Dir, options.Name)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, export(cluster, checkout))
	return nil
}

// export is what gives a shell kubectl with its plugin, and the cluster.
func export(cluster *controlplane.Cluster, checkout string) string {
	return fmt.Sprintf("export PATH='%s':'%s':$PATH KUBECONFIG='%s'",
		cluster.BinDir(), managers.ProgramDir(checkout), cluster.Kubeconfig())
}

// down stops the managers and the cluster, and removes what they left.
func down(options controlplane.Options) error {
	return errors.Join(
		managers.StopAll(filepath.Join(options.Dir, options.Name)),
		controlplane.Down(options.Dir, options.Name),
	)
}
