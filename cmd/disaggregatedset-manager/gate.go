package main

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
)

// gate is one thing that has to be true before the manager is ready. It is closed
// until it is opened, and says why.
type gate struct {
	mu     sync.Mutex
	isOpen bool
	// isKnown says that somebody has looked.
	isKnown bool
	reason  string
	opened  chan struct{}
}

func newGate(reason string) *gate {
	return &gate{reason: reason, opened: make(chan struct{})}
}

// open says that it is true. Who waits for the first time goes on.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.isOpen, g.isKnown = true, true
	select {
	case <-g.opened:
	default:
		close(g.opened)
	}
}

// close says that it is not, or no longer, true, and why. It tells whether that is news.
func (g *gate) close(format string, args ...any) bool {
	return g.shut(true, fmt.Sprintf(format, args...))
}

// doubt says that it could not be looked at, and why. It tells whether that is news.
func (g *gate) doubt(format string, args ...any) bool {
	return g.shut(false, fmt.Sprintf(format, args...))
}

func (g *gate) shut(isKnown bool, reason string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	news := g.isOpen || g.reason != reason
	g.isOpen, g.isKnown, g.reason = false, isKnown, reason
	return news
}

// check is the readiness check.
func (g *gate) check(*http.Request) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOpen {
		return nil
	}
	return errors.New(g.reason)
}

// closedFor is why the gate is closed; empty if it is open, or nobody could look yet.
func (g *gate) closedFor() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOpen || !g.isKnown {
		return ""
	}
	return g.reason
}
