package revision

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
	"sigs.k8s.io/lws/controllers/disaggregatedset/placement"
)

// Meaning is what a role's pods are made of, as canonical JSON.
type Meaning json.RawMessage

// Equal says whether two roles mean the same pods.
func (m Meaning) Equal(other Meaning) bool { return bytes.Equal(m, other) }

// MeaningOf reads the spec of a role, or of a LeaderWorkerSet that was made from
// one.
func MeaningOf(spec *lwsv1.LeaderWorkerSetSpec) (Meaning, error) {
	shaping := Shaping(spec)
	strip(shaping.LeaderWorkerTemplate.LeaderTemplate)
	strip(&shaping.LeaderWorkerTemplate.WorkerTemplate)
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(shaping)
	if err != nil {
		return nil, fmt.Errorf("read a role: %w", err)
	}
	if err := roleShape.reduce(tree); err != nil {
		return nil, fmt.Errorf("read a role: %w", err)
	}
	meaning, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("write a role: %w", err)
	}
	return meaning, nil
}

// Shaping is a copy of what shapes pods in a spec: all but live fields.
func Shaping(spec *lwsv1.LeaderWorkerSetSpec) *lwsv1.LeaderWorkerSetSpec {
	shaping := &lwsv1.LeaderWorkerSetSpec{
		LeaderWorkerTemplate: *spec.LeaderWorkerTemplate.DeepCopy(),
		NetworkConfig:        spec.NetworkConfig.DeepCopy(),
		GroupIdentity:        spec.GroupIdentity,
		Scheduling:           spec.Scheduling.DeepCopy(),
	}
	template := &shaping.LeaderWorkerTemplate
	template.RestartPolicy = ""
	template.MaxGroupRestarts = nil
	template.RestartBackoff = nil
	template.PersistentVolumeClaimRetentionPolicy = nil
	return shaping
}

// strip takes out of a pod template what the manager adds to it.
func strip(template *corev1.PodTemplateSpec) {
	if template == nil {
		return
	}
	for label := range template.Labels {
		if identity.IsInjected(label) {
			delete(template.Labels, label)
		}
	}
	for _, containers := range [][]corev1.Container{template.Spec.InitContainers, template.Spec.Containers} {
		for i := range containers {
			containers[i].Env = userVariables(containers[i].Env)
		}
	}
	placement.Remove(&template.Spec)
}

func userVariables(variables []corev1.EnvVar) []corev1.EnvVar {
	var users []corev1.EnvVar
	for _, v := range variables {
		if !identity.IsVariable(v.Name) {
			users = append(users, v)
		}
	}
	return users
}

// Role is a role by name and meaning.
type Role struct {
	Name    string
	Meaning Meaning
}

// Hash names a revision of roles, in their order.
func Hash(roles []Role) string {
	sum := sha256.New()
	for _, r := range roles {
		fmt.Fprintf(sum, "%q:%s\n", r.Name, r.Meaning)
	}
	return hex.EncodeToString(sum.Sum(nil))[:identity.RevisionLength]
}
