package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	startPatience = 4 * time.Minute
	portAttempts  = 3
)

// errPortTaken: somebody took the port between its choice and its use.
var errPortTaken = errors.New("the port was taken meanwhile")

// run starts a component on free ports and waits until it is healthy.
func (s *state) run(ctx context.Context, c component, healthy func(context.Context) error) error {
	for attempt := 1; ; attempt++ {
		err := s.runOnce(ctx, c, healthy)
		if err == nil || !errors.Is(err, errPortTaken) || attempt == portAttempts {
			return err
		}
	}
}

func (s *state) runOnce(ctx context.Context, c component, healthy func(context.Context) error) error {
	if err := s.choosePorts(ctx, c); err != nil {
		return err
	}
	if c.prepare != nil {
		if err := c.prepare(s); err != nil {
			return err
		}
	}
	r, err := s.launch(ctx, c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for {
		last := healthy(ctx)
		if last == nil {
			return nil
		}
		select {
		case <-r.exited:
			return r.failure()
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("%s is not healthy after %s: %w (log: %s)", c.name, startPatience, last, r.log)
			}
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (s *state) launch(ctx context.Context, c component) (*running, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	record := s.path(filepath.Join(processesDir, c.name))
	command := append([]string{filepath.Join(s.BinDir, c.name)}, c.args(s)...)
	r, err := launch(ctx, command, record, s.logFile(c.name))
	if err != nil {
		return nil, err
	}
	s.processes = append(slices.DeleteFunc(s.processes, func(p process) bool { return p.Name == c.name }), r.process)
	s.started = append(slices.DeleteFunc(s.started, func(old *running) bool { return old.Name == c.name }), r)
	return r, nil
}

func (r *running) failure() error {
	line := lastLog(r.log)
	if strings.Contains(line, "address already in use") {
		return fmt.Errorf("%s: %w", r.Name, errPortTaken)
	}
	return fmt.Errorf("%s ended: %s (log: %s)", r.Name, line, r.log)
}

// choosePorts takes free ports, or the API server's that the user named.
func (s *state) choosePorts(ctx context.Context, c component) error {
	for _, name := range c.ports {
		wanted := 0
		if name == apiPort {
			wanted = s.Options.Port
		}
		port, err := wantedPort(ctx, wanted)
		if err != nil {
			return err
		}
		s.setPort(name, port)
	}
	return nil
}

// healthCheck asks an endpoint of a component.
func (s *state) healthCheck(scheme, port, path string) func(context.Context) error {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: s.authorities()},
		DisableKeepAlives: true,
	}}
	return func(ctx context.Context) error {
		url := scheme + "://" + localAddress(s.port(port)) + path
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, response.Status)
		}
		return nil
	}
}

func (s *state) authorities() *x509.CertPool {
	pool := x509.NewCertPool()
	if ca, err := os.ReadFile(s.path(caFile)); err == nil {
		pool.AppendCertsFromPEM(ca)
	}
	return pool
}
