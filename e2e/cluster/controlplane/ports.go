package controlplane

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"syscall"
)

// Ports are chosen below those that systems give to the near ends of connections: one
// of these may be taken in the moment between being found free and being listened on.
const (
	firstPort = 12_000
	portCount = 18_000
	portTries = 100
)

// FreePort finds a port of this machine that nobody listens on.
func FreePort(ctx context.Context) (int, error) {
	for range portTries {
		port := firstPort + rand.IntN(portCount)
		err := tryPort(ctx, port)
		if err == nil {
			return port, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return 0, fmt.Errorf("find a free port: %w", err)
		}
	}
	return 0, fmt.Errorf("find a free port: %d ports of %s between %d and %d were in use", portTries, loopback, firstPort, firstPort+portCount)
}

// wantedPort is the port itself if it is free, and any free one if it is 0.
func wantedPort(ctx context.Context, wanted int) (int, error) {
	if wanted == 0 {
		return FreePort(ctx)
	}
	err := tryPort(ctx, wanted)
	if errors.Is(err, syscall.EADDRINUSE) {
		return 0, fmt.Errorf("port %d of %s is in use: stop what listens there or choose another", wanted, loopback)
	}
	if err != nil {
		return 0, fmt.Errorf("port %d of %s: %w", wanted, loopback, err)
	}
	return wanted, nil
}

func tryPort(ctx context.Context, port int) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", localAddress(port))
	if err != nil {
		return err
	}
	return listener.Close()
}
