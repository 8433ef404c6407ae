package children

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	lwsapply "sigs.k8s.io/lws/apis/applyconfiguration/leaderworkerset/v1"
	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
	"sigs.k8s.io/lws/controllers/disaggregatedset/revision"
)

// LeaderWorkerSet is one LeaderWorkerSet of a set, as it is to be.
type LeaderWorkerSet struct {
	Set *dsv1.DisaggregatedSet
	Key identity.Key
	// Role is nil when the spec no longer has the role.
	Role *dsv1.DisaggregatedRoleSpec
	// Live is nil when it is to be made.
	Live *lwsv1.LeaderWorkerSet
	// Meaning is that of the role, for a LeaderWorkerSet of the current revision;
	// an older one keeps its template in any case.
	Meaning revision.Meaning

	Replicas int
	Budget   Budget
	// Baseline is what an old revision was meant to have.
	Baseline *int
	// Ignored is the number in the spec of a role that does not follow it.
	Ignored *int
}

// Desired is the apply configuration, and whether it would change the live object.
func (c *LeaderWorkerSet) Desired() (*lwsapply.LeaderWorkerSetApplyConfiguration, bool, error) {
	spec, rebuilt, err := c.spec()
	if err != nil {
		return nil, false, err
	}
	config := lwsapply.LeaderWorkerSet(c.name(), c.Set.Namespace).
		WithLabels(c.labels()).
		WithAnnotations(c.annotations()).
		WithOwnerReferences(ownerReference(c.Set))
	if err := convert(spec, &config.Spec); err != nil {
		return nil, false, fmt.Errorf("LeaderWorkerSet %s: %w", c.name(), err)
	}
	if c.Live == nil {
		return config, true, nil
	}
	config.WithUID(c.Live.UID)
	differs := rebuilt || !liveFieldsEqual(spec, &c.Live.Spec) ||
		metadataDiffers(c.Live, c.Set, config.Labels, config.Annotations)
	return config, differs, nil
}

func (c *LeaderWorkerSet) name() string {
	if c.Live != nil {
		return c.Live.Name
	}
	return identity.LeaderWorkerSetName(c.Set.Name, c.Key)
}

// spec is what the live object has where that is right, and what the role says
// otherwise; rebuilt says that the template is the role's.
func (c *LeaderWorkerSet) spec() (*lwsv1.LeaderWorkerSetSpec, bool, error) {
	keeps, err := c.keepsTemplate()
	if err != nil {
		return nil, false, err
	}
	var spec *lwsv1.LeaderWorkerSetSpec
	if keeps {
		spec = revision.Shaping(&c.Live.Spec)
	} else {
		spec = revision.Shaping(&c.Role.Spec)
		inject(&spec.LeaderWorkerTemplate, c.Set, c.Key)
	}
	if c.Role == nil {
		copyLiveFields(&c.Live.Spec, spec)
	} else {
		copyLiveFields(&c.Role.Spec, spec)
		spec.RolloutStrategy = c.Budget.strategy()
	}
	if keeps {
		keepPossible(spec, &c.Live.Spec)
	}
	replicas := int32(c.Replicas)
	spec.Replicas = &replicas
	return spec, !keeps, nil
}

func (c *LeaderWorkerSet) keepsTemplate() (bool, error) {
	switch {
	case c.Live == nil:
		return false, nil
	case c.Role == nil || c.Meaning == nil:
		return true, nil
	}
	meaning, err := revision.MeaningOf(&c.Live.Spec)
	if err != nil {
		return false, fmt.Errorf("LeaderWorkerSet %s: %w", c.name(), err)
	}
	return meaning.Equal(c.Meaning) && isInjected(&c.Live.Spec.LeaderWorkerTemplate, c.Set.Name, c.Key), nil
}

func copyLiveFields(from, to *lwsv1.LeaderWorkerSetSpec) {
	from = from.DeepCopy()
	to.RolloutStrategy = from.RolloutStrategy
	to.StartupPolicy = from.StartupPolicy
	to.GroupReplacementPolicy = from.GroupReplacementPolicy
	to.PodTerminationPolicy = from.PodTerminationPolicy
	template := &to.LeaderWorkerTemplate
	template.RestartPolicy = from.LeaderWorkerTemplate.RestartPolicy
	template.MaxGroupRestarts = from.LeaderWorkerTemplate.MaxGroupRestarts
	template.RestartBackoff = from.LeaderWorkerTemplate.RestartBackoff
	template.PersistentVolumeClaimRetentionPolicy = from.LeaderWorkerTemplate.PersistentVolumeClaimRetentionPolicy
}

