package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	// A set of its own: libraries have flags of the same names.
	flags := flag.NewFlagSet("certmanager", flag.ExitOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "certmanager [flags] issue|inject")
		flags.PrintDefaults()
	}
	kubeconfig := flags.String("kubeconfig", "", "file that says how to reach the API server")
	namespace := flags.String("namespace", "", "namespace of the certificates; all if empty")
	_ = flags.Parse(os.Args[1:]) // it exits instead
	ctrl.SetLogger(klog.Background())
	if err := run(flags.Arg(0), *kubeconfig, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run issues or injects until the process is asked to end.
func run(what, kubeconfig, namespace string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch what {
	case "issue":
		issue, err := newIssuers(ctx, kubeconfig, namespace)
		if err != nil {
			return fmt.Errorf("set up issuing: %w", err)
		}
		return issue(ctx)
	case "inject":
		inject, err := newInjector(ctx, kubeconfig, namespace)
		if err != nil {
			return fmt.Errorf("set up injecting: %w", err)
		}
		return inject.Start(ctx)
	}
	return fmt.Errorf("neither issue nor inject: %q", what)
}
