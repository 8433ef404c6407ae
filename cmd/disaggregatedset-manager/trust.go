package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// webhookConfiguration is what mutating and validating configurations have in common.
type webhookConfiguration struct {
	object client.Object
	// webhooks are the names in their order, with the trust that each has now.
	webhooks []webhookTrust
}

type webhookTrust struct {
	name   string
	bundle []byte
	// host is the name that the API server wants to find in the certificate.
	host string
}

func newWebhookTrust(name string, called admissionv1.WebhookClientConfig) webhookTrust {
	return webhookTrust{name: name, bundle: called.CABundle, host: calledHost(called)}
}

// calledHost is the host that a webhook is called as, which is empty for what the API
// server would not have accepted.
func calledHost(called admissionv1.WebhookClientConfig) string {
	if called.Service != nil {
		return called.Service.Name + "." + called.Service.Namespace + ".svc"
	}
	if called.URL == nil {
		return ""
	}
	address, err := url.Parse(*called.URL)
	if err != nil {
		return ""
	}
	return address.Hostname()
}

// readConfigurations reads both webhook configurations.
func readConfigurations(ctx context.Context, reader client.Reader) ([]webhookConfiguration, error) {
	mutating, validating := &admissionv1.MutatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfiguration{}
	if err := reader.Get(ctx, types.NamespacedName{Name: mutatingConfiguration}, mutating); err != nil {
		return nil, fmt.Errorf("get MutatingWebhookConfiguration %s: %w", mutatingConfiguration, err)
	}
	if err := reader.Get(ctx, types.NamespacedName{Name: validatingConfiguration}, validating); err != nil {
		return nil, fmt.Errorf("get ValidatingWebhookConfiguration %s: %w", validatingConfiguration, err)
	}
	read := []webhookConfiguration{{object: mutating}, {object: validating}}
	for i := range mutating.Webhooks {
		w := &mutating.Webhooks[i]
		read[0].webhooks = append(read[0].webhooks, newWebhookTrust(w.Name, w.ClientConfig))
	}
	for i := range validating.Webhooks {
		w := &validating.Webhooks[i]
		read[1].webhooks = append(read[1].webhooks, newWebhookTrust(w.Name, w.ClientConfig))
	}
	return read, nil
}

// trusts says whether every webhook is called with this trust.
func trusts(configurations []webhookConfiguration, trust []byte) bool {
	for _, configuration := range configurations {
		for _, webhook := range configuration.webhooks {
			if !bytes.Equal(webhook.bundle, trust) {
				return false
			}
		}
	}
	return len(trust) > 0
}

// published is all trust that any webhook has.
func published(configurations []webhookConfiguration) []byte {
	var all []byte
	for _, configuration := range configurations {
		for _, webhook := range configuration.webhooks {
			all = append(append(all, webhook.bundle...), '\n')
		}
	}
	return all
}

// checkTrust says of which webhook the API server would refuse the certificate, as it
// refuses it: by the authorities of the webhook, or those of the system if it has none.
func checkTrust(configurations []webhookConfiguration, served *tls.Certificate, now time.Time) error {
	leaf, intermediates, err := chain(served)
	if err != nil {
		return err
	}
	for _, configuration := range configurations {
		for _, webhook := range configuration.webhooks {
			if err := webhook.check(leaf, intermediates, now); err != nil {
				return fmt.Errorf("the API server does not trust the certificate: webhook %s of %s: %w",
					webhook.name, configuration.object.GetName(), err)
			}
		}
	}
	return nil
}

func (w webhookTrust) check(leaf *x509.Certificate, intermediates *x509.CertPool, now time.Time) error {
	_, err := leaf.Verify(w.verification(intermediates, now))
	if err != nil && len(w.bundle) == 0 {
		return fmt.Errorf("nobody has written a caBundle yet: %w", err)
	}
	return err
}

// verification is how the API server verifies the certificate of a webhook.
func (w webhookTrust) verification(intermediates *x509.CertPool, now time.Time) x509.VerifyOptions {
	options := x509.VerifyOptions{DNSName: w.host, Intermediates: intermediates, CurrentTime: now}
	if len(w.bundle) > 0 {
		options.Roots = x509.NewCertPool()
		options.Roots.AppendCertsFromPEM(w.bundle)
	}
	return options
}

// chain is a certificate with those that came with it.
func chain(served *tls.Certificate) (*x509.Certificate, *x509.CertPool, error) {
	if len(served.Certificate) == 0 {
		return nil, nil, errors.New("there is no certificate yet")
	}
	intermediates := x509.NewCertPool()
	for _, data := range served.Certificate[1:] {
		certificate, err := x509.ParseCertificate(data)
		if err != nil {
			return nil, nil, fmt.Errorf("the certificate's chain cannot be used: %w", err)
		}
		intermediates.AddCert(certificate)
	}
	leaf, err := x509.ParseCertificate(served.Certificate[0])
	return leaf, intermediates, err
}
