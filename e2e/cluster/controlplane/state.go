package controlplane

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Files below a state directory.
const (
	stateFile        = "state.json"
	adminConfig      = "kubeconfig"
	keysDir          = "keys"
	caFile           = "keys/ca.crt"
	servingCertFile  = "keys/serving.crt"
	servingKeyFile   = "keys/serving.key"
	accountsCertFile = "keys/service-accounts.crt"
	accountsKeyFile  = "keys/service-accounts.key"
	proxyCertFile    = "keys/proxy.crt"
	proxyKeyFile     = "keys/proxy.key"
	controllerConfig = "keys/kube-controller-manager.kubeconfig"
	schedulerConfig  = "keys/kube-scheduler.kubeconfig"
	kubeletConfig    = "keys/sim-kubelet.kubeconfig"
	kwokConfig       = "kwok.yaml"
	auditPolicyFile  = "audit-policy.yaml"
	auditLogFile     = "audit.log"
	etcdDir          = "etcd"
	logsDir          = "logs"
	processesDir     = "processes"
)

// state is what state.json records of a cluster.
type state struct {
	dir string
	// mu guards what components that start together change.
	mu sync.Mutex
	// processes are those that have written their ID into processesDir,
	// started those of them that this program has started itself.
	processes []process
	started   []*running

	Options Options
	// BinDir holds the programs the cluster was started with.
	BinDir string
	// Ready says that Up came to its end.
	Ready bool
	Ports map[string]int
}

// stateDir is the state directory of a cluster.
func (o Options) stateDir() string { return filepath.Join(o.Dir, o.Name) }

// loadState reads the record in dir; it is nil if there is none.
func loadState(dir string) (*state, error) {
	data, err := os.ReadFile(filepath.Join(dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &state{dir: dir}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("%s is not readable: %w", filepath.Join(dir, stateFile), err)
	}
	s.processes, err = recordedProcesses(filepath.Join(dir, processesDir))
	return s, err
}

func recordedProcesses(dir string) ([]process, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var processes []process
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(content))); err == nil {
			processes = append(processes, process{Name: entry.Name(), PID: pid})
		}
	}
	return processes, nil
}

// save replaces the record in one step, so that a kill at any moment leaves a
// readable one.
func (s *state) save() error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	file := s.path(stateFile)
	if err := os.WriteFile(file+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func (s *state) port(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Ports[name]
}

func (s *state) setPort(name string, port int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Ports[name] = port
}

func (s *state) path(name string) string { return filepath.Join(s.dir, name) }

func (s *state) logFile(component string) string {
	return s.path(filepath.Join(logsDir, component+".log"))
}

func (s *state) url() string { return "https://" + localAddress(s.Ports[apiPort]) }

// alive and dead partition the recorded processes.
func (s *state) alive() (alive, dead []process) {
	for _, p := range s.processes {
		if p.alive(s.dir) {
			alive = append(alive, p)
		} else {
			dead = append(dead, p)
		}
	}
	return alive, dead
}
