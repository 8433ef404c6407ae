package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset"
)

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=disaggregatedsets.disaggregatedset.x-k8s.io;disaggregatedsetrolescalers.disaggregatedset.x-k8s.io;leaderworkersets.leaderworkerset.x-k8s.io,verbs=get

// How long after a look at a definition the next one follows, and how long a look may
// take: one that hangs must not stand for what has been served since.
const (
	firstLook   = time.Second
	lastLook    = 10 * time.Second
	lookTimeout = 10 * time.Second
)

// startup brings the manager up step by step: the webhooks once there is a
// certificate, the controller once the API server has the schema of its kinds, its
// work once LeaderWorkerSets are served. Until then the process lives, and its
// readiness says what is missing.
type startup struct {
	mgr           ctrl.Manager
	configuration *configv1.Configuration
	definitions   rest.Interface
	certificate   *certificateSource
	schema        *gate
	// leaderWorkerSets is open once they are served.
	leaderWorkerSets *gate
	caches           *gate
	webhooks         healthz.Checker
	// trace is told of rollouts; nil if no traces are sent.
	trace func(disaggregatedset.Span)
}

func newStartup(mgr ctrl.Manager, c *configv1.Configuration, certificate *certificateSource, webhooks healthz.Checker) *startup {
	return &startup{
		mgr:              mgr,
		configuration:    c,
		certificate:      certificate,
		schema:           newGate("the CustomResourceDefinitions were not looked at yet"),
		leaderWorkerSets: newGate("CustomResourceDefinition " + leaderWorkerSetDefinition().name + " was not looked at yet"),
		caches:           newGate("the caches are not filled yet"),
		webhooks:         webhooks,
	}
}

// setup adds the steps and the readiness checks to the manager.
func (s *startup) setup(ctx context.Context) error {
	if err := s.startTraces(ctx); err != nil {
		return err
	}
	client, err := discovery.NewDiscoveryClientForConfigAndClient(s.mgr.GetConfig(), s.mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client of definitions: %w", err)
	}
	s.definitions = client.RESTClient()
	steps := []func(context.Context) error{s.startControllers, s.startWebhooks, s.awaitLeaderWorkerSets}
	for _, step := range steps {
		if err := s.mgr.Add(everyReplica{step}); err != nil {
			return err
		}
	}
	return setupHealth(ctx, s.mgr, s.configuration.Health, readiness{
		{"schema", s.schema.check},
		{"leaderworkersets", s.leaderWorkerSets.check},
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
	s.trace = sender.send
	return s.mgr.Add(everyReplica{sender.flush})
}

// startControllers waits for the schema, adds the controller, and waits for what
// it reads.
func (s *startup) startControllers(ctx context.Context) error {
	if !s.await(ctx, s.schema, ownDefinitions()...) {
		return nil
	}
	if err := setupControllers(ctx, s.mgr, s.configuration, s.leaderWorkerSets, s.trace); err != nil {
		return err
	}
	if s.mgr.GetCache().WaitForCacheSync(ctx) {
		s.caches.open()
	}
	return nil
}

// startWebhooks waits for a certificate and for the kinds, and serves the webhooks.
func (s *startup) startWebhooks(ctx context.Context) error {
	for _, g := range []*gate{s.certificate.loaded, s.schema} {
		select {
		case <-ctx.Done():
			return nil
		case <-g.opened:
		}
	}
	return setupWebhooks(s.mgr)
}

func (s *startup) awaitLeaderWorkerSets(ctx context.Context) error {
	s.await(ctx, s.leaderWorkerSets, leaderWorkerSetDefinition())
	return nil
}

// await looks at definitions until they are what the manager needs, opens the gate
// and says so; false if the context ends before. What is wrong is logged when it
// changes.
func (s *startup) await(ctx context.Context, g *gate, definitions ...definition) bool {
	backoff := wait.Backoff{Duration: firstLook, Factor: 2, Steps: 10, Cap: lastLook}
	err := backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		for _, d := range definitions {
			if err := s.checkDefinition(ctx, d); err != nil {
				say := g.close
				if errors.Is(err, errUnread) {
					say = g.doubt
				}
				if say("%v", err) && ctx.Err() == nil {
					log.FromContext(ctx).Info("waiting for a CustomResourceDefinition", "reason", err.Error())
				}
				return false, nil
			}
		}
		g.open()
		return true, nil
	})
	return err == nil
}

// errUnread is that of a definition which says nothing about the definition.
var errUnread = errors.New("get CustomResourceDefinition")

// checkDefinition says what keeps the manager from working with a definition. What
// could not be found out is errUnread, and says nothing about it.
func (s *startup) checkDefinition(ctx context.Context, d definition) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	data, err := s.definitions.Get().
		AbsPath("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + d.name).
		Do(ctx).Raw()
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("CustomResourceDefinition %s does not exist: apply the CustomResourceDefinitions of release %s",
			d.name, buildVersion())
	case err != nil:
		return fmt.Errorf("%w %s: %w", errUnread, d.name, err)
	}
	if err := d.check(data); err != nil {
		return err
	}
	return s.checkServed(ctx, d)
}

// checkServed says whether a kind is served, which it is a moment after its definition
// is established. The API server is asked about this group alone: that it does not
// answer for another one, or not now, is nothing that is known of this one.
func (s *startup) checkServed(ctx context.Context, d definition) error {
	resource, group, _ := strings.Cut(d.name, ".")
	data, err := s.definitions.Get().AbsPath("/apis/" + group + "/" + definitionVersion).Do(ctx).Raw()
	var served metav1.APIResourceList
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("%w %s: resources of %s: %w", errUnread, d.name, group, err)
	default:
		if err := json.Unmarshal(data, &served); err != nil {
			return fmt.Errorf("%w %s: resources of %s: %w", errUnread, d.name, group, err)
		}
	}
	if slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == resource }) {
		return nil
	}
	return fmt.Errorf("the API server does not serve %s yet", d.name)
}
