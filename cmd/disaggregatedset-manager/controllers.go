package main

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset"
	"sigs.k8s.io/lws/controllers/disaggregatedset/webhook"
)

// setConcurrency is how many sets are worked on at the same time, unless configured.
const setConcurrency = 4

// setKind is what the configuration calls sets where it says how many are worked on.
var setKind = dsv1.GroupKind(dsv1.Kind).String()

// setupControllers adds the controller to the manager. It works when
// LeaderWorkerSets are served, and until then says on its sets that they are not.
func setupControllers(
	ctx context.Context, mgr ctrl.Manager, c *configv1.Configuration, leaderWorkerSets *gate, trace func(disaggregatedset.Span),
) error {
	return disaggregatedset.Setup(ctx, mgr, disaggregatedset.Options{
		Unserved:    leaderWorkerSets.closedFor,
		Served:      leaderWorkerSets.opened,
		Concurrency: concurrency(c, setKind, setConcurrency),
		Trace:       trace,
	})
}

// setupWebhooks adds the webhooks to the manager.
func setupWebhooks(mgr ctrl.Manager) error {
	return webhook.Setup(mgr)
}

// concurrency is what the configuration says of a kind, or the default.
func concurrency(c *configv1.Configuration, kind string, otherwise int) int {
	if c.Controller != nil && c.Controller.GroupKindConcurrency[kind] > 0 {
		return c.Controller.GroupKindConcurrency[kind]
	}
	return otherwise
}
