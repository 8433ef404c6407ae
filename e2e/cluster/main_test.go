package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// builtCommand is this program, built once.
var builtCommand string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "cluster-")
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	builtCommand = filepath.Join(dir, "cluster")
	if out, err := exec.Command("go", "build", "-o", builtCommand, ".").CombinedOutput(); err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "%v: %s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// cli runs the program in a directory of its own.
type cli struct {
	t   *testing.T
	dir string
	env []string
}

func newCLI(t *testing.T, env ...string) cli {
	t.Helper()
	c := cli{t: t, dir: t.TempDir(), env: env}
	t.Cleanup(func() { _ = c.command("down").Run() })
	return c
}

func (c cli) command(args ...string) *exec.Cmd {
	cmd := exec.Command(builtCommand, args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), c.env...)
	return cmd
}

func (c cli) run(args ...string) (stdout, stderr string, code int) {
	c.t.Helper()
	var out, progress bytes.Buffer
	cmd := c.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &progress
	_ = cmd.Run()
	return out.String(), progress.String(), cmd.ProcessState.ExitCode()
}

// processes lists the command lines that name the directory.
func (c cli) processes() []string {
	var found []string
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range lines {
		if line, _ := os.ReadFile(file); bytes.Contains(line, []byte(c.dir)) && !strings.Contains(file, "/"+strconv.Itoa(os.Getpid())+"/") {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// interruptWhen sends SIGINT to the command as soon as a condition holds.
func (c cli) interruptWhen(condition func() bool, args ...string) (progress string, code int) {
	c.t.Helper()
	var out bytes.Buffer
	cmd := c.command(args...)
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); !condition(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			c.t.Fatalf("the moment to interrupt did not come; progress: %s", out.String())
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		c.t.Fatal(err)
	}
	_ = cmd.Wait()
	return out.String(), cmd.ProcessState.ExitCode()
}

func TestUpEnvDown(t *testing.T) {
	c := newCLI(t)
	out, progress, code := c.run("up", "--nodes", "2")
	if code != 0 || !strings.Contains(progress, "2 nodes is up after") {
		t.Fatalf("up: %d, %s", code, progress)
	}
	line, _, _ := c.run("env")
	if line != out || !strings.HasPrefix(line, "export PATH=") {
		t.Errorf("up printed %q, env prints %q", out, line)
	}
	nodes, err := exec.Command("sh", "-c", line+" kubectl get nodes --no-headers").CombinedOutput()
	if err != nil || strings.Count(string(nodes), " Ready ") != 2 {
		t.Errorf("kubectl with that line: %v, %s", err, nodes)
	}
	if out, _, _ := c.run("kubeconfig"); strings.TrimSpace(out) != filepath.Join(c.dir, ".clusters", "default", "kubeconfig") {
		t.Errorf("kubeconfig prints %q", out)
	}
	if out, _, code := c.run("status"); code != 0 || !strings.Contains(out, "kube-scheduler") {
		t.Errorf("status: %d, %s", code, out)
	}
	for _, command := range []string{"kill", "revive"} {
		if _, progress, code := c.run(command, "node-1"); code != 0 {
			t.Errorf("%s: %s", command, progress)
		}
	}
	if _, progress, code := c.run("down"); code != 0 || len(c.processes()) > 0 {
		t.Errorf("down: %d, %s; still running: %v", code, progress, c.processes())
	}
	if _, progress, code := c.run("status"); code != 1 || progress != "cluster status: cluster default is not up\n" {
		t.Errorf("status afterwards: %d, %s", code, progress)
	}
}

func TestInterruptOfUp(t *testing.T) {
	c := newCLI(t)
	progress, code := c.interruptWhen(func() bool { return len(c.processes()) >= 2 }, "up")
	if code != 130 || !strings.Contains(progress, "interrupted; nothing is left running") {
		t.Errorf("%d, %s", code, progress)
	}
	if left := c.processes(); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}

func TestKilledUpIsCleanedUpByTheNextCommand(t *testing.T) {
	for _, next := range []string{"up", "down"} {
		t.Run(next, func(t *testing.T) {
			c := newCLI(t)
			up := c.command("up", "--nodes", "1")
			if err := up.Start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Minute); len(c.processes()) < 2; <-time.After(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("no two processes after a minute")
				}
			}
			if err := up.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = up.Wait()
			if _, progress, code := c.run(next, "--name", "default"); code != 0 {
				t.Fatalf("%s: %s", next, progress)
			}
			// Up has started its own five by now and left none of the old ones.
			if want, got := map[string]int{"up": 5, "down": 0}[next], c.processes(); len(got) != want {
				t.Errorf("after %s run: %v", next, got)
			}
		})
	}
}

