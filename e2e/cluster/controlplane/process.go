package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a recorded component.
type process struct {
	Name string
	PID  int
}

// running is a component that this program started itself.
type running struct {
	process
	exited <-chan struct{}
	log    string
}

// recordAndRun makes a process write its ID down before it becomes the program
// it is for: whenever this program is killed, the record is complete.
const recordAndRun = `echo $$ >"$0" && exec "$@"`

// launch starts a command detached from this program's terminal, so that an
// interrupt reaches only this program, which then stops what it started.
func launch(ctx context.Context, command []string, record, log string) (*running, error) {
	name := filepath.Base(record)
	out, err := os.OpenFile(log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", append([]string{"-c", recordAndRun, record}, command...)...)
	cmd.Dir = filepath.Dir(log)
	cmd.Stdout, cmd.Stderr = out, out
	// kwok would also read a configuration in the user's home directory.
	cmd.Env = append(os.Environ(), "KWOK_WORKDIR="+cmd.Dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s does not start: %w", name, err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	return &running{process: process{Name: name, PID: cmd.Process.Pid}, exited: exited, log: log}, nil
}

// alive reports whether the process still is the one that was recorded: its
// command line names the state directory.
func (p process) alive(stateDir string) bool {
	return strings.Contains(commandLine(p.PID), stateDir+string(filepath.Separator))
}

// commandLine is empty for a process that is gone or a zombie.
func commandLine(pid int) string {
	if data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline"); err == nil {
		return string(data)
	}
	if _, err := os.Stat("/proc/self"); err == nil {
		return ""
	}
	ps := exec.Cmd{Path: "/bin/ps", Args: []string{"ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)}}
	out, err := ps.Output()
	if err != nil {
		return ""
	}
	return string(out)
}

const (
	stopPatience = 3 * time.Second
	killPatience = 10 * time.Second
)

// stop ends recorded processes, first politely and all together, and returns
// when none is left. The data is thrown away, so nobody is waited for long.
func stop(stateDir string, processes []process) error {
	left := signal(stateDir, processes, syscall.SIGTERM)
	if left = await(stateDir, left, stopPatience); len(left) == 0 {
		return nil
	}
	left = signal(stateDir, left, syscall.SIGKILL)
	if left = await(stateDir, left, killPatience); len(left) == 0 {
		return nil
	}
	var errs []error
	for _, p := range left {
		errs = append(errs, fmt.Errorf("%s (process %d) does not end", p.Name, p.PID))
	}
	return errors.Join(errs...)
}

func signal(stateDir string, processes []process, sig syscall.Signal) []process {
	var signalled []process
	for _, p := range processes {
		if p.alive(stateDir) && syscall.Kill(p.PID, sig) == nil {
			signalled = append(signalled, p)
		}
	}
	return signalled
}

func await(stateDir string, processes []process, patience time.Duration) []process {
	deadline := time.Now().Add(patience)
	for {
		var left []process
		for _, p := range processes {
			if p.alive(stateDir) {
				left = append(left, p)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		<-time.After(20 * time.Millisecond)
	}
}

// lastLog is the end of a log file in one line, for an error message.
func lastLog(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() > 8<<10 {
		_, _ = f.Seek(-8<<10, io.SeekEnd)
	}
	data, _ := io.ReadAll(f)
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		if bytes.Contains(bytes.ToLower(lines[i]), []byte("err")) {
			return string(lines[i])
		}
	}
	return string(lines[len(lines)-1])
}
