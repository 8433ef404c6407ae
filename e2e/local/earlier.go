package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/lws/e2e/cluster/controlplane"
	"sigs.k8s.io/lws/e2e/earlier"
	"sigs.k8s.io/lws/e2e/managers"
)

// ours selects what the manifests of the managers make.
const (
	ours                  = "app.kubernetes.io/name in (lws, disaggregatedset)"
	webhookConfigurations = "mutatingwebhookconfigurations,validatingwebhookconfigurations"
)

// makeEarlier takes the managers and their webhooks out of the cluster and leaves in it
// what earlier releases leave. The next make up takes that over.
func makeEarlier(ctx context.Context, options controlplane.Options, out io.Writer) error {
	cluster, err := controlplane.Open(options.Dir, options.Name)
	if err != nil {
		return err
	}
	if err := managers.StopAll(cluster.Dir()); err != nil {
		return err
	}
	if _, err := managers.Kubectl(ctx, cluster, nil, "delete", webhookConfigurations, "--selector="+ours); err != nil {
		return err
	}
	config, err := cluster.RESTConfig()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	var errs []error
	for _, release := range earlier.Releases() {
		if err := release.Make(ctx, c); err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(out, "%s as %s left it\n", release.Set, release.Version)
	}
	return errors.Join(errs...)
}