func TestInterruptOfABuild(t *testing.T) {
	tools := t.TempDir()
	begun := filepath.Join(tools, "begun")
	script := "#!/bin/sh\ntouch " + begun + "\nexec sleep 600\n"
	if err := os.WriteFile(filepath.Join(tools, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	c := newCLI(t, "XDG_CACHE_HOME="+filepath.Join(tools, "cache"), "HTTPS_PROXY=http://127.0.0.1:1", "PATH="+tools+":"+os.Getenv("PATH"))
	progress, code := c.interruptWhen(func() bool { _, err := os.Stat(begun); return err == nil }, "up")
	if code != 130 || !strings.Contains(progress, "building etcd") {
		t.Errorf("%d, %s", code, progress)
	}
	partial, _ := filepath.Glob(filepath.Join(tools, "cache", "lws-cluster", "*", "bin", ".*.partial"))
	if left := c.processes(); len(left)+len(partial) > 0 {
		t.Errorf("left: %v %v", left, partial)
	}
}

func TestMissingGoIsOneLine(t *testing.T) {
	c := newCLI(t, "XDG_CACHE_HOME="+t.TempDir(), "HTTPS_PROXY=http://127.0.0.1:1", "PATH=/nowhere")
	_, progress, code := c.run("up")
	last := progress[strings.LastIndex(strings.TrimSpace(progress), "\n")+1:]
	if code != 1 || !strings.HasPrefix(last, "cluster up: no Go on the PATH, and etcd must be built") {
		t.Errorf("%d, %s", code, progress)
	}
}

func TestMistakesOfTheUser(t *testing.T) {
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"nothing":         {nil, 2, "Usage: cluster COMMAND"},
		"unknown command": {[]string{"start"}, 2, "Usage: cluster COMMAND"},
		"unknown flag":    {[]string{"up", "--node", "3"}, 1, "flag provided but not defined: -node"},
		"extra argument":  {[]string{"up", "now"}, 1, "needs 0 arguments [], has 1"},
		"missing node":    {[]string{"kill"}, 1, "needs 1 arguments [NODE], has 0"},
		"no cluster":      {[]string{"env", "--dir", "/nonexistent"}, 1, "cluster default is not up"},
		"unknown version": {[]string{"build", "--kube", "1.20"}, 1, "no pin of Kubernetes 1.20; have 1.34, 1.35, 1.36, 1.37"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out, progress bytes.Buffer
			code := run(context.Background(), tc.args, &out, &progress)
			if code != tc.code || !strings.Contains(progress.String(), tc.want) {
				t.Errorf("%d, %s", code, progress.String())
			}
		})
	}
}

func TestStateIsBelowTheCheckout(t *testing.T) {
	checkout := t.TempDir()
	module := filepath.Join(checkout, "e2e", "cluster")
	if err := os.MkdirAll(module, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(module, "go.mod"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{checkout, filepath.Join(checkout, "e2e"), module} {
		t.Chdir(dir)
		if got, want := defaultDir(), filepath.Join(module, ".clusters"); got != want {
			t.Errorf("in %s: %s, want %s", dir, got, want)
		}
	}
}
