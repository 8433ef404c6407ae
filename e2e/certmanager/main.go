package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	// A set of its own: libraries have flags of the same names.
	flags := flag.NewFlagSet("certmanager", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "file that says how to reach the API server")
	namespace := flags.String("namespace", "", "namespace of the certificates; all if empty")
	_ = flags.Parse(os.Args[1:]) // it exits instead
	ctrl.SetLogger(klog.Background())
	if err := run(*kubeconfig, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run issues and injects until the process is asked to end.
func run(kubeconfig, namespace string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	issue, err := newIssuers(ctx, kubeconfig, namespace)
	if err != nil {
		return fmt.Errorf("set up issuing: %w", err)
	}
	inject, err := newInjector(ctx, kubeconfig, namespace)
	if err != nil {
		return fmt.Errorf("set up injecting: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return issue(ctx) })
	group.Go(func() error { return inject.Start(ctx) })
	return group.Wait()
}
