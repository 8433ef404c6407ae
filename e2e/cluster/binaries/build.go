package binaries

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// neededDisk is what building every program takes, mostly in Go's own caches.
const neededDisk = 6 << 30

// goBuild builds a program in its pin's module.
func goBuild(ctx context.Context, moduleDir string, p program, output string) error {
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("no Go on the PATH, and %s must be built: install Go from https://go.dev/dl or name a directory with the programs in %s", p.name, DirVariable)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false",
		"-ldflags", p.ldflags(), "-o", output, p.pkg)
	cmd.Dir = moduleDir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOOS=", "GOARCH=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	// The compiler runs in many processes: the whole group must go on an interrupt.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("building %s: %w: %s", p.name, err, lastLines(stderr.String(), 5))
	}
	return nil
}

func lastLines(text string, n int) string {
	lines := slices.Collect(strings.Lines(strings.TrimSpace(text)))
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

// write lays the pin out as a module that go build accepts.
func (p pin) write(dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "go.mod"), p.mod, 0o600),
		os.WriteFile(filepath.Join(dir, "go.sum"), p.sum, 0o600),
	)
}

// checkDisk refuses to begin a build that would fill the disk.
func checkDisk(dir string) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("free space of %s: %w", dir, err)
	}
	return enoughDisk(dir, fs.Bavail*uint64(fs.Bsize))
}

func enoughDisk(dir string, free uint64) error {
	if free >= neededDisk {
		return nil
	}
	return fmt.Errorf("building the control plane needs %d GB of disk, %s has %.1f GB free", neededDisk>>30, dir, float64(free)/(1<<30))
}
