package sim

import (
	_ "embed"
	"fmt"
	"time"
)

//go:embed stages.yaml
var stages string

// KwokConfig is kwok's configuration file: its options and the Stages. Each
// node renews its Lease four times within heartbeat.
func KwokConfig(heartbeat time.Duration) string {
	return fmt.Sprintf(`apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  cidr: 10.128.0.1/9
  nodeIP: 10.0.0.1
  manageAllNodes: false
  manageNodesWithLabelSelector: %s=%s
  nodeLeaseDurationSeconds: %d
  nodeLeaseParallelism: 8
  podPlayStageParallelism: 8
  nodePlayStageParallelism: 4
  podsOnNodeSyncParallelism: 4
---
%s`, NodeTypeLabel, NodeTypeValue, int(heartbeat.Seconds()), stages)
}
