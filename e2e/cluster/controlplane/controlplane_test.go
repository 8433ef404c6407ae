package controlplane_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"sigs.k8s.io/lws/e2e/cluster/controlplane"
)

// processesOf lists the command lines that name a directory, by process ID.
func processesOf(t *testing.T, dir string) map[int]string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("needs /proc")
	}
	found := map[int]string{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if bytes.Contains(line, []byte(dir)) {
			found[pid] = strings.ReplaceAll(string(line), "\x00", " ")
		}
	}
	return found
}

func requireNothingLeft(t *testing.T, dir string) {
	t.Helper()
	if left := processesOf(t, dir); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".lock") {
			t.Errorf("%s is left", entry.Name())
		}
	}
}

// log collects progress lines.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func options(t *testing.T) (controlplane.Options, *log) {
	t.Helper()
	o, progress := controlplane.Defaults(t.TempDir()), &log{}
	o.Nodes, o.Log = 1, progress
	t.Cleanup(func() { _ = controlplane.Down(o.Dir, o.Name) })
	return o, progress
}

func up(t *testing.T, o controlplane.Options) *controlplane.Cluster {
	t.Helper()
	cluster, err := controlplane.Up(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

func TestLifeOfACluster(t *testing.T) {
	o, progress := options(t)
	o.AuditPolicy = controlplane.AuditMetadata
	cluster := up(t, o)

	t.Run("everything listens on the loopback address only", func(t *testing.T) {
		for pid, line := range processesOf(t, o.Dir) {
			for _, address := range listening(t, pid) {
				if !strings.HasPrefix(address, "0100007F:") {
					t.Errorf("%s listens on %s", line, address)
				}
			}
		}
	})
	t.Run("a service account has what its role grants", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "kubeconfig")
		if err := cluster.ServiceAccountKubeconfig(t.Context(), "default", "default", file); err != nil {
			t.Fatal(err)
		}
		config, err := clientcmd.BuildConfigFromFlags("", file)
		if err != nil {
			t.Fatal(err)
		}
		account := kubernetes.NewForConfigOrDie(config)
		if _, err := account.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}); err == nil || !strings.Contains(err.Error(), "system:serviceaccount:default:default") {
			t.Errorf("listing pods without a role: %v", err)
		}
	})
	t.Run("requests are in the audit log under their user", func(t *testing.T) {
		data, err := os.ReadFile(cluster.AuditLog())
		if err != nil {
			t.Fatal(err)
		}
		users := map[string]int{}
		for line := range bytes.Lines(data) {
			var event struct{ User struct{ Username string } }
			if err := json.Unmarshal(line, &event); err != nil {
				t.Fatal(err)
			}
			users[event.User.Username]++
		}
		for _, user := range []string{"sim-kubelet", "system:serviceaccount:kube-system:node-controller", "system:serviceaccount:default:default"} {
			if users[user] == 0 {
				t.Errorf("no request of %s; users: %v", user, users)
			}
		}
	})
	t.Run("up again is the same cluster", func(t *testing.T) {
		again := up(t, o)
		if fmt.Sprint(again.Processes()) != fmt.Sprint(cluster.Processes()) || !strings.Contains(progress.String(), "is up already") {
			t.Errorf("processes %v, then %v; progress: %s", cluster.Processes(), again.Processes(), progress)
		}
	})
	t.Run("up with other options is refused", func(t *testing.T) {
		other := o
		other.FeatureGates = "GenericWorkload=true"
		if _, err := controlplane.Up(t.Context(), other); err == nil || !strings.Contains(err.Error(), "up with other options") {
			t.Errorf("error: %v", err)
		}
	})
	t.Run("a second cluster runs beside it", func(t *testing.T) {
		second, _ := options(t)
		second.FeatureGates = "GenericWorkload=true"
		second.RuntimeConfig = "scheduling.k8s.io/v1beta1=true"
		beside := up(t, second)
		client, err := beside.Client()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Discovery().ServerResourcesForGroupVersion("scheduling.k8s.io/v1beta1"); err != nil {
			t.Errorf("API that was switched on: %v", err)
		}
		if _, err := controlplane.Open(o.Dir, o.Name); err != nil {
			t.Errorf("the first cluster: %v", err)
		}
		if err := beside.Down(); err != nil {
			t.Fatal(err)
		}
		requireNothingLeft(t, second.Dir)
	})
	t.Run("a dead cluster is said to be dead and replaced", func(t *testing.T) {
		pid := cluster.Processes()["kube-apiserver"]
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		var err error
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
			if _, err = controlplane.Open(o.Dir, o.Name); err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), "kube-apiserver no longer runs") {
			t.Fatalf("opening it: %v", err)
		}
		cluster = up(t, o)
		if !strings.Contains(progress.String(), "died earlier (kube-apiserver no longer runs)") {
			t.Errorf("progress: %s", progress)
		}
	})
	t.Run("down leaves nothing", func(t *testing.T) {
		if err := cluster.Down(); err != nil {
			t.Fatal(err)
		}
		requireNothingLeft(t, o.Dir)
		if _, err := controlplane.Open(o.Dir, o.Name); err == nil || !strings.Contains(err.Error(), "is not up") {
			t.Errorf("opening it: %v", err)
		}
	})
}

