package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const exitUsage = 2

var errUsage = errors.New("usage: check links PUBLIC CONTENT | blocks CONTENT | walkthroughs ROOT CONTENT... | browser PUBLIC SHOTS")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitUsage)
	case err != nil:
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) < 2 {
		return errUsage
	}
	switch command, rest := args[0], args[1:]; {
	case command == "links" && len(rest) == 2:
		return checkLinks(rest[0], rest[1], out)
	case command == "blocks" && len(rest) == 1:
		return checkBlocks(ctx, rest[0], out)
	case command == "walkthroughs" && len(rest) >= 2:
		return checkWalkthroughs(ctx, rest[0], rest[1:], out)
	case command == "browser" && len(rest) == 2:
		return checkBrowser(ctx, rest[0], rest[1], out)
	}
	return errUsage
}

// report prints findings and makes an error of them.
func report(out io.Writer, what string, checked int, findings []string) error {
	for _, finding := range findings {
		fmt.Fprintln(out, finding)
	}
	if len(findings) > 0 {
		return fmt.Errorf("%s: %d of %d are wrong", what, len(findings), checked)
	}
	fmt.Fprintf(out, "%s: all %d are right\n", what, checked)
	return nil
}
