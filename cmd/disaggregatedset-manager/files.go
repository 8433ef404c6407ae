package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// trustTimeout is how long a probe or a handshake waits for what the manager should have
// read.
const trustTimeout = time.Second

// certificateFiles serve a certificate that somebody else keeps fresh in a directory,
// and who also tells the API server which authority to trust: cert-manager with a
// Secret that is mounted.
type certificateFiles struct {
	certificate, key string
	configurations   client.Reader
	clock            clock.PassiveClock
	// loaded is open once there is a certificate.
	loaded  *gate
	watcher atomic.Pointer[certwatcher.CertWatcher]
	// succession is which of those that were in the files is served.
	succession succession
}

func newCertificateFiles(dir string) *certificateFiles {
	return &certificateFiles{
		certificate: filepath.Join(dir, certificateKey),
		key:         filepath.Join(dir, privateKey),
		clock:       clock.RealClock{},
		loaded:      newGate("the files of the webhooks' certificate were not looked at yet"),
	}
}

// setup adds the files to the manager. What tells trust is read from the start, so that
// no probe waits for it.
func (f *certificateFiles) setup(mgr ctrl.Manager) error {
	f.configurations = mgr.GetClient()
	for _, object := range []client.Object{&admissionv1.MutatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfiguration{}} {
		if _, err := mgr.GetCache().GetInformer(context.Background(), object); err != nil {
			return err
		}
	}
	return mgr.Add(everyReplica{f.start})
}

// start waits for the files and follows them.
func (f *certificateFiles) start(ctx context.Context) error {
	watcher := f.await(ctx)
	if watcher == nil {
		return nil
	}
	first, err := watcher.GetCertificate(nil)
	if err != nil {
		return err
	}
	f.succession.first(first)
	f.watcher.Store(watcher)
	f.loaded.open()
	return watcher.Start(ctx)
}

// await looks for the files until they can be read, which nil says they could not when
// the context ends. It looks again and again: a directory that does not exist cannot be
// watched.
func (f *certificateFiles) await(ctx context.Context) *certwatcher.CertWatcher {
	var watcher *certwatcher.CertWatcher
	backoff := wait.Backoff{Duration: firstLook, Factor: 2, Steps: 10, Cap: lastLook}
	_ = backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		var err error
		if watcher, err = certwatcher.New(f.certificate, f.key); err == nil {
			return true, nil
		}
		if f.loaded.close("the webhooks' certificate, which internalCertManagement leaves to others: %v", err) {
			log.FromContext(ctx).Info("waiting for a certificate", "reason", err.Error())
		}
		return false, nil
	})
	return watcher
}

// getCertificate answers a TLS handshake.
func (f *certificateFiles) getCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return f.serve(hello.Context())
}

// serve is the certificate to serve. Handshakes and probes ask often enough for one that
// waits to have its turn.
func (f *certificateFiles) serve(ctx context.Context) (*tls.Certificate, error) {
	watcher := f.watcher.Load()
	if watcher == nil {
		return nil, errors.New("there is no certificate yet")
	}
	newest, err := watcher.GetCertificate(nil)
	if err != nil {
		return nil, err
	}
	served, isNewest := f.succession.current(newest)
	if isNewest {
		return served, nil
	}
	configurations, err := f.readTrust(ctx)
	if err != nil {
		log.FromContext(ctx).Error(err, "a new certificate waits: whether the API server trusts it is not known")
		return served, nil
	}
	if f.succession.choose(newest, configurations, f.clock.Now()) {
		log.FromContext(ctx).Info("a new certificate waits until the API server has heard of its authority")
	}
	served, _ = f.succession.current(newest)
	return served, nil
}

// readTrust reads the webhook configurations, for which nobody waits long.
func (f *certificateFiles) readTrust(ctx context.Context) ([]webhookConfiguration, error) {
	ctx, cancel := context.WithTimeout(ctx, trustTimeout)
	defer cancel()
	return readConfigurations(ctx, f.configurations)
}

// check is the readiness check. It looks anew each time: a certificate ends without an
// event.
func (f *certificateFiles) check(request *http.Request) error {
	if err := f.loaded.check(request); err != nil {
		return err
	}
	served, err := f.serve(request.Context())
	if err != nil {
		return err
	}
	configurations, err := f.readTrust(request.Context())
	if err != nil {
		return fmt.Errorf("whether the API server trusts the certificate is not known: %w", err)
	}
	return checkTrust(configurations, served, f.clock.Now())
}
