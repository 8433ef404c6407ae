package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"sigs.k8s.io/lws/e2e/cluster/controlplane"
	"sigs.k8s.io/lws/e2e/managers"
)

// Manager is the manager of an environment, for the process that started it. One at
// a time uses it.
type Manager struct {
	installed *managers.Installed
	process   *managers.Process
	usual     managers.Options
}

func install(ctx context.Context, cluster *controlplane.Cluster, shipped managers.Shipped, usual managers.Options) (*Manager, error) {
	installed, err := managers.Install(ctx, cluster, shipped)
	if err != nil {
		return nil, err
	}
	m := &Manager{installed: installed, usual: usual}
	err = m.Restart(ctx)
	return m, err
}

// Restart starts the manager as usual, and ends the one that runs before. It
// returns when the new one is ready.
func (m *Manager) Restart(ctx context.Context) error {
	return m.RestartWith(ctx, m.usual)
}

// RestartWith is Restart with other options.
func (m *Manager) RestartWith(ctx context.Context, options managers.Options) error {
	if err := m.Stop(); err != nil {
		return err
	}
	if err := m.Launch(ctx, options); err != nil {
		return err
	}
	return m.process.AwaitReady(ctx)
}

// Launch starts the manager without waiting until it is ready.
func (m *Manager) Launch(ctx context.Context, options managers.Options) (err error) {
	m.process, err = m.installed.Start(ctx, options)
	return err
}

// Stop ends the manager in order, if it runs.
func (m *Manager) Stop() error {
	if m.process == nil {
		return nil
	}
	select {
	case <-m.process.Exited():
		return nil
	default:
		return m.process.Stop()
	}
}

// Kill ends the manager without giving it a chance to say goodbye.
func (m *Manager) Kill() {
	if m.process != nil {
		m.process.Kill()
	}
}

// Process is the last run.
func (m *Manager) Process() *managers.Process { return m.process }

// logs returns the ends of the logs of all managers of a cluster.
func logs(cluster *controlplane.Cluster, length int64) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(cluster.Dir(), "managers", "*", "*", "log"))
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	var errs []error
	for _, path := range files {
		text, err := tail(path, length)
		found[path] = text
		errs = append(errs, err)
	}
	return found, errors.Join(errs...)
}

// tail returns the end of a file.
func tail(path string, length int64) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	text := make([]byte, min(length, info.Size()))
	_, err = file.ReadAt(text, info.Size()-int64(len(text)))
	return string(text), err
}
