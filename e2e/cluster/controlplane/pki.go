package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"sigs.k8s.io/lws/e2e/cluster/sim"
)

// lifetime of keys; a cluster is thrown away long before.
const lifetime = 365 * 24 * time.Hour

// identities are the clients that have a kubeconfig, with user and groups.
var identities = map[string]pkix.Name{
	adminConfig:      {CommonName: "admin", Organization: []string{"system:masters"}},
	controllerConfig: {CommonName: "system:kube-controller-manager"},
	schedulerConfig:  {CommonName: "system:kube-scheduler"},
	kubeletConfig:    {CommonName: sim.User, Organization: []string{"system:masters"}},
}

// authority signs the cluster's certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

// keyPair is a certificate with its key, in PEM.
type keyPair struct{ certificate, key []byte }

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := certificate(pkix.Name{CommonName: "local-cluster"})
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{certificate: parsed, key: key, pem: encode("CERTIFICATE", der)}, nil
}

func (a *authority) sign(subject pkix.Name) (keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keyPair{}, err
	}
	template := certificate(subject)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return keyPair{}, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return keyPair{}, err
	}
	return keyPair{certificate: encode("CERTIFICATE", der), key: encode("EC PRIVATE KEY", keyDER)}, nil
}

func certificate(subject pkix.Name) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      subject,
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(lifetime),
	}
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// proxyName is who the API server is to API servers that it aggregates.
const proxyName = "front-proxy"

// writeKeys makes the cluster's keys: the authority, the serving pair of all
// components, the API server's as a proxy, the key of service account tokens,
// and a kubeconfig for each client.
func (s *state) writeKeys() error {
	ca, err := newAuthority()
	if err != nil {
		return fmt.Errorf("certificate authority: %w", err)
	}
	if err := os.MkdirAll(s.path(keysDir), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(s.path(caFile), ca.pem, 0o600); err != nil {
		return err
	}
	for name, files := range map[string]struct{ certificate, key string }{
		"localhost":        {servingCertFile, servingKeyFile},
		proxyName:          {proxyCertFile, proxyKeyFile},
		"service-accounts": {accountsCertFile, accountsKeyFile},
	} {
		pair, err := ca.sign(pkix.Name{CommonName: name})
		if err != nil {
			return fmt.Errorf("certificate of %s: %w", name, err)
		}
		if err := errors.Join(
			os.WriteFile(s.path(files.certificate), pair.certificate, 0o600),
			os.WriteFile(s.path(files.key), pair.key, 0o600),
		); err != nil {
			return err
		}
	}
	for file, subject := range identities {
		pair, err := ca.sign(subject)
		if err != nil {
			return fmt.Errorf("certificate of %s: %w", subject.CommonName, err)
		}
		user := &clientcmdapi.AuthInfo{ClientCertificateData: pair.certificate, ClientKeyData: pair.key}
		if err := s.writeKubeconfig(s.path(file), subject.CommonName, user); err != nil {
			return err
		}
	}
	return nil
}

// writeKubeconfig writes a kubeconfig for one user of this cluster.
func (s *state) writeKubeconfig(file, name string, user *clientcmdapi.AuthInfo) error {
	ca, err := os.ReadFile(s.path(caFile))
	if err != nil {
		return err
	}
	cluster := "lws-" + s.Options.Name
	config := clientcmdapi.NewConfig()
	config.Clusters[cluster] = &clientcmdapi.Cluster{Server: s.url(), CertificateAuthorityData: ca}
	config.AuthInfos[name] = user
	config.Contexts[cluster] = &clientcmdapi.Context{Cluster: cluster, AuthInfo: name}
	config.CurrentContext = cluster
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	return clientcmd.WriteToFile(*config, file)
}
