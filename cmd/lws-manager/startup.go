package main

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log"
	registry "sigs.k8s.io/controller-runtime/pkg/metrics"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	v1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/metrics"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=leaderworkersets.leaderworkerset.x-k8s.io,verbs=get

// How long after a look at the definition the next one follows.
const (
	firstLook = time.Second
	lastLook  = 10 * time.Second
)

// startup brings the manager up step by step: the webhooks once there is a
// certificate, the controllers once the API server has the right schema. Until
// then the process lives, and its readiness says what is missing.
type startup struct {
	mgr           ctrl.Manager
	configuration *configv1.Configuration
	gangs         provider
	served        scheduling.Discovery
	definitions   rest.Interface
	certificate   *certificateSource
	schema        *gate
	caches        *gate
	webhooks      healthz.Checker
	metrics       *metrics.Metrics
}

func newStartup(
	mgr ctrl.Manager, c *configv1.Configuration, gangs provider, certificate *certificateSource, webhooks healthz.Checker,
) *startup {
	return &startup{
		mgr:           mgr,
		configuration: c,
		gangs:         gangs,
		certificate:   certificate,
		schema:        newGate("CustomResourceDefinition " + definitionName + " was not looked at yet"),
		caches:        newGate("the caches are not filled yet"),
		webhooks:      webhooks,
		metrics:       metrics.New(),
	}
}

// setup adds the steps and the readiness checks to the manager.
func (s *startup) setup(ctx context.Context) error {
	if err := s.startTraces(ctx); err != nil {
		return err
	}
	if err := s.metrics.Register(registry.Registry); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	client, err := discovery.NewDiscoveryClientForConfigAndClient(s.mgr.GetConfig(), s.mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client of definitions: %w", err)
	}
	s.definitions, s.served = client.RESTClient(), client
	for _, step := range []func(context.Context) error{s.startControllers, s.startWebhooks} {
		if err := s.mgr.Add(everyReplica{step}); err != nil {
			return err
		}
	}
	return setupHealth(ctx, s.mgr, s.configuration.Health, readiness{
		{"schema", s.schema.check},
		{"caches", s.caches.check},
		{"certificate", s.certificate.ready},
		{"webhooks", s.webhooks},
	})
}

// startTraces sends traces if the configuration wants them.
func (s *startup) startTraces(ctx context.Context) error {
	if s.configuration.Tracing == nil {
		return nil
	}
	sender, err := newTraces(ctx, s.configuration.Tracing)
	if err != nil {
		return err
	}
	s.metrics.Trace(sender.send)
	return s.mgr.Add(everyReplica{sender.flush})
}

// startControllers waits for the schema, adds the controllers, and waits for what
// they read.
func (s *startup) startControllers(ctx context.Context) error {
	if !s.awaitSchema(ctx) {
		return nil
	}
	watch, err := setupControllers(ctx, s.mgr, s.configuration, s.gangs, s.metrics)
	if err != nil {
		return err
	}
	if !s.mgr.GetCache().WaitForCacheSync(ctx) {
		return nil
	}
	return watchScheduling(ctx, s.served, s.gangs, watch, s.caches.open)
}

// startWebhooks waits for a certificate and serves the webhooks with it.
func (s *startup) startWebhooks(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.certificate.loaded.opened:
	}
	return setupWebhooks(s.mgr, s.gangs, s.metrics)
}

// awaitSchema looks at the CustomResourceDefinition until it is what the manager
// was built for, or the context ends. What is wrong with it is logged when it
// changes.
func (s *startup) awaitSchema(ctx context.Context) bool {
	backoff := wait.Backoff{Duration: firstLook, Factor: 2, Steps: 10, Cap: lastLook}
	err := backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := s.checkSchema(ctx)
		if err == nil {
			s.schema.open()
			return true, nil
		}
		if s.schema.close("%v", err) && ctx.Err() == nil {
			log.FromContext(ctx).Info("waiting for the schema", "reason", err.Error())
		}
		return false, nil
	})
	return err == nil
}

func (s *startup) checkSchema(ctx context.Context) error {
	data, err := s.definitions.Get().
		AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + definitionName).
		Do(ctx).Raw()
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("CustomResourceDefinition %s does not exist: apply the CustomResourceDefinitions of release %s",
			definitionName, buildVersion())
	case err != nil:
		return fmt.Errorf("get CustomResourceDefinition %s: %w", definitionName, err)
	}
	if err := checkDefinition(data); err != nil {
		return err
	}
	return s.checkServed()
}

// checkServed says whether sets can be read yet: the API server serves a definition
// that is new some moments after it has accepted it.
func (s *startup) checkServed() error {
	kind := v1.GroupVersion.WithKind(v1.Kind)
	if _, err := s.mgr.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version); err != nil {
		return fmt.Errorf("CustomResourceDefinition %s is not served yet: %w", definitionName, err)
	}
	return nil
}
