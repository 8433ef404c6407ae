package main

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

func TestTrusts(t *testing.T) {
	trust := []byte("trust")
	full := webhookConfiguration{webhooks: []webhookTrust{{name: "a", bundle: trust}, {name: "b", bundle: trust}}}
	half := webhookConfiguration{webhooks: []webhookTrust{{name: "a", bundle: trust}, {name: "b"}}}
	if !trusts([]webhookConfiguration{full}, trust) {
		t.Error("all webhooks have it, and yet it is not trusted")
	}
	if trusts([]webhookConfiguration{full, half}, trust) {
		t.Error("one webhook lacks it, and yet it is trusted")
	}
	if trusts(nil, nil) {
		t.Error("nothing is trusted by nobody")
	}
}

func TestCalledHost(t *testing.T) {
	tests := map[string]struct {
		called admissionv1.WebhookClientConfig
		want   string
	}{
		"a service":  {admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "home", Name: "webhooks"}}, "webhooks.home.svc"},
		"an address": {admissionv1.WebhookClientConfig{URL: new("https://localhost:9443/mutate")}, "localhost"},
		"no address": {admissionv1.WebhookClientConfig{URL: new("https://local host/")}, ""},
		"nothing":    {admissionv1.WebhookClientConfig{}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := calledHost(test.called); got != test.want {
				t.Errorf("called as %q, want %q", got, test.want)
			}
		})
	}
}

// pairOf is the certificate of a Secret.
func pairOf(t *testing.T, data map[string][]byte) *tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(data[certificateKey], data[privateKey])
	if err != nil {
		t.Fatal(err)
	}
	return &pair
}

func TestCheckTrust(t *testing.T) {
	data := mustRenew(t, nil, renewal{authority: true}, start)
	other := mustRenew(t, nil, renewal{authority: true}, start)
	trust, served := data[trustKey], pairOf(t, data)
	both := append(append([]byte{}, other[trustKey]...), trust...)
	host := namesUnderTest[0]
	tests := map[string]struct {
		webhooks []webhookTrust
		served   *tls.Certificate
		after    time.Duration
		want     string
	}{
		"by its authority":      {webhooks: []webhookTrust{{"a", trust, host}, {"b", trust, namesUnderTest[1]}}, served: served},
		"by one of several":     {webhooks: []webhookTrust{{"a", both, host}}, served: served},
		"no authority yet":      {webhooks: []webhookTrust{{"a", trust, host}, {"b", nil, host}}, served: served, want: "webhook b of validating: nobody has written a caBundle yet: x509: "},
		"another authority":     {webhooks: []webhookTrust{{"a", other[trustKey], host}}, served: served, want: "webhook a of validating: x509: certificate signed by unknown authority"},
		"something else":        {webhooks: []webhookTrust{{"a", []byte("Cg=="), host}}, served: served, want: "unknown authority"},
		"called as another":     {webhooks: []webhookTrust{{"a", trust, "elsewhere.home.svc"}}, served: served, want: "not elsewhere.home.svc"},
		"ended":                 {webhooks: []webhookTrust{{"a", trust, host}}, served: served, after: certificateLife + backdate, want: "expired"},
		"no certificate at all": {webhooks: []webhookTrust{{"a", trust, host}}, served: &tls.Certificate{}, want: "there is no certificate yet"},
		"no webhooks":           {served: served},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			configuration := &admissionv1.ValidatingWebhookConfiguration{}
			configuration.Name = "validating"
			err := checkTrust([]webhookConfiguration{{object: configuration, webhooks: test.webhooks}}, test.served, start.Add(test.after))
			switch {
			case test.want == "" && err != nil:
				t.Errorf("not trusted: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, want it to say %q", err, test.want)
			}
		})
	}
}
