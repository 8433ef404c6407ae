package main

import (
	"bytes"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
)

// Keys of the Secret. trustKey holds every authority that may still have signed a
// certificate in use, the newest, which authorityKey belongs to, first.
const (
	trustKey       = "ca.crt"
	authorityKey   = "ca.key"
	certificateKey = "tls.crt"
	privateKey     = "tls.key"
)

const (
	authorityName     = "disaggregatedset-ca"
	organization      = "disaggregatedset.x-k8s.io"
	authorityLifetime = 10 * 365 * 24 * time.Hour
	certificateLife   = 365 * 24 * time.Hour
	// renewBefore is how long before its end a certificate is replaced.
	renewBefore = 90 * 24 * time.Hour
	// backdate allows for clocks that are behind.
	backdate = time.Hour
	// settle is how long an authority is trusted before it signs the certificate
	// that replaces one that still works: every API server has heard of it by then.
	settle = time.Minute
	// retire is how long an authority stays trusted that has signed nothing in use any
	// more. Every replica serves what the newest signed by then.
	retire = time.Hour
)

// renewal is what has to be made anew, and why.
type renewal struct {
	authority   bool
	certificate bool
	// forget says that only the newest authority is trusted from now on.
	forget bool
	reason string
	// again is when to look again: nothing changes by itself before.
	again time.Time
}

func (r renewal) isDue() bool {
	return r.authority || r.certificate || r.forget
}

// planRenewal decides what the Secret needs. trusted is whether the API server
// believes the newest authority already.
func planRenewal(data map[string][]byte, names []string, trusted bool, now time.Time) renewal {
	authority, err := parseAuthority(data)
	if err != nil {
		return renewal{authority: true, reason: err.Error()}
	}
	authorityEnd := authority.Cert.NotAfter.Add(-renewBefore)
	if !now.Before(authorityEnd) {
		return renewal{authority: true, reason: "the authority ends at " + authority.Cert.NotAfter.Format(time.RFC3339)}
	}
	leaf, err := verifyCertificate(data, names, now)
	if err != nil {
		return renewal{certificate: true, reason: err.Error()}
	}
	renewAt := leaf.NotAfter.Add(-renewBefore)
	if leaf.CheckSignatureFrom(authority.Cert) != nil {
		renewAt = authority.Cert.NotBefore.Add(backdate + settle)
	}
	switch {
	case now.Before(renewAt):
		return planForgetting(data[trustKey], authority, leaf, now, earlier(renewAt, authorityEnd))
	case !trusted:
		return renewal{again: now.Add(settle)}
	}
	return renewal{certificate: true, reason: "the certificate is due for renewal"}
}

// planForgetting decides whether authorities before the newest are trusted any longer,
// while nothing else is due until a time.
func planForgetting(trust []byte, authority *rotator.KeyPairArtifacts, leaf *x509.Certificate, now, again time.Time) renewal {
	if bytes.Equal(trust, authority.CertPEM) || leaf.CheckSignatureFrom(authority.Cert) != nil {
		return renewal{again: again}
	}
	forgetAt := leaf.NotBefore.Add(backdate + retire)
	if now.Before(forgetAt) {
		return renewal{again: earlier(forgetAt, again)}
	}
	return renewal{forget: true, reason: "the newest authority has signed all that is in use"}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// restored gives a Secret that lost its authorities, because somebody emptied it or
// deleted it, what still works: the authorities that the API server trusts, and the
// certificate that is served. Nothing that works has to be replaced at once then. The
// authority's key is not known to be safe and makes way for a new one.
func restored(data map[string][]byte, published []byte, served map[string][]byte, now time.Time) map[string][]byte {
	if len(stillTrusted(data[trustKey], now)) > 0 {
		return data
	}
	restored := map[string][]byte{}
	maps.Copy(restored, served)
	for key, value := range data {
		if len(value) > 0 {
			restored[key] = value
		}
	}
	delete(restored, authorityKey)
	restored[trustKey] = stillTrusted(published, now)
	return restored
}

// renew returns the Secret's data with what the renewal asks for. Authorities that
// have not ended stay trusted, unless they are to be forgotten.
func renew(data map[string][]byte, names []string, r renewal, now time.Time) (map[string][]byte, error) {
	maker := &rotator.CertRotator{
		CAName:         authorityName,
		CAOrganization: organization,
		DNSName:        names[0],
		ExtraDNSNames:  names[1:],
		ExtKeyUsages:   &[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	renewed := map[string][]byte{}
	maps.Copy(renewed, data)
	if r.forget {
		newest, _ := pem.Decode(data[trustKey])
		renewed[trustKey] = pem.EncodeToMemory(newest)
	}
	if r.authority {
		authority, err := maker.CreateCACert(now.Add(-backdate), now.Add(authorityLifetime))
		if err != nil {
			return nil, fmt.Errorf("make an authority: %w", err)
		}
		renewed[trustKey] = append(authority.CertPEM, stillTrusted(data[trustKey], now)...)
		renewed[authorityKey] = authority.KeyPEM
	}
	if _, err := verifyCertificate(renewed, names, now); err == nil && !r.certificate {
		return renewed, nil
	}
	authority, err := parseAuthority(renewed)
	if err != nil {
		return nil, err
	}
	certificate, key, err := maker.CreateCertPEM(authority, now.Add(-backdate), now.Add(certificateLife))
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	renewed[certificateKey], renewed[privateKey] = certificate, key
	return renewed, nil
}

// stillTrusted are the authorities of a list that have not ended, each once.
func stillTrusted(trust []byte, now time.Time) []byte {
	var kept []byte
	seen := map[string]bool{}
	for block, rest := pem.Decode(trust); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err == nil && now.Before(certificate.NotAfter) && !seen[string(block.Bytes)] {
			seen[string(block.Bytes)] = true
			kept = append(kept, pem.EncodeToMemory(block)...)
		}
	}
	return kept
}

// parseAuthority reads the newest authority and its key.
func parseAuthority(data map[string][]byte) (*rotator.KeyPairArtifacts, error) {
	if len(data[trustKey]) == 0 || len(data[authorityKey]) == 0 {
		return nil, errors.New("there is no authority yet")
	}
	pair, err := tls.X509KeyPair(data[trustKey], data[authorityKey])
	if err != nil {
		return nil, fmt.Errorf("the authority cannot be used: %w", err)
	}
	key, ok := pair.PrivateKey.(*rsa.PrivateKey)
	if !ok || !pair.Leaf.IsCA {
		return nil, errors.New("the authority cannot be used: it is no RSA certificate authority")
	}
	return &rotator.KeyPairArtifacts{
		Cert:    pair.Leaf,
		Key:     key,
		CertPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Leaf.Raw}),
		KeyPEM:  data[authorityKey],
	}, nil
}

// verifyCertificate checks that the certificate of the Secret works now for every
// name, for those who trust the Secret's authorities.
func verifyCertificate(data map[string][]byte, names []string, now time.Time) (*x509.Certificate, error) {
	if len(data[certificateKey]) == 0 || len(data[privateKey]) == 0 {
		return nil, errors.New("there is no certificate yet")
	}
	pair, err := tls.X509KeyPair(data[certificateKey], data[privateKey])
	if err != nil {
		return nil, fmt.Errorf("the certificate cannot be used: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(data[trustKey])
	for _, name := range names {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: now}); err != nil {
			return nil, fmt.Errorf("the certificate cannot be used for %s: %w", name, err)
		}
	}
	return pair.Leaf, nil
}
