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

	"sigs.k8s.io/yaml"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	"sigs.k8s.io/lws/e2e/cluster/controlplane"
)

const (
	stopPatience  = 40 * time.Second
	readyPatience = time.Minute
	pollInterval  = 50 * time.Millisecond
	fileMode      = 0o600
	logTail       = 4 << 10
)

// Options are what a run of a manager differs in.
type Options struct {
	// Replica tells runs that are alive at the same time apart; "0" if empty.
	Replica string
	// Configure changes the configuration.
	Configure func(*configv1.Configuration)
	// Args are further flags, Env further variables.
	Args []string
	Env  []string
	// Proxy is what stands between the manager and the API server, if anything does.
	Proxy *Proxy
}

// Proxy is an address that takes requests to the API server, and the certificate, as
// PEM, that it has there: over plain HTTP clients send no token.
type Proxy struct {
	URL         string
	Certificate []byte
}

// Process is a manager that runs.
type Process struct {
	// PID is its process ID.
	PID int
	// MetricsAddress and ProbeAddress are where it serves.
	MetricsAddress string
	ProbeAddress   string

	name    string
	dir     string
	exited  chan struct{}
	failure error
}

// Start starts the manager with the shipped ServiceAccount and returns without
// waiting for it. Only one process at a time can serve the webhooks: that with an
// empty Replica.
func (m *Installed) Start(ctx context.Context, options Options) (*Process, error) {
	webhookPort, replica := m.webhookPort, servingReplica
	var err error
	if options.Replica != "" {
		replica = options.Replica
		if webhookPort, err = controlplane.FreePort(ctx); err != nil {
			return nil, err
		}
	}
	p := &Process{name: m.Name, dir: filepath.Join(m.dir, replica), exited: make(chan struct{})}
	if err := os.MkdirAll(p.dir, 0o750); err != nil {
		return nil, err
	}
	file, kubeconfig, err := m.configure(ctx, p, webhookPort, options)
	if err != nil {
		return nil, err
	}
	args := append([]string{"--config=" + file, "--kubeconfig=" + kubeconfig}, options.Args...)
	if err := p.launch(ctx, m.program, args, append(shippedEnv(), options.Env...)); err != nil {
		return nil, err
	}
	return p, nil
}

// shippedEnv is what a kubelet makes of the variables in the shipped Deployments. Their
// memory has no limit.
func shippedEnv() []string {
	return []string{"GOMAXPROCS=1"}
}

// Run starts a program that is no manager but works beside them, as a ServiceAccount of
// the cluster. It ends like managers do.
func Run(ctx context.Context, cluster *controlplane.Cluster, account Shipped, program string, args ...string) (*Process, error) {
	p := &Process{name: account.Name, dir: filepath.Join(cluster.Dir(), stateDir, account.Name, servingReplica), exited: make(chan struct{})}
	if err := os.MkdirAll(p.dir, 0o750); err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(p.dir, "kubeconfig")
	if err := cluster.ServiceAccountKubeconfig(ctx, account.Namespace, account.ServiceAccount, kubeconfig); err != nil {
		return nil, err
	}
	if err := p.launch(ctx, program, append([]string{"--kubeconfig=" + kubeconfig}, args...), nil); err != nil {
		return nil, err
	}
	return p, nil
}

// configure writes the files that the process reads.
func (m *Installed) configure(ctx context.Context, p *Process, webhookPort int, options Options) (file, kubeconfig string, err error) {
	metrics, err := controlplane.FreePort(ctx)
	if err != nil {
		return "", "", err
	}
	probes, err := controlplane.FreePort(ctx)
	if err != nil {
		return "", "", err
	}
	p.MetricsAddress, p.ProbeAddress = "127.0.0.1:"+strconv.Itoa(metrics), "127.0.0.1:"+strconv.Itoa(probes)
	c := &configv1.Configuration{}
	c.APIVersion, c.Kind = configv1.GroupVersion.String(), configv1.Kind
	c.Webhook = configv1.Webhook{Host: listenHost, Port: new(int32(webhookPort))}
	c.Metrics.BindAddress = p.MetricsAddress
	c.Health.HealthProbeBindAddress = p.ProbeAddress
	if options.Configure != nil {
		options.Configure(c)
	}
	data, err := yaml.Marshal(c)
	if err != nil {
		return "", "", err
	}
	file, kubeconfig = filepath.Join(p.dir, configurationFile), filepath.Join(p.dir, "kubeconfig")
	if err := os.WriteFile(file, data, fileMode); err != nil {
		return "", "", err
	}
	if err := m.cluster.ServiceAccountKubeconfig(ctx, m.Namespace, m.ServiceAccount, kubeconfig); err != nil {
		return "", "", err
	}
	return file, kubeconfig, adjust(kubeconfig, m.Namespace, options.Proxy)
}

// recorded runs a program that has recorded its process before it begins: whoever
// starts it may be killed at any moment.
const recorded = `echo $$ >"$0" && exec "$@"`

// launch starts the program detached from the terminal: an interrupt reaches the
// one who started it, who then stops it in order.
func (p *Process) launch(ctx context.Context, program string, args, env []string) error {
	log, err := os.OpenFile(p.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	defer log.Close()
	args = append([]string{"-c", recorded, filepath.Join(p.dir, pidFile), program}, args...)
	command := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", args...)
	command.Dir, command.Stdout, command.Stderr = p.dir, log, log
	command.Env = append(os.Environ(), env...)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	p.PID = command.Process.Pid
	go func() {
		p.failure = command.Wait()
		close(p.exited)
	}()
	return nil
}

// LogFile is the log of the process, and of those before it in its place.
func (p *Process) LogFile() string {
	return filepath.Join(p.dir, "log")
}

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} {
	return p.exited
}

// Ended is an error with the end of the log once the process has ended.
func (p *Process) Ended() error {
	select {
	case <-p.exited:
		return errors.Join(fmt.Errorf("%s ended; its log ends with\n%s", p.name, p.lastLog()), p.failure)
	default:
		return nil
	}
}

// Stop ends the process in order and returns what it failed with.
func (p *Process) Stop() error {
	return p.end(syscall.SIGTERM)
}

// Kill ends the process without giving it a chance to say goodbye.
func (p *Process) Kill() {
	_ = p.end(syscall.SIGKILL) // being killed is no failure
}

func (p *Process) end(signal syscall.Signal) error {
	if err := syscall.Kill(p.PID, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	select {
	case <-p.exited:
		return p.failure
	case <-time.After(stopPatience):
		return errors.Join(fmt.Errorf("%s did not end within %s", p.name, stopPatience), syscall.Kill(p.PID, syscall.SIGKILL))
	}
}

// lastLog is the end of the log.
func (p *Process) lastLog() string {
	data, err := os.ReadFile(p.LogFile())
	if err != nil {
		return err.Error()
	}
	if len(data) > logTail {
		data = data[len(data)-logTail:]
	}
	return strings.TrimSpace(string(data))
}
