package main

import (
	"context"
	"net"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

// certificateSource is where the servers get their certificate from: from the
// manager itself, or from files that somebody else keeps fresh.
type certificateSource struct {
	getCertificate getCertificate
	setup          func(ctrl.Manager) error
	// loaded is open once there is a certificate to serve, ready says whether the API
	// server trusts it.
	loaded *gate
	ready  healthz.Checker
}

func newCertificateSource(c *configv1.Configuration, namespace string) *certificateSource {
	if *c.InternalCertManagement.Enable {
		return internalCertificates(c, namespace)
	}
	files := newCertificateFiles(c.Webhook.CertDir)
	return &certificateSource{
		getCertificate: files.getCertificate,
		setup:          files.setup,
		loaded:         files.loaded,
		ready:          files.check,
	}
}

func internalCertificates(c *configv1.Configuration, namespace string) *certificateSource {
	own := &certificates{
		clock:  clock.RealClock{},
		secret: types.NamespacedName{Namespace: namespace, Name: *c.InternalCertManagement.WebhookSecretName},
		names:  webhookNames(c, namespace),
		ready:  newGate("the webhooks' certificate is not there yet"),
	}
	return &certificateSource{
		getCertificate: own.getCertificate,
		loaded:         own.ready,
		ready:          own.ready.check,
		setup: func(mgr ctrl.Manager) error {
			own.client = mgr.GetClient()
			return setupCertificates(mgr, own)
		},
	}
}

// webhookNames are the names by which the API server calls the webhooks: those of
// the Service, and the host where the manager listens when that is a name.
func webhookNames(c *configv1.Configuration, namespace string) []string {
	service := *c.InternalCertManagement.WebhookServiceName + "." + namespace + ".svc"
	names := []string{service, service + ".cluster.local"}
	if host := c.Webhook.Host; host != "" && net.ParseIP(host) == nil {
		names = append(names, host)
	}
	return names
}

// everyReplica runs in every replica, not only in the one that holds the Lease.
type everyReplica struct {
	start func(context.Context) error
}

var _ manager.LeaderElectionRunnable = everyReplica{}

// Start runs until the context ends.
func (r everyReplica) Start(ctx context.Context) error {
	return r.start(ctx)
}

// NeedLeaderElection says that it does not.
func (everyReplica) NeedLeaderElection() bool {
	return false
}
