// Command cluster runs the local cluster: a Kubernetes control plane with
// simulated nodes, as processes on this machine. See README.md.
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
)

const usage = `Usage: cluster COMMAND [flags]

  build       make the programs of a control plane (etcd, kube-apiserver, …) present
  assets      the same for tests against a bare API server; prints KUBEBUILDER_ASSETS
  up          start a cluster
  down        end a cluster and remove everything it left
  status      what runs
  env         print the line that puts kubectl and the kubeconfig into a shell
  kubeconfig  print the kubeconfig's path, or write one for a ServiceAccount
  kill NODE   stop a node, as if it had lost power
  revive NODE bring a killed node back
  pin VERSION pin another Kubernetes version's sources (for developers)

cluster COMMAND -h lists its flags.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes one command. Progress goes to progress, results to out.
func run(ctx context.Context, args []string, out, progress io.Writer) int {
	if len(args) == 0 {
		_, _ = fmt.Fprint(progress, usage)
		return 2
	}
	commands := map[string]func(context.Context, *command) error{
		"build":      build,
		"assets":     assets,
		"up":         up,
		"down":       down,
		"status":     status,
		"env":        env,
		"kubeconfig": kubeconfig,
		"kill":       kill,
		"revive":     revive,
		"pin":        pin,
	}
	execute, ok := commands[args[0]]
	if !ok {
		_, _ = fmt.Fprint(progress, usage)
		return 2
	}
	c := newCommand(args[0], args[1:], out, progress)
	err := execute(ctx, c)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		return 0
	case ctx.Err() != nil:
		_, _ = fmt.Fprintln(progress, "interrupted; nothing is left running")
		return 130
	}
	_, _ = fmt.Fprintf(progress, "cluster %s: %v\n", args[0], err)
	return 1
}
