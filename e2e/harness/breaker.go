package harness

import (
	"context"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"

	"sigs.k8s.io/lws/e2e/managers"
)

// Moment is when a Breaker ends a manager.
type Moment string

const (
	// BeforeWrite lets one write of each life of the manager through and ends it
	// when it sends the next, which does not arrive.
	BeforeWrite Moment = "before"
	// AfterWrite ends it when the API server has done its first write, and before it
	// has the answer.
	AfterWrite Moment = "after"
)

// Breaker stands between a manager and the API server. While it is armed, every life
// of the manager has one write. So each place between two writes is one at which the
// manager dies.
type Breaker struct {
	manager *Manager
	options managers.Options
	server  *httptest.Server
	proxy   *httputil.ReverseProxy
	restart chan struct{}

	mu      sync.Mutex
	revived *sync.Cond
	moment  Moment // empty while it is not armed
	life    int
	written bool
	broken  bool
	crashes int
	failure error
}

// lifeKey is the context key of the life that a connection belongs to.
type lifeKey struct{}

// NewBreaker makes the manager use the API server through a breaker, until ctx ends.
func (e *Environment) NewBreaker(ctx context.Context, options managers.Options) (*Breaker, error) {
	target, err := url.Parse(e.Config.Host)
	if err != nil {
		return nil, err
	}
	// The manager has its own identity; only the trust is the administrator's.
	transport, err := rest.TransportFor(&rest.Config{Host: e.Config.Host, TLSClientConfig: rest.TLSClientConfig{CAData: e.Config.CAData, CAFile: e.Config.CAFile}})
	if err != nil {
		return nil, err
	}
	b := &Breaker{manager: e.Manager, restart: make(chan struct{}, 1)}
	b.proxy = &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // watches
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	b.revived = sync.NewCond(&b.mu)
	b.server = httptest.NewUnstartedServer(b)
	b.server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		b.mu.Lock()
		defer b.mu.Unlock()
		return context.WithValue(ctx, lifeKey{}, b.life)
	}
	b.server.StartTLS()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.server.Certificate().Raw})
	options.Proxy = &managers.Proxy{URL: b.server.URL, Certificate: certificate}
	b.options = options
	go b.keepAlive(ctx)
	return b, e.Manager.RestartWith(ctx, options)
}

// Arm begins to end the manager.
func (b *Breaker) Arm(moment Moment) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.moment, b.written = moment, false
}

// Disarm leaves the manager alone from now on, waits until it runs, and tells how
// often it was ended.
func (b *Breaker) Disarm(ctx context.Context) (crashes int, err error) {
	b.mu.Lock()
	b.moment = ""
	for b.broken && b.failure == nil {
		b.revived.Wait()
	}
	crashes, err = b.crashes, b.failure
	b.mu.Unlock()
	if err != nil {
		return crashes, err
	}
	return crashes, b.manager.Process().AwaitReady(ctx)
}

// Close ends the breaker; the manager needs another way to the API server then.
func (b *Breaker) Close() {
	b.server.CloseClientConnections()
	b.server.Close()
}

// keepAlive starts the manager whenever it was ended.
func (b *Breaker) keepAlive(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.restart:
			b.revive(ctx)
		}
	}
}

func (b *Breaker) revive(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.life++
	b.failure = b.manager.Launch(ctx, b.options)
	b.written, b.broken = false, false
	b.revived.Broadcast()
}

// ServeHTTP passes a request on, or does not.
func (b *Breaker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isCounted(r) {
		b.proxy.ServeHTTP(w, r)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	isOld := r.Context().Value(lifeKey{}) != b.life
	switch {
	case isOld || b.broken:
		panic(http.ErrAbortHandler)
	case b.moment == BeforeWrite && b.written:
		b.crash()
	case b.moment == AfterWrite:
		b.proxy.ServeHTTP(httptest.NewRecorder(), r)
		b.crash()
	}
	b.written = true
	b.proxy.ServeHTTP(w, r)
}

// crash ends the manager in the middle of a request. It returns when the process is
// gone.
func (b *Breaker) crash() {
	b.broken = true
	b.crashes++
	b.manager.Kill()
	b.restart <- struct{}{}
	panic(http.ErrAbortHandler)
}

// isCounted: what a life has one of are the writes to what sets are made of.
func isCounted(r *http.Request) bool {
	if r.Method == http.MethodGet {
		return false
	}
	return slices.ContainsFunc([]string{
		"/pods", "/services", "/statefulsets", "/deployments", "/controllerrevisions", "/leaderworkersets",
		"/podgroups", "/workloads",
	}, func(kind string) bool { return strings.Contains(r.URL.Path, kind) })
}
