package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	shellLanguage  = "sh"
	outputLanguage = "output"
	blockTimeout   = 4 * time.Minute
	afterKill      = 5 * time.Second
)

// fromMake are variables that make gives to what it runs, and that would make a make
// of a walkthrough behave as a part of it.
var fromMake = []string{"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES"}

// checkWalkthroughs does what pages say, in order, in the checkout. What a block sets
// and exports, the next one of the page has.
func checkWalkthroughs(ctx context.Context, root string, paths []string, out io.Writer) error {
	checked := 0
	for _, path := range paths {
		pages, err := pagesBelow(path)
		if err != nil {
			return err
		}
		for _, page := range pages {
			n, err := walk(ctx, root, page, out)
			checked += n
			if err != nil {
				return err
			}
		}
	}
	return report(out, "commands", checked, nil)
}

// walk runs one page. It stops at the first thing that is not as shown: what comes
// after depends on it.
func walk(ctx context.Context, root, page string, out io.Writer) (int, error) {
	blocks, err := blocksOf(page)
	if err != nil {
		return 0, err
	}
	state, err := os.CreateTemp("", "walkthrough-*.sh")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.Remove(state.Name()) }()
	if err := state.Close(); err != nil {
		return 0, err
	}
	checked := 0
	for i, b := range blocks {
		if b.Language != shellLanguage {
			continue
		}
		checked++
		started := time.Now()
		printed, err := runBlock(ctx, root, state.Name(), b.Text)
		if err != nil {
			return checked, fmt.Errorf("%s: %w\n%s\n%s", b.where(), err, b.Text, printed)
		}
		if i+1 < len(blocks) && blocks[i+1].Language == outputLanguage {
			if difference := compare(blocks[i+1].Text, printed); difference != "" {
				return checked, fmt.Errorf("%s: %s\nprinted was:\n%s", blocks[i+1].where(), difference, printed)
			}
		}
		fmt.Fprintf(out, "%s: as shown, after %s\n", b.where(), time.Since(started).Round(time.Millisecond))
	}
	return checked, nil
}

// runBlock runs the commands of a block and returns what a terminal would show.
func runBlock(ctx context.Context, root, state, commands string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, blockTimeout, errors.New("the commands took too long"))
	defer cancel()
	script := fmt.Sprintf("set -eo pipefail\n. %[1]s\n%[2]s\nexport -p > %[1]s\n", state, commands)
	shell := exec.CommandContext(ctx, "bash", "-c", script)
	shell.Dir = root
	shell.Env = withoutMake(os.Environ())
	shell.WaitDelay = afterKill
	// A file and not a pipe: what make up starts keeps its output open.
	output, err := os.CreateTemp(filepath.Dir(state), "walkthrough-*.out")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(output.Name()) }()
	shell.Stdout, shell.Stderr = output, output
	err = shell.Run()
	if ctx.Err() != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	printed, readErr := os.ReadFile(output.Name())
	return string(bytes.TrimRight(printed, "\n")), errors.Join(err, readErr, output.Close())
}

func withoutMake(environment []string) []string {
	var kept []string
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		drop := false
		for _, of := range fromMake {
			drop = drop || name == of
		}
		if !drop {
			kept = append(kept, variable)
		}
	}
	return kept
}
