package main

import (
	"context"
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mount is a directory of a Secret as a kubelet keeps it: a link to the directory of
// the newest version, to which the files of the directory itself are links.
type mount struct {
	t       *testing.T
	dir     string
	version int
}

// write swaps the Secret for another, and removes the version before.
func (m *mount) write(data map[string][]byte) {
	m.t.Helper()
	link := func(target, name string) {
		if err := os.Symlink(target, name); err != nil && !os.IsExist(err) {
			m.t.Fatal(err)
		}
	}
	before := ".." + strconv.Itoa(m.version)
	m.version++
	now := ".." + strconv.Itoa(m.version)
	if err := os.MkdirAll(filepath.Join(m.dir, now), 0o700); err != nil {
		m.t.Fatal(err)
	}
	for name, content := range data {
		if err := os.WriteFile(filepath.Join(m.dir, now, name), content, 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
	link(now, filepath.Join(m.dir, "..data_tmp"))
	if err := os.Rename(filepath.Join(m.dir, "..data_tmp"), filepath.Join(m.dir, "..data")); err != nil {
		m.t.Fatal(err)
	}
	for name := range data {
		link(filepath.Join("..data", name), filepath.Join(m.dir, name))
	}
	if err := os.RemoveAll(filepath.Join(m.dir, before)); err != nil {
		m.t.Fatal(err)
	}
}

// trustReader answers with webhooks that have a caBundle.
type trustReader struct {
	client.Reader
	bundle atomic.Pointer[[]byte]
}

func (r *trustReader) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	called := admissionv1.WebhookClientConfig{URL: new("https://localhost:9443/")}
	if bundle := r.bundle.Load(); bundle != nil {
		called.CABundle = *bundle
	}
	switch object := object.(type) {
	case *admissionv1.MutatingWebhookConfiguration:
		object.Name, object.Webhooks = mutatingConfiguration, []admissionv1.MutatingWebhook{{Name: "m", ClientConfig: called}}
	case *admissionv1.ValidatingWebhookConfiguration:
		object.Name, object.Webhooks = validatingConfiguration, []admissionv1.ValidatingWebhook{{Name: "v", ClientConfig: called}}
	}
	return nil
}

func TestCertificateFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	reader := &trustReader{}
	files := newCertificateFiles(dir)
	clock := clocktesting.NewFakePassiveClock(start)
	files.configurations, files.clock = reader, clock
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- files.start(ctx) }()

	says := func(want string) {
		t.Helper()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "/readyz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(20 * time.Second); ; <-time.After(10 * time.Millisecond) {
			said := "ready"
			if err := files.check(request); err != nil {
				said = err.Error()
			}
			if strings.Contains(said, want) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("it says %q, want %q", said, want)
			}
		}
	}
	says("the webhooks' certificate, which internalCertManagement leaves to others: open " + filepath.Join(dir, "tls.crt"))
	if _, err := files.serve(ctx); err == nil {
		t.Error("it serves a certificate that is not there")
	}

	first := mustRenew(t, nil, renewal{authority: true}, start)
	secret := &mount{t: t, dir: dir}
	secret.write(first)
	says("webhook m of " + mutatingConfiguration + ": nobody has written a caBundle yet")
	select {
	case <-files.loaded.opened:
	default:
		t.Error("there is a certificate, and the webhooks are not told")
	}
	trust := first[trustKey]
	reader.bundle.Store(&trust)
	says("ready")

	// The same authority, another certificate: more than once, since each swap removes
	// the files that are watched.
	serves := func(data map[string][]byte) {
		t.Helper()
		want := pairOf(t, data).Leaf.SerialNumber
		var got *tls.Certificate
		for deadline := time.Now().Add(20 * time.Second); got == nil || got.Leaf.SerialNumber.Cmp(want) != 0; <-time.After(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("it serves %v, want %v", got.Leaf.SerialNumber, want)
			}
			var err error
			if got, err = files.serve(ctx); err != nil {
				t.Fatal(err)
			}
		}
		says("ready")
	}
	last := first
	for range 2 {
		last = mustRenew(t, first, renewal{certificate: true}, start)
		secret.write(last)
		serves(last)
	}

	// Another authority: not before the API server has heard of it.
	other := mustRenew(t, nil, renewal{authority: true}, start)
	secret.write(other)
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(10 * time.Millisecond) {
		newest, err := files.watcher.Load().GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		if newest.Leaf.SerialNumber.Cmp(pairOf(t, other).Leaf.SerialNumber) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the new files are not read")
		}
	}
	serves(last)
	both := join(trust, other[trustKey])
	reader.bundle.Store(&both)
	serves(last)
	clock.SetTime(start.Add(heard))
	serves(other)
	reader.bundle.Store(new([]byte("nobody")))
	says("unknown authority")

	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestFilesThatNeverCome(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	files := newCertificateFiles(t.TempDir())
	ended := make(chan error, 1)
	go func() { ended <- files.start(ctx) }()
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("a manager that ends while it waits fails: %v", err)
	}
}
