package main

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

// setupControllers adds the controllers to the manager.
func setupControllers(ctx context.Context, mgr ctrl.Manager, c *configv1.Configuration) error {
	return nil
}

// setupWebhooks adds the webhooks to the manager.
func setupWebhooks(mgr ctrl.Manager, c *configv1.Configuration) error {
	return nil
}
