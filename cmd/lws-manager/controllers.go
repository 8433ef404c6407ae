package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	v1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/metrics"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
	"sigs.k8s.io/lws/controllers/leaderworkerset/webhook"
)

// How many sets and groups are worked on at the same time, unless configured.
const (
	setConcurrency   = 4
	groupConcurrency = 16
)

// What the configuration calls sets and groups where it says how many are worked on.
var (
	setKind   = v1.GroupVersion.WithKind(v1.Kind).GroupKind().String()
	groupKind = corev1.SchemeGroupVersion.WithKind("Pod").GroupKind().String()
)

// setupControllers adds the controllers to the manager.
// The function that it returns watches scheduling objects, once they are served.
func setupControllers(
	ctx context.Context, mgr ctrl.Manager, c *configv1.Configuration, gangs provider, measured *metrics.Metrics,
) (watchScheduling func() error, err error) {
	if err := measured.Follow(ctx, mgr.GetCache()); err != nil {
		return nil, err
	}
	if err := leaderworkerset.RegisterIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return nil, err
	}
	reports := group.NewReports()
	watchSets, err := leaderworkerset.Setup(mgr, leaderworkerset.Options{
		Reports:     reports,
		Metrics:     measured,
		Scheduling:  gangs,
		Concurrency: concurrency(c, setKind, setConcurrency),
	})
	if err != nil {
		return nil, err
	}
	watchGroups, err := group.Setup(mgr, group.Options{
		Reports:     reports,
		Metrics:     measured,
		Scheduling:  gangs,
		Concurrency: concurrency(c, groupKind, groupConcurrency),
	})
	if err != nil {
		return nil, err
	}
	return func() error {
		if err := scheduling.RegisterIndexes(ctx, mgr.GetFieldIndexer(), gangs.Kinds()); err != nil {
			return err
		}
		return errors.Join(watchSets(), watchGroups())
	}, nil
}

// setupWebhooks adds the webhooks to the manager.
func setupWebhooks(mgr ctrl.Manager, gangs provider, measured *metrics.Metrics) error {
	return webhook.Setup(mgr, gangs, measured)
}

// concurrency is what the configuration says of a kind, or the default.
func concurrency(c *configv1.Configuration, kind string, otherwise int) int {
	if c.Controller != nil && c.Controller.GroupKindConcurrency[kind] > 0 {
		return c.Controller.GroupKindConcurrency[kind]
	}
	return otherwise
}
