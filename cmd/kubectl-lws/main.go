package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"
)

// version is set by the linker.
var version = ""

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	o := newOptions(streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}, clock.RealClock{})
	err := run(ctx, o, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// streams are those of the program.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is the program. It ends when ctx does.
func run(ctx context.Context, o *options, args []string) error {
	root := &cobra.Command{
		Use:   "kubectl-lws",
		Short: "How far the groups of a LeaderWorkerSet are, what they wait for, and what a change would do",
		Long: "How far the groups of a LeaderWorkerSet are, what they wait for, and what a change would do.\n\n" +
			"All but drain only read, with your own rights: the role view is enough for them.",
		Version:       buildVersion(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl lws"},
	}
	root.SetArgs(args)
	root.SetIn(o.in)
	root.SetOut(o.out)
	root.SetErr(o.err)
	o.bind(root.PersistentFlags())
	root.AddCommand(newStatus(o), newWhy(o), newPreview(o), newHistory(o), newDrain(o))
	return root.ExecuteContext(ctx)
}

// buildVersion is what the linker was told, or what the build itself knows.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}
