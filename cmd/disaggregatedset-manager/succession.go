package main

import (
	"crypto/tls"
	"crypto/x509"
	"sync"
	"time"
)

// heard is how long an authority has been trusted before the API server is shown a
// certificate that needs it: it may have several replicas.
const heard = 10 * time.Second

// succession is which certificate is served while somebody else issues them: the newest,
// but not before those who call are known to trust it, as long as they trust the one
// before. An issuer with another authority then costs no request.
type succession struct {
	mu     sync.Mutex
	served *tls.Certificate
	// newest is the one that waits, trusted since a time that is zero until it is.
	newest       *tls.Certificate
	trustedSince time.Time
}

// first serves a certificate that none is before.
func (s *succession) first(newest *tls.Certificate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served = newest
}

// current is the certificate to serve, and whether it is this one.
func (s *succession) current(newest *tls.Certificate) (served *tls.Certificate, isNewest bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served, s.served == newest
}

// choose decides again which certificate is served, now that the webhooks are called
// with this trust. It tells whether the newest one waits for the first time.
func (s *succession) choose(newest *tls.Certificate, configurations []webhookConfiguration, now time.Time) (waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.served == newest {
		return false
	}
	if s.newest != newest {
		s.newest, s.trustedSince, waits = newest, time.Time{}, true
	}
	switch {
	case checkTrust(configurations, s.served, now) != nil, succeeds(configurations, s.served, newest, now):
		s.served, waits = newest, false
	case checkTrust(configurations, newest, now) != nil:
		s.trustedSince = time.Time{}
	case s.trustedSince.IsZero():
		s.trustedSince = now
	case now.Sub(s.trustedSince) >= heard:
		s.served, waits = newest, false
	}
	return waits
}

// succeeds says whether whoever trusts a certificate, by whichever authority of the
// webhooks, trusts the newest one as well: nobody has to hear anything first.
func succeeds(configurations []webhookConfiguration, served, newest *tls.Certificate, now time.Time) bool {
	leaf, intermediates, err := chain(served)
	if err != nil {
		return false
	}
	for _, configuration := range configurations {
		for _, webhook := range configuration.webhooks {
			chains, err := leaf.Verify(webhook.verification(intermediates, now))
			if err != nil || !vouch(chains, newest, webhook.host, now) {
				return false
			}
		}
	}
	return true
}

// vouch says whether the authority of each chain signed a certificate.
func vouch(chains [][]*x509.Certificate, newest *tls.Certificate, host string, now time.Time) bool {
	leaf, intermediates, err := chain(newest)
	if err != nil {
		return false
	}
	for _, signed := range chains {
		roots := x509.NewCertPool()
		roots.AddCert(signed[len(signed)-1])
		options := x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: intermediates, CurrentTime: now}
		if _, err := leaf.Verify(options); err != nil {
			return false
		}
	}
	return true
}
