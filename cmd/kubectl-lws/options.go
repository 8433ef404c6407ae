package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset"
)

// Requests are few, but come at once.
const (
	requestsPerSecond = 50
	requestBurst      = 100
)

// options are what all verbs have in common: the flags of kubectl that say which
// cluster, as whom and which namespace.
type options struct {
	streams

	now       clock.PassiveClock
	loading   *clientcmd.ClientConfigLoadingRules
	overrides clientcmd.ConfigOverrides

	// cluster is connected to once.
	cluster client.Client
}

func newOptions(s streams, now clock.PassiveClock) *options {
	return &options{streams: s, now: now, loading: clientcmd.NewDefaultClientConfigLoadingRules()}
}

func (o *options) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.loading.ExplicitPath, clientcmd.RecommendedConfigPathFlag, "", "path to the kubeconfig file")
	clientcmd.BindOverrideFlags(&o.overrides, flags, clientcmd.RecommendedConfigOverrideFlags(""))
}

// connect returns the cluster and the namespace that is meant.
func (o *options) connect() (client.Client, string, error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(o.loading, &o.overrides)
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig: %w", err)
	}
	if o.cluster != nil {
		return o.cluster, namespace, nil
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("kubeconfig: %w", err)
	}
	config.QPS, config.Burst = requestsPerSecond, requestBurst
	scheme, err := newScheme()
	if err != nil {
		return nil, "", err
	}
	o.cluster, err = client.New(config, client.Options{Scheme: scheme})
	return o.cluster, namespace, err
}

// view is a set and who explains it.
type view struct {
	set       *lwsv1.LeaderWorkerSet
	explainer *leaderworkerset.Explainer
}

// look reads a set of the namespace of the options, or of another one.
func (o *options) look(ctx context.Context, name, namespace string) (*view, error) {
	reader, usual, err := o.connect()
	if err != nil {
		return nil, err
	}
	if namespace == "" {
		namespace = usual
	}
	key := types.NamespacedName{Namespace: namespace, Name: name}
	set := &lwsv1.LeaderWorkerSet{}
	if err := reader.Get(ctx, key, set); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("there is no LeaderWorkerSet %s in namespace %s; kubectl get leaderworkersets -A lists all: %w",
				name, namespace, err)
		}
		return nil, fmt.Errorf("LeaderWorkerSet %s: %w", key, err)
	}
	source, err := newSnapshot(reader, set)
	if err != nil {
		return nil, err
	}
	var pods corev1.PodList
	if err := source.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	gangs, err := visible(ctx, source, providerOf(set, pods.Items))
	if err != nil {
		return nil, err
	}
	explainer, err := leaderworkerset.NewExplainer(ctx, source, gangs, o.now)
	return &view{set, explainer}, err
}

// explain reads a set and what the manager makes of it.
func (o *options) explain(ctx context.Context, name string) (*leaderworkerset.Explanation, error) {
	seen, err := o.look(ctx, name, "")
	if err != nil {
		return nil, err
	}
	return seen.explainer.Explain(ctx, seen.set)
}
