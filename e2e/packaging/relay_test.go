package packaging

import (
	"context"
	"io"
	"net"
	"strconv"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// relay stands between the API server and the webhooks of a manager. It can make the API
// server forget its connections, which it would keep for ever under load: on a new one
// the certificate is verified again.
type relay struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	calls map[*net.TCPConn]chan struct{}
}

// startRelay relays to a port of this machine until the specs end.
func startRelay(ctx context.Context, port int) *relay {
	GinkgoHelper()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "localhost:0")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(listener.Close)
	r := &relay{listener: listener, to: net.JoinHostPort("localhost", strconv.Itoa(port)), calls: map[*net.TCPConn]chan struct{}{}}
	go func() {
		for {
			call, err := listener.Accept()
			if err != nil {
				return
			}
			go r.pass(call.(*net.TCPConn))
		}
	}()
	return r
}

func (r *relay) port() int { return r.listener.Addr().(*net.TCPAddr).Port }

// pass copies both ways until both have nothing more to say.
func (r *relay) pass(call *net.TCPConn) {
	defer func() { _ = call.Close() }()
	ended := make(chan struct{})
	r.mu.Lock()
	r.calls[call] = ended
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.calls, call)
		r.mu.Unlock()
		close(ended)
	}()
	manager, err := net.Dial("tcp", r.to)
	if err != nil {
		return
	}
	defer func() { _ = manager.Close() }()
	go func() {
		_, _ = io.Copy(call, manager)
		_ = call.CloseWrite()
	}()
	_, _ = io.Copy(manager, call)
}

// forget ends all connections from the side of the webhooks and returns when the API
// server has closed them too. None may be in use.
func (r *relay) forget() {
	r.mu.Lock()
	var ends []chan struct{}
	for call, ended := range r.calls {
		_ = call.CloseWrite()
		ends = append(ends, ended)
	}
	r.mu.Unlock()
	for _, ended := range ends {
		<-ended
	}
}
