package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

// readHeaderTimeout bounds how long a prober may take to ask.
const readHeaderTimeout = 10 * time.Second

// readinessCheck is one line of the answer to a readiness probe.
type readinessCheck struct {
	name  string
	check healthz.Checker
}

// readiness answers readiness probes. Unlike the manager's own endpoint it gives
// reasons to whoever asks; a kubelet tells no more than the status code.
type readiness []readinessCheck

// ServeHTTP says of every check whether it passes, and why not.
func (r readiness) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	status := http.StatusOK
	var answer strings.Builder
	for _, c := range r {
		if err := c.check(request); err != nil {
			status = http.StatusServiceUnavailable
			fmt.Fprintf(&answer, "[-] %s: %v\n", c.name, err)
			continue
		}
		fmt.Fprintf(&answer, "[+] %s\n", c.name)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(answer.String())) // a prober that is gone needs no answer
}

// setupHealth adds the server of the probes to the manager. It starts before
// everything else.
func setupHealth(ctx context.Context, mgr ctrl.Manager, c configv1.Health, checks readiness) error {
	if c.HealthProbeBindAddress == "0" {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.HealthProbeBindAddress)
	if err != nil {
		return fmt.Errorf("listen for probes: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle(c.ReadinessEndpointName, checks)
	mux.HandleFunc(c.LivenessEndpointName, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	return mgr.Add(&manager.Server{
		Name:     "health probe",
		Server:   &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout},
		Listener: listener,
	})
}
