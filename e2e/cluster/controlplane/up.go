package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/lws/e2e/cluster/binaries"
	"sigs.k8s.io/lws/e2e/cluster/sim"
)

// metadataPolicy is AuditMetadata.
const metadataPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

// Up starts a cluster, or returns the one that runs already if it was started
// with the same options. When it fails or ctx ends nothing is left running.
func Up(ctx context.Context, options Options) (*Cluster, error) {
	o, err := options.complete()
	if err != nil {
		return nil, err
	}
	unlock, err := o.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	earlier, err := o.earlier()
	if earlier != nil || err != nil {
		return earlier, err
	}
	store, err := binaries.NewStore(o.Log)
	if err != nil {
		return nil, err
	}
	programs, err := store.Ensure(ctx, o.Kubernetes, binaries.All()...)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	s := &state{dir: o.stateDir(), Options: o, BinDir: programs, Ports: map[string]int{}}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.abandon(ctx.Err() != nil))
	}
	o.printf("cluster %s with Kubernetes %s and %d nodes is up after %.1fs\n", o.Name, o.Kubernetes, o.Nodes, time.Since(started).Seconds())
	return &Cluster{state: s}, nil
}

// earlier is the cluster that runs under this name; the remains of a dead one
// are removed.
func (o Options) earlier() (*Cluster, error) {
	s, err := loadState(o.stateDir())
	if err != nil || s == nil {
		return nil, err
	}
	alive, dead := s.alive()
	if s.Ready && len(dead) == 0 {
		if !s.Options.sameCluster(o) {
			return nil, fmt.Errorf("cluster %s is up with other options: take it down first", o.Name)
		}
		o.printf("cluster %s is up already\n", o.Name)
		return &Cluster{state: s}, nil
	}
	o.printf("cluster %s died earlier (%s); removing what it left\n", o.Name, gone(dead))
	if err := stop(s.dir, alive); err != nil {
		return nil, err
	}
	return nil, os.RemoveAll(s.dir)
}

func gone(dead []process) string {
	if len(dead) == 0 {
		return "it never was ready"
	}
	var names []string
	for _, p := range dead {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ") + " no longer runs"
}

func (s *state) start(ctx context.Context) error {
	if err := s.prepare(); err != nil {
		return err
	}
	if err := s.run(ctx, etcd, s.healthCheck("http", etcdClientPort, "/health")); err != nil {
		return err
	}
	apiServerReady := func(ctx context.Context) error { return s.healthCheck("https", apiPort, "/readyz")(ctx) }
	if err := s.run(ctx, apiServer, apiServerReady); err != nil {
		return err
	}
	cluster := &Cluster{state: s}
	if err := cluster.installPolicies(ctx); err != nil {
		return err
	}
	if err := together(
		func() error { return s.run(ctx, controllerManager, s.healthCheck("https", controllerPort, "/healthz")) },
		func() error { return s.run(ctx, scheduler, s.healthCheck("https", schedulerPort, "/healthz")) },
		func() error {
			// kwok serves nothing: its nodes say that it works.
			if err := s.run(ctx, kwok, func(context.Context) error { return nil }); err != nil {
				return err
			}
			return cluster.AddNodes(ctx, sim.NumberedNodes(0, s.Options.Nodes)...)
		},
	); err != nil {
		return err
	}
	if err := cluster.awaitUsable(ctx); err != nil {
		return err
	}
	s.Ready = true
	return s.save()
}

// prepare writes what does not depend on ports.
func (s *state) prepare() error {
	if err := os.RemoveAll(s.dir); err != nil {
		return err
	}
	for _, dir := range []string{logsDir, processesDir} {
		if err := os.MkdirAll(s.path(dir), 0o750); err != nil {
			return err
		}
	}
	if err := s.save(); err != nil {
		return err
	}
	if err := os.WriteFile(s.path(kwokConfig), []byte(sim.KwokConfig(s.Options.NodeGrace)), 0o600); err != nil {
		return err
	}
	return os.WriteFile(s.path(auditPolicyFile), []byte(metadataPolicy), 0o600)
}

// abandon stops what a start that failed has started. Its logs stay, unless it
// was the user who ended it.
func (s *state) abandon(interrupted bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := stop(s.dir, s.processes); err != nil {
		return err
	}
	if interrupted {
		return os.RemoveAll(s.dir)
	}
	entries, err := os.ReadDir(s.dir)
	for _, entry := range entries {
		if entry.Name() != logsDir {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.dir, entry.Name())))
		}
	}
	return err
}

// together runs steps at the same time and waits for all of them, so that
// after an error no step goes on starting things.
func together(steps ...func() error) error {
	errs := make(chan error, len(steps))
	for _, step := range steps {
		go func() { errs <- step() }()
	}
	var joined error
	for range steps {
		joined = errors.Join(joined, <-errs)
	}
	return joined
}