// keepPossible leaves a template of before the live fields that it has where those of
// the role go with another template only: the API server would refuse the pair, and
// with it the steps of the rollout.
func keepPossible(spec, live *lwsv1.LeaderWorkerSetSpec) {
	if spec.GroupReplacementPolicy == lwsv1.ImmediateGroupReplacement && spec.GroupIdentity != lwsv1.HashGroupIdentity {
		spec.GroupReplacementPolicy = live.GroupReplacementPolicy
	}
	if spec.StartupPolicy == lwsv1.LeaderReadyStartupPolicy && spec.Scheduling != nil {
		spec.StartupPolicy = live.StartupPolicy
	}
}

// liveFieldsEqual compares all but the template; an absent field is its default.
func liveFieldsEqual(a, b *lwsv1.LeaderWorkerSetSpec) bool {
	return equality.Semantic.DeepEqual(liveFields(a), liveFields(b))
}

func liveFields(spec *lwsv1.LeaderWorkerSetSpec) *lwsv1.LeaderWorkerSetSpec {
	fields := &lwsv1.LeaderWorkerSetSpec{}
	copyLiveFields(spec, fields)
	set := &lwsv1.LeaderWorkerSet{Spec: *spec}
	replicas := lwsv1.Replicas(set)
	fields.Replicas = &replicas
	fields.StartupPolicy = lwsv1.StartupPolicy(set)
	fields.PodTerminationPolicy = lwsv1.PodTerminationPolicy(set)
	if fields.GroupReplacementPolicy == "" {
		fields.GroupReplacementPolicy = lwsv1.PostTerminationGroupReplacement
	}
	if fields.LeaderWorkerTemplate.RestartPolicy == "" {
		fields.LeaderWorkerTemplate.RestartPolicy = lwsv1.RecreateGroupOnPodRestart
	}
	if fields.RolloutStrategy.Type == "" {
		fields.RolloutStrategy.Type = lwsv1.RollingUpdateStrategyType
	}
	return fields
}

func (c *LeaderWorkerSet) labels() map[string]string {
	labels := map[string]string{}
	if c.Role != nil {
		maps.Copy(labels, users(c.Role.Labels))
	}
	if c.Live == nil {
		maps.Copy(labels, identity.LeaderWorkerSetLabels(c.Set.Name, c.Key))
		return labels
	}
	maps.Copy(labels, identity.Labels(c.Set.Name, c.Key))
	// A release without slices had another value of app, or none.
	if app, ok := c.Live.Labels[dsv1.AppLabelKey]; ok {
		labels[dsv1.AppLabelKey] = app
	}
	return labels
}

// fixedAnnotations shape pods and cannot change on a LeaderWorkerSet: they follow
// with the next revision.
var fixedAnnotations = []string{lwsv1.ExclusiveTopologyAnnotationKey, lwsv1.SubGroupExclusiveTopologyAnnotationKey}

func (c *LeaderWorkerSet) annotations() map[string]string {
	annotations := map[string]string{}
	if c.Role != nil {
		maps.Copy(annotations, users(c.Role.Annotations))
	}
	if c.Ignored != nil {
		annotations[dsv1.IgnoredReplicasAnnotationKey] = strconv.Itoa(*c.Ignored)
	}
	if c.Baseline != nil {
		annotations[dsv1.InitialReplicasAnnotationKey] = strconv.Itoa(*c.Baseline)
	}
	if c.Live == nil {
		return annotations
	}
	for _, key := range fixedAnnotations {
		delete(annotations, key)
		if value, ok := c.Live.Annotations[key]; ok {
			annotations[key] = value
		}
	}
	return annotations
}

// users are the labels or annotations of a role that are not the manager's.
func users(keys map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range keys {
		if !strings.HasPrefix(key, dsv1.KeyPrefix) {
			out[key] = value
		}
	}
	return out
}

// convert makes an apply configuration of a typed value.
func convert(from, to any) error {
	encoded, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(encoded, to)
}
