package managers

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
	"sigs.k8s.io/lws/e2e/cluster/controlplane"
)

const (
	// servingReplica is the replica whose webhooks are called.
	servingReplica    = "0"
	configurationFile = "configuration.yaml"
)

// ServesAt is the port that the webhooks of a manager are called at, whoever started it.
func (s Shipped) ServesAt(cluster *controlplane.Cluster) (int, error) {
	data, err := os.ReadFile(filepath.Join(cluster.Dir(), stateDir, s.Name, servingReplica, configurationFile))
	if err != nil {
		return 0, fmt.Errorf("%s was not started: %w", s.Name, err)
	}
	var c configv1.Configuration
	if err := yaml.Unmarshal(data, &c); err != nil {
		return 0, fmt.Errorf("configuration of %s: %w", s.Name, err)
	}
	if c.Webhook.Port == nil {
		return 0, fmt.Errorf("the configuration of %s names no port", s.Name)
	}
	return int(*c.Webhook.Port), nil
}
