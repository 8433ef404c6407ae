package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/log"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
	"sigs.k8s.io/lws/controllers/leaderworkerset/webhook"
)

// provider has the pods of sets scheduled together.
type provider interface {
	leaderworkerset.Scheduling
	group.Scheduling
	webhook.Scheduling

	// AddToScheme registers the kinds of scheduling objects.
	AddToScheme(scheme *runtime.Scheme) error
	// SetProblem says why scheduling objects cannot be read; nil: they can.
	SetProblem(problem *scheduling.Problem)
}

// newProvider is the one that the configuration names.
func newProvider(c *configv1.Configuration) provider {
	enabled := c.FeatureGates[configv1.WorkloadAwareSchedulingGate]
	name := ""
	if gang := c.GangSchedulingManagement; gang != nil && gang.SchedulerProvider != nil {
		name = *gang.SchedulerProvider
	}
	switch name {
	case configv1.KubernetesSchedulerProvider:
		return scheduling.NewKubernetes(enabled, c.FeatureGates[configv1.CompositePodGroupGate])
	case configv1.VolcanoSchedulerProvider:
		return scheduling.NewVolcano(enabled)
	}
	return scheduling.NewNone(enabled)
}

// How long after a look at what the API server serves the next one follows.
const (
	firstAsk = 2 * time.Second
	lastAsk  = 30 * time.Second
)

// watchScheduling waits until the API server serves the scheduling objects of the
// provider and has them watched. Until then webhooks and sets say why not. Once it is
// known whether it does, the manager is ready.
func watchScheduling(
	ctx context.Context, discovery scheduling.Discovery, gangs provider, watch func() error, ready func(),
) error {
	if len(gangs.Kinds()) == 0 {
		ready()
		return nil
	}
	said := ""
	backoff := wait.Backoff{Duration: firstAsk, Factor: 2, Steps: 10, Cap: lastAsk}
	isServed := backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		text, isServed := checkServed(discovery, gangs, ready)
		if !isServed && text != said {
			log.FromContext(ctx).Info("Scheduling objects are not available yet", "reason", text)
			said = text
		}
		return isServed, nil
	}) == nil
	if !isServed {
		return nil // the context ends
	}
	if err := watch(); err != nil {
		return err
	}
	gangs.SetProblem(nil)
	ready()
	return nil
}

// checkServed looks once whether the scheduling objects of the provider are served. If
// it is known that they are not, and why, the manager is ready.
func checkServed(discovery scheduling.Discovery, gangs provider, ready func()) (why string, isServed bool) {
	problem, err := scheduling.CheckServed(discovery, gangs.Kinds())
	switch {
	case err != nil:
		return err.Error(), false
	case problem != nil:
		gangs.SetProblem(problem)
		ready()
		return problem.Message, false
	}
	return "", true
}
