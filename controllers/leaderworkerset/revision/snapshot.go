package revision

import (
	"bytes"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Spec is what a revision holds, with the defaults of our own fields and without
// live fields.
type Spec struct {
	LeaderWorkerTemplate lwsv1.LeaderWorkerTemplate
	NetworkConfig        lwsv1.NetworkConfig
}

// Of is what a revision of the set as it is now holds.
func Of(set *lwsv1.LeaderWorkerSet) *Spec {
	return newSpec(set.Spec.LeaderWorkerTemplate.DeepCopy(), set.Spec.NetworkConfig)
}

// Snapshot serialises what shapes the set's pods: a strategic merge patch that
// replaces template and network configuration. Keys are sorted, so that the same
// spec always gives the same bytes, which are those of the earlier releases.
func Snapshot(set *lwsv1.LeaderWorkerSet) ([]byte, error) {
	policy := lwsv1.SubdomainPolicyOf(set.Spec.NetworkConfig)
	template, err := replacement(set.Spec.LeaderWorkerTemplate)
	if err != nil {
		return nil, fmt.Errorf("leaderWorkerTemplate: %w", err)
	}
	network, err := replacement(lwsv1.NetworkConfig{SubdomainPolicy: &policy})
	if err != nil {
		return nil, fmt.Errorf("networkConfig: %w", err)
	}
	return json.Marshal(map[string]any{
		"spec": map[string]any{"leaderWorkerTemplate": template, "networkConfig": network},
	})
}

// replacement is a value as a JSON object with the directive that makes a
// strategic merge patch replace it as a whole. It goes through a map, so that keys
// are sorted at every level.
func replacement(value any) (map[string]any, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	fields := map[string]any{}
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	fields["$patch"] = "replace"
	return fields, nil
}

// Restore reads a revision. It reads what any release stored; fields that did not
// exist then have their defaults.
func Restore(revision *appsv1.ControllerRevision) (*Spec, error) {
	var stored struct {
		Spec *struct {
			LeaderWorkerTemplate *lwsv1.LeaderWorkerTemplate `json:"leaderWorkerTemplate"`
			NetworkConfig        *lwsv1.NetworkConfig        `json:"networkConfig"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(revision.Data.Raw, &stored); err != nil {
		return nil, fmt.Errorf("revision %s/%s: %w", revision.Namespace, revision.Name, err)
	}
	if stored.Spec == nil || stored.Spec.LeaderWorkerTemplate == nil {
		return nil, fmt.Errorf("revision %s/%s: no leaderWorkerTemplate in its data", revision.Namespace, revision.Name)
	}
	return newSpec(stored.Spec.LeaderWorkerTemplate, stored.Spec.NetworkConfig), nil
}

// newSpec takes over the template.
func newSpec(template *lwsv1.LeaderWorkerTemplate, network *lwsv1.NetworkConfig) *Spec {
	template.RestartPolicy = ""
	template.MaxGroupRestarts = nil
	template.RestartBackoff = nil
	template.PersistentVolumeClaimRetentionPolicy = nil

	size, policy := lwsv1.Size(template), lwsv1.SubdomainPolicyOf(network)
	template.Size = &size
	if subGroupSize, kind, ok := lwsv1.SubGroups(template); ok {
		template.SubGroupPolicy.SubGroupSize = &subGroupSize
		template.SubGroupPolicy.Type = &kind
	} else {
		template.SubGroupPolicy = nil
	}
	return &Spec{
		LeaderWorkerTemplate: *template,
		NetworkConfig:        lwsv1.NetworkConfig{SubdomainPolicy: &policy},
	}
}