// listening are the hexadecimal TCP addresses on which a process listens.
func listening(t *testing.T, pid int) []string {
	t.Helper()
	inodes := map[string]bool{}
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && strings.HasPrefix(target, "socket:[") {
			inodes[strings.Trim(target, "socket:[]")] = true
		}
	}
	var addresses []string
	for _, table := range []string{"tcp", "tcp6"} {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			const listen = "0A"
			if fields := strings.Fields(line); len(fields) > 9 && fields[3] == listen && inodes[fields[9]] {
				addresses = append(addresses, fields[1])
			}
		}
	}
	return addresses
}

func TestInterruptedStartLeavesNothing(t *testing.T) {
	for _, started := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("after %d processes", started), func(t *testing.T) {
			o, _ := options(t)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			go func() {
				for ; ctx.Err() == nil; <-time.After(10 * time.Millisecond) {
					if len(processesOf(t, o.Dir)) >= started {
						interrupt()
					}
				}
			}()
			if _, err := controlplane.Up(ctx, o); !errors.Is(err, context.Canceled) {
				t.Errorf("error: %v", err)
			}
			requireNothingLeft(t, o.Dir)
		})
	}
}

func TestRefusals(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	busy := listener.Addr().(*net.TCPAddr).Port
	tests := map[string]struct {
		change func(*controlplane.Options)
		want   string
	}{
		"busy port":            {func(o *controlplane.Options) { o.Port = busy }, fmt.Sprintf("port %d of 127.0.0.1 is in use", busy)},
		"unknown version":      {func(o *controlplane.Options) { o.Kubernetes = "1.20" }, "no pin of Kubernetes 1.20"},
		"bad name":             {func(o *controlplane.Options) { o.Name = "../x" }, `cluster name "../x"`},
		"missing audit policy": {func(o *controlplane.Options) { o.AuditPolicy = "/no/such/file" }, "audit policy"},
		"unknown feature gate": {func(o *controlplane.Options) { o.FeatureGates = "NoSuchGate=true" }, "unrecognized feature gate: NoSuchGate"},
		"short node grace":     {func(o *controlplane.Options) { o.NodeGrace = time.Second }, "must be 4s or more"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o, _ := options(t)
			tc.change(&o)
			_, err := controlplane.Up(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want %q in it", err, tc.want)
			}
			if strings.Count(err.Error(), "\n") > 0 {
				t.Errorf("more than one line: %v", err)
			}
			if left := processesOf(t, o.Dir); len(left) > 0 {
				t.Errorf("still running: %v", left)
			}
		})
	}
}

func TestAForeignProcessUnderARecordedIDIsLeftAlone(t *testing.T) {
	o, _ := options(t)
	processes := filepath.Join(o.Dir, o.Name, "processes")
	if err := os.MkdirAll(processes, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(processes, "etcd"), []byte(strconv.Itoa(os.Getpid())), 0o600),
		os.WriteFile(filepath.Join(o.Dir, o.Name, "state.json"), []byte(`{"Ready":true}`), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	if err := controlplane.Down(o.Dir, o.Name); err != nil {
		t.Fatal(err)
	}
	requireNothingLeft(t, o.Dir)
}
