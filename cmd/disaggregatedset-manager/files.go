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

// trustTimeout is how long a probe waits for what the manager should have read.
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
	if watcher := f.watcher.Load(); watcher != nil {
		return watcher.GetCertificate(hello)
	}
	return nil, errors.New("there is no certificate yet")
}

// check is the readiness check. It looks anew each time: a certificate ends without an
// event.
func (f *certificateFiles) check(request *http.Request) error {
	if err := f.loaded.check(request); err != nil {
		return err
	}
	served, err := f.getCertificate(nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(request.Context(), trustTimeout)
	defer cancel()
	configurations, err := readConfigurations(ctx, f.configurations)
	if err != nil {
		return fmt.Errorf("whether the API server trusts the certificate is not known: %w", err)
	}
	return checkTrust(configurations, served, f.clock.Now())
}
