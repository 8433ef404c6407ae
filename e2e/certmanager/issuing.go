package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	requestsca "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	requestsselfsigned "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	"github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"         // registers the kind of issuer
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned" // registers the kind of issuer
	"golang.org/x/sync/errgroup"
)

// controllers are those that issue with the kinds of issuer that we ship.
var controllers = []string{
	issuers.ControllerName,
	trigger.ControllerName,
	keymanager.ControllerName,
	requestmanager.ControllerName,
	issuing.ControllerName,
	readiness.ControllerName,
	revisionmanager.ControllerName,
	approver.ControllerName,
	requestsselfsigned.CRControllerName,
	requestsca.CRControllerName,
}

// workers is how many of its objects each controller works on at a time, and the
// backoffs are how long a request that failed waits, all as cert-manager has it.
const (
	workers        = 5
	minimumBackoff = time.Hour
	maximumBackoff = 32 * time.Hour
)

// newIssuers makes the controllers and returns what runs them.
func newIssuers(ctx context.Context, kubeconfig, namespace string) (func(context.Context) error, error) {
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Kubeconfig: kubeconfig,
		Namespace:  namespace,
		CertificateOptions: controller.CertificateOptions{
			CertificateRequestMinimumBackoffDuration: minimumBackoff,
			CertificateRequestMaximumBackoffDuration: maximumBackoff,
		},
	})
	if err != nil {
		return nil, err
	}
	shared, err := factory.Build()
	if err != nil {
		return nil, err
	}
	made := map[string]controller.Interface{}
	for _, name := range controllers {
		if made[name], err = controller.Known()[name](factory); err != nil {
			return nil, fmt.Errorf("make controller %s: %w", name, err)
		}
	}
	return func(ctx context.Context) error {
		shared.SharedInformerFactory.Start(ctx.Done())
		shared.KubeSharedInformerFactory.Start(ctx.Done())
		group, ctx := errgroup.WithContext(ctx)
		for _, c := range made {
			group.Go(func() error { return c.Run(workers, ctx) })
		}
		return group.Wait()
	}, nil
}
