package managers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// pidFile names the process that runs in a directory.
const pidFile = "pid"

// StopAll ends the managers of a cluster's directory, whoever started them. It is
// no error if there are none.
func StopAll(clusterDir string) error {
	files, err := filepath.Glob(filepath.Join(clusterDir, stateDir, "*", "*", pidFile))
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range files {
		if err := stopRemains(file); err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, os.Remove(file))
	}
	return errors.Join(errs...)
}

// stopRemains ends the process of a file, if it is still the one that was recorded.
func stopRemains(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	dir := filepath.Dir(file)
	for _, step := range []struct {
		signal   syscall.Signal
		patience time.Duration
	}{{syscall.SIGTERM, stopPatience}, {syscall.SIGKILL, stopPatience}} {
		if !isManager(pid, dir) {
			return nil
		}
		if err := syscall.Kill(pid, step.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop process %d: %w", pid, err)
		}
		for deadline := time.Now().Add(step.patience); isManager(pid, dir) && time.Now().Before(deadline); {
			<-time.After(pollInterval)
		}
	}
	if isManager(pid, dir) {
		return fmt.Errorf("process %d does not end", pid)
	}
	return nil
}

// isManager tells whether a process is the manager of a directory: its command line
// names files there. A number that another process has by now does not match.
func isManager(pid int, dir string) bool {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		// Where there is no /proc, ps knows.
		line, err = exec.CommandContext(context.Background(), "ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	}
	return err == nil && strings.Contains(string(line), dir+string(filepath.Separator))
}
