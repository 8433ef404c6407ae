package main

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

// connection is how the API server is reached, and the manager's own namespace,
// where its Lease, Secret and Service are.
type connection struct {
	rest      *rest.Config
	namespace string
}

// connect finds the API server: by the file, else by $KUBECONFIG, else by the
// credentials that Kubernetes gives a pod.
func connect(kubeconfig string, configuration *configv1.Configuration) (*connection, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{})
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("find the API server: %w", err)
	}
	namespace := configuration.LeaderElection.ResourceNamespace
	if namespace == "" {
		if namespace, _, err = loader.Namespace(); err != nil {
			return nil, fmt.Errorf("find the manager's namespace: %w", err)
		}
	}
	config.QPS = *configuration.ClientConnection.QPS
	config.Burst = int(*configuration.ClientConnection.Burst)
	config.UserAgent = "disaggregatedset-manager/" + buildVersion()
	return &connection{rest: config, namespace: namespace}, nil
}
