package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LeaderWorkerSet runs a number of identical groups of pods. Each group has one
// leader pod and a fixed number of worker pods that are created, rolled out,
// restarted and deleted together: the unit of a model server or a training job
// that spans several nodes.
//
// +genclient
// +genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale
// +genclient:method=UpdateScale,verb=update,subresource=scale,input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=leaderworkersets,singular=leaderworkerset,shortName=lws,categories=all
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.hpaPodSelector
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`,description="Groups that are ready"
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`,description="Groups that are wanted"
// +kubebuilder:printcolumn:name="Up-to-date",type=integer,JSONPath=`.status.updatedReplicas`,description="Groups of the update revision"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.summary`,description="Reason of the condition that matters now"
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.leaderWorkerTemplate.size`,priority=1,description="Pods of a group"
// +kubebuilder:printcolumn:name="Identity",type=string,JSONPath=`.spec.groupIdentity`,priority=1,description="How groups are named"
// +kubebuilder:printcolumn:name="Restarts",type=integer,JSONPath=`.status.groupRestarts`,priority=1,description="Recreations of groups that are counted"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label that begins with a letter: lower case letters, digits and -",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || [size(self.metadata.name)].all(n, self.spec.groupIdentity == 'Hash' ? n <= (self.spec.leaderWorkerTemplate.size > 1 ? 43 : 54) : self.spec.leaderWorkerTemplate.size > 1 ? n <= 44 || (n <= 50 && self.spec.replicas + (type(self.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge) == int ? [self.spec.replicas, int(self.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge)].min() : self.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.matches('^(100|[1-9]?[0-9])%$') ? (self.spec.replicas * int(self.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.split('%')[0]) + 99) / 100 : 0) <= [1000000, 100000, 10000, 1000, 100, 10][n - 45]) : n <= 52)",message="metadata.name is too long for the names that are made from it: at most 52 characters with size 1, else 51 less the digits of the highest group index (replicas + maxSurge - 1); with groupIdentity Hash at most 54 with size 1, else 43",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule="[size(self.metadata.name)].all(n, self.spec.groupIdentity == 'Hash' ? n <= (self.spec.leaderWorkerTemplate.size > 1 ? 43 : 54) : self.spec.leaderWorkerTemplate.size > 1 ? n <= 44 || (n <= 50 && self.spec.replicas + (type(self.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge) == int ? [self.spec.replicas, int(self.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge)].min() : self.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.matches('^(100|[1-9]?[0-9])%$') ? (self.spec.replicas * int(self.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.split('%')[0]) + 99) / 100 : 0) <= [1000000, 100000, 10000, 1000, 100, 10][n - 45]) : n <= 52) || (self.spec.groupIdentity == oldSelf.spec.groupIdentity && (self.spec.leaderWorkerTemplate.size == 1 || oldSelf.spec.leaderWorkerTemplate.size > 1) && self.spec.replicas + (type(self.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge) == int ? [self.spec.replicas, int(self.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge)].min() : self.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.matches('^(100|[1-9]?[0-9])%$') ? (self.spec.replicas * int(self.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.split('%')[0]) + 99) / 100 : 0) <= oldSelf.spec.replicas + (type(oldSelf.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge) == int ? [oldSelf.spec.replicas, int(oldSelf.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge)].min() : oldSelf.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.matches('^(100|[1-9]?[0-9])%$') ? (oldSelf.spec.replicas * int(oldSelf.spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge.split('%')[0]) + 99) / 100 : 0))",message="metadata.name is too long for the names that are made from it: at most 52 characters with size 1, else 51 less the digits of the highest group index (replicas + maxSurge - 1); with groupIdentity Hash at most 54 with size 1, else 43"
type LeaderWorkerSet struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object. The name of a set is the
	// first part of the names of all its objects and of its pods' host names: it
	// is a DNS label that begins with a letter, and short enough for the names
	// that are made from it.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the set.
	// +required
	// +kubebuilder:validation:XValidation:rule="self.groupIdentity == oldSelf.groupIdentity",message="is immutable",fieldPath=".groupIdentity",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="has(self.leaderWorkerTemplate.subGroupPolicy) == has(oldSelf.leaderWorkerTemplate.subGroupPolicy)",message="can neither be added nor removed",fieldPath=".leaderWorkerTemplate.subGroupPolicy",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="!oldSelf.leaderWorkerTemplate.?subGroupPolicy.?subGroupSize.hasValue() || !has(self.leaderWorkerTemplate.subGroupPolicy) || self.leaderWorkerTemplate.?subGroupPolicy.?subGroupSize == oldSelf.leaderWorkerTemplate.?subGroupPolicy.?subGroupSize",message="is immutable",fieldPath=".leaderWorkerTemplate.subGroupPolicy.subGroupSize",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="self.leaderWorkerTemplate.size == oldSelf.leaderWorkerTemplate.size || !has(self.leaderWorkerTemplate.subGroupPolicy) || !has(self.leaderWorkerTemplate.subGroupPolicy.subGroupSize) || self.leaderWorkerTemplate.subGroupPolicy.subGroupSize < 1 || (self.leaderWorkerTemplate.subGroupPolicy.subGroupSize <= self.leaderWorkerTemplate.size && (((self.leaderWorkerTemplate.size - 1) % self.leaderWorkerTemplate.subGroupPolicy.subGroupSize == 0) || (self.leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType != 'LeaderExcluded' && self.leaderWorkerTemplate.size % self.leaderWorkerTemplate.subGroupPolicy.subGroupSize == 0)))",message="cannot be divided into the subgroups of subGroupPolicy, whose subGroupSize is immutable",fieldPath=".leaderWorkerTemplate.size"
	// +kubebuilder:validation:XValidation:rule="(has(self.leaderWorkerTemplate.volumeClaimTemplates) ? size(self.leaderWorkerTemplate.volumeClaimTemplates) : 0) == (has(oldSelf.leaderWorkerTemplate.volumeClaimTemplates) ? size(oldSelf.leaderWorkerTemplate.volumeClaimTemplates) : 0)",message="is immutable",fieldPath=".leaderWorkerTemplate.volumeClaimTemplates",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="(has(self.leaderWorkerTemplate.volumeClaimTemplates) ? size(self.leaderWorkerTemplate.volumeClaimTemplates) : 0) != (has(oldSelf.leaderWorkerTemplate.volumeClaimTemplates) ? size(oldSelf.leaderWorkerTemplate.volumeClaimTemplates) : 0) || (has(self.leaderWorkerTemplate.volumeClaimTemplates) ? size(self.leaderWorkerTemplate.volumeClaimTemplates) : 0) == 0 || self.leaderWorkerTemplate.volumeClaimTemplates.all(i, c, [?c.?metadata] == [?oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].?metadata] && [?c.?spec.?accessModes] == [?oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].?spec.?accessModes] && [?c.?spec.?dataSource] == [?oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].?spec.?dataSource] && [?c.?spec.?dataSourceRef] == [?oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].?spec.?dataSourceRef] && [?c.?spec.?selector] == [?oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].?spec.?selector] && [?c.?spec.?storageClassName] == [?oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].?spec.?storageClassName] && [?c.?spec.?volumeAttributesClassName] == [?oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].?spec.?volumeAttributesClassName] && [?c.?spec.?volumeMode] == [?oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].?spec.?volumeMode] && [?c.?spec.?volumeName] == [?oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].?spec.?volumeName])",message="is immutable",fieldPath=".leaderWorkerTemplate.volumeClaimTemplates",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="(has(self.leaderWorkerTemplate.volumeClaimTemplates) ? size(self.leaderWorkerTemplate.volumeClaimTemplates) : 0) != (has(oldSelf.leaderWorkerTemplate.volumeClaimTemplates) ? size(oldSelf.leaderWorkerTemplate.volumeClaimTemplates) : 0) || (has(self.leaderWorkerTemplate.volumeClaimTemplates) ? size(self.leaderWorkerTemplate.volumeClaimTemplates) : 0) == 0 || self.leaderWorkerTemplate.volumeClaimTemplates.all(i, c, [?c.?spec.?resources] == [?oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].?spec.?resources] || ([?c.?spec.?resources.?limits] == [?oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].?spec.?resources.?limits] && has(c.spec) && has(c.spec.resources) && has(c.spec.resources.requests) && 'storage' in c.spec.resources.requests && has(oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].spec) && has(oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].spec.resources) && has(oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].spec.resources.requests) && 'storage' in oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].spec.resources.requests && type(c.spec.resources.requests['storage']) == string && isQuantity(c.spec.resources.requests['storage']) && type(oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].spec.resources.requests['storage']) == string && isQuantity(oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].spec.resources.requests['storage']) && quantity(c.spec.resources.requests['storage']).compareTo(quantity(oldSelf.leaderWorkerTemplate.volumeClaimTemplates[i].spec.resources.requests['storage'])) == 0))",message="is immutable",fieldPath=".leaderWorkerTemplate.volumeClaimTemplates",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="self.replicas > 0 || !((self.rolloutStrategy.rollingUpdateConfiguration.maxUnavailable == 0 || self.rolloutStrategy.rollingUpdateConfiguration.maxUnavailable == '0%') && (self.rolloutStrategy.rollingUpdateConfiguration.maxSurge == 0 || self.rolloutStrategy.rollingUpdateConfiguration.maxSurge == '0%'))",message="maxUnavailable and maxSurge cannot both be zero: nothing could ever be replaced",fieldPath=".rolloutStrategy.rollingUpdateConfiguration.maxUnavailable"
	// +kubebuilder:validation:XValidation:rule="has(self.scheduling) == has(oldSelf.scheduling)",message="can neither be added nor removed",fieldPath=".scheduling",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="!has(self.scheduling) || !has(oldSelf.scheduling) || (has(self.scheduling.schedulingPolicy) || has(self.scheduling.schedulingConstraints) || has(self.scheduling.disruptionMode)) == (has(oldSelf.scheduling.schedulingPolicy) || has(oldSelf.scheduling.schedulingConstraints) || has(oldSelf.scheduling.disruptionMode)) && (has(self.scheduling.replica) && (has(self.scheduling.replica.leader) || has(self.scheduling.replica.worker))) == (has(oldSelf.scheduling.replica) && (has(oldSelf.scheduling.replica.leader) || has(oldSelf.scheduling.replica.worker))) && ((has(self.scheduling.replica) && (has(self.scheduling.replica.schedulingConstraints) || has(self.scheduling.replica.disruptionMode))) || (has(self.scheduling.replica) && has(self.scheduling.replica.schedulingPolicy)) || !(has(self.scheduling.schedulingPolicy) || has(self.scheduling.schedulingConstraints) || has(self.scheduling.disruptionMode) || has(self.scheduling.replica) && (has(self.scheduling.replica.leader) || has(self.scheduling.replica.worker)))) == ((has(oldSelf.scheduling.replica) && (has(oldSelf.scheduling.replica.schedulingConstraints) || has(oldSelf.scheduling.replica.disruptionMode))) || (has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.schedulingPolicy)) || !(has(oldSelf.scheduling.schedulingPolicy) || has(oldSelf.scheduling.schedulingConstraints) || has(oldSelf.scheduling.disruptionMode) || has(oldSelf.scheduling.replica) && (has(oldSelf.scheduling.replica.leader) || has(oldSelf.scheduling.replica.worker))))",message="the level of scheduling cannot change",fieldPath=".scheduling",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="!has(self.scheduling) || !has(oldSelf.scheduling) || (has(self.scheduling.schedulingPolicy) && has(self.scheduling.schedulingPolicy.gang)) == (has(oldSelf.scheduling.schedulingPolicy) && has(oldSelf.scheduling.schedulingPolicy.gang)) && (has(self.scheduling.schedulingConstraints)) == (has(oldSelf.scheduling.schedulingConstraints)) && (!(has(self.scheduling.schedulingConstraints)) || !(has(oldSelf.scheduling.schedulingConstraints)) || self.scheduling.schedulingConstraints == oldSelf.scheduling.schedulingConstraints) && (has(self.scheduling.disruptionMode)) == (has(oldSelf.scheduling.disruptionMode)) && (!(has(self.scheduling.disruptionMode)) || !(has(oldSelf.scheduling.disruptionMode)) || self.scheduling.disruptionMode == oldSelf.scheduling.disruptionMode)",message="schedulingPolicy, schedulingConstraints and disruptionMode are immutable",fieldPath=".scheduling",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="!has(self.scheduling) || !has(oldSelf.scheduling) || (has(self.scheduling.replica) && has(self.scheduling.replica.schedulingPolicy) && has(self.scheduling.replica.schedulingPolicy.basic)) == (has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.schedulingPolicy) && has(oldSelf.scheduling.replica.schedulingPolicy.basic)) && (has(self.scheduling.replica) && has(self.scheduling.replica.schedulingConstraints)) == (has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.schedulingConstraints)) && (!(has(self.scheduling.replica) && has(self.scheduling.replica.schedulingConstraints)) || !(has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.schedulingConstraints)) || self.scheduling.replica.schedulingConstraints == oldSelf.scheduling.replica.schedulingConstraints) && (has(self.scheduling.replica) && has(self.scheduling.replica.disruptionMode)) == (has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.disruptionMode)) && (!(has(self.scheduling.replica) && has(self.scheduling.replica.disruptionMode)) || !(has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.disruptionMode)) || self.scheduling.replica.disruptionMode == oldSelf.scheduling.replica.disruptionMode)",message="schedulingPolicy, schedulingConstraints and disruptionMode are immutable",fieldPath=".scheduling.replica",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="!has(self.scheduling) || !has(oldSelf.scheduling) || (has(self.scheduling.replica) && has(self.scheduling.replica.leader) && has(self.scheduling.replica.leader.schedulingPolicy) && has(self.scheduling.replica.leader.schedulingPolicy.gang)) == (has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.leader) && has(oldSelf.scheduling.replica.leader.schedulingPolicy) && has(oldSelf.scheduling.replica.leader.schedulingPolicy.gang)) && (has(self.scheduling.replica) && has(self.scheduling.replica.leader) && has(self.scheduling.replica.leader.schedulingConstraints)) == (has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.leader) && has(oldSelf.scheduling.replica.leader.schedulingConstraints)) && (!(has(self.scheduling.replica) && has(self.scheduling.replica.leader) && has(self.scheduling.replica.leader.schedulingConstraints)) || !(has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.leader) && has(oldSelf.scheduling.replica.leader.schedulingConstraints)) || self.scheduling.replica.leader.schedulingConstraints == oldSelf.scheduling.replica.leader.schedulingConstraints) && (has(self.scheduling.replica) && has(self.scheduling.replica.leader) && has(self.scheduling.replica.leader.disruptionMode)) == (has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.leader) && has(oldSelf.scheduling.replica.leader.disruptionMode)) && (!(has(self.scheduling.replica) && has(self.scheduling.replica.leader) && has(self.scheduling.replica.leader.disruptionMode)) || !(has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.leader) && has(oldSelf.scheduling.replica.leader.disruptionMode)) || self.scheduling.replica.leader.disruptionMode == oldSelf.scheduling.replica.leader.disruptionMode) && (has(self.scheduling.replica) && has(self.scheduling.replica.leader) && has(self.scheduling.replica.leader.resourceClaims)) == (has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.leader) && has(oldSelf.scheduling.replica.leader.resourceClaims)) && (!(has(self.scheduling.replica) && has(self.scheduling.replica.leader) && has(self.scheduling.replica.leader.resourceClaims)) || !(has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.leader) && has(oldSelf.scheduling.replica.leader.resourceClaims)) || self.scheduling.replica.leader.resourceClaims == oldSelf.scheduling.replica.leader.resourceClaims)",message="is immutable, but for schedulingPolicy.gang.minCount",fieldPath=".scheduling.replica.leader",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="!has(self.scheduling) || !has(oldSelf.scheduling) || (has(self.scheduling.replica) && has(self.scheduling.replica.worker) && has(self.scheduling.replica.worker.schedulingPolicy) && has(self.scheduling.replica.worker.schedulingPolicy.gang)) == (has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.worker) && has(oldSelf.scheduling.replica.worker.schedulingPolicy) && has(oldSelf.scheduling.replica.worker.schedulingPolicy.gang)) && (has(self.scheduling.replica) && has(self.scheduling.replica.worker) && has(self.scheduling.replica.worker.schedulingConstraints)) == (has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.worker) && has(oldSelf.scheduling.replica.worker.schedulingConstraints)) && (!(has(self.scheduling.replica) && has(self.scheduling.replica.worker) && has(self.scheduling.replica.worker.schedulingConstraints)) || !(has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.worker) && has(oldSelf.scheduling.replica.worker.schedulingConstraints)) || self.scheduling.replica.worker.schedulingConstraints == oldSelf.scheduling.replica.worker.schedulingConstraints) && (has(self.scheduling.replica) && has(self.scheduling.replica.worker) && has(self.scheduling.replica.worker.disruptionMode)) == (has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.worker) && has(oldSelf.scheduling.replica.worker.disruptionMode)) && (!(has(self.scheduling.replica) && has(self.scheduling.replica.worker) && has(self.scheduling.replica.worker.disruptionMode)) || !(has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.worker) && has(oldSelf.scheduling.replica.worker.disruptionMode)) || self.scheduling.replica.worker.disruptionMode == oldSelf.scheduling.replica.worker.disruptionMode) && (has(self.scheduling.replica) && has(self.scheduling.replica.worker) && has(self.scheduling.replica.worker.resourceClaims)) == (has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.worker) && has(oldSelf.scheduling.replica.worker.resourceClaims)) && (!(has(self.scheduling.replica) && has(self.scheduling.replica.worker) && has(self.scheduling.replica.worker.resourceClaims)) || !(has(oldSelf.scheduling.replica) && has(oldSelf.scheduling.replica.worker) && has(oldSelf.scheduling.replica.worker.resourceClaims)) || self.scheduling.replica.worker.resourceClaims == oldSelf.scheduling.replica.worker.resourceClaims)",message="is immutable, but for schedulingPolicy.gang.minCount",fieldPath=".scheduling.replica.worker",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="!has(self.scheduling) || !has(self.leaderWorkerTemplate.workerTemplate.spec) || !has(oldSelf.leaderWorkerTemplate.workerTemplate.spec) || (has(self.leaderWorkerTemplate.workerTemplate.spec.priorityClassName) == has(oldSelf.leaderWorkerTemplate.workerTemplate.spec.priorityClassName) && (!has(self.leaderWorkerTemplate.workerTemplate.spec.priorityClassName) || self.leaderWorkerTemplate.workerTemplate.spec.priorityClassName == oldSelf.leaderWorkerTemplate.workerTemplate.spec.priorityClassName))",message="is immutable with spec.scheduling",fieldPath=".leaderWorkerTemplate.workerTemplate.spec.priorityClassName",reason=FieldValueForbidden
	Spec LeaderWorkerSetSpec `json:"spec"`

	// status is the observed state of the set. lws-manager writes it.
	// +optional
	Status LeaderWorkerSetStatus `json:"status"`
}

// LeaderWorkerSetList is a list of LeaderWorkerSets.
//
// +kubebuilder:object:root=true
type LeaderWorkerSetList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of a list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the LeaderWorkerSets.
	// +required
	Items []LeaderWorkerSet `json:"items"`
}

// LeaderWorkerSetTemplateSpec is the template of a LeaderWorkerSet.
type LeaderWorkerSetTemplateSpec struct {
	// metadata has the labels and annotations of the LeaderWorkerSets made from the
	// template. Can change at any time, without a rollout.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the LeaderWorkerSets made from the template. All
	// fields can change. In a role of a DisaggregatedSet replicas is the number of
	// groups in each slice, and rolloutStrategy bounds the rollout of the role in a
	// slice.
	// +required
	Spec LeaderWorkerSetSpec `json:"spec"`
}

// LeaderWorkerSetSpec is the desired state of a LeaderWorkerSet.
//
// +kubebuilder:validation:XValidation:rule="self.replicas * self.leaderWorkerTemplate.size <= 2147483647",message="replicas x leaderWorkerTemplate.size must not be more than 2147483647",fieldPath=".replicas"
// +kubebuilder:validation:XValidation:rule="self.groupIdentity != 'Hash' || !has(self.leaderWorkerTemplate.volumeClaimTemplates) || size(self.leaderWorkerTemplate.volumeClaimTemplates) == 0",message="cannot be set with groupIdentity Hash, whose groups never come back under the same name",fieldPath=".leaderWorkerTemplate.volumeClaimTemplates",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="self.groupIdentity != 'Hash' || !has(self.rolloutStrategy.rollingUpdateConfiguration.partition) || self.rolloutStrategy.rollingUpdateConfiguration.partition <= 0",message="must be absent or 0 with groupIdentity Hash, whose groups have no order",fieldPath=".rolloutStrategy.rollingUpdateConfiguration.partition",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="self.groupReplacementPolicy != 'Immediate' || self.groupIdentity == 'Hash'",message="Immediate needs groupIdentity Hash",fieldPath=".groupReplacementPolicy",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="self.replicas == 0 || !(has(self.rolloutStrategy.rollingUpdateConfiguration.maxUnavailable) && has(self.rolloutStrategy.rollingUpdateConfiguration.maxSurge) && (self.rolloutStrategy.rollingUpdateConfiguration.maxUnavailable == 0 || self.rolloutStrategy.rollingUpdateConfiguration.maxUnavailable == '0%') && (self.rolloutStrategy.rollingUpdateConfiguration.maxSurge == 0 || self.rolloutStrategy.rollingUpdateConfiguration.maxSurge == '0%'))",message="maxUnavailable and maxSurge cannot both be zero: nothing could ever be replaced",fieldPath=".rolloutStrategy.rollingUpdateConfiguration.maxUnavailable"
// +kubebuilder:validation:XValidation:rule="!has(self.scheduling) || !(has(self.scheduling.replica) && (has(self.scheduling.replica.leader) || has(self.scheduling.replica.worker))) || self.leaderWorkerTemplate.size > 1",message="leader and worker need a leaderWorkerTemplate.size of at least 2",fieldPath=".scheduling.replica"
// +kubebuilder:validation:XValidation:rule="!has(self.scheduling) || !has(self.scheduling.replica) || !has(self.scheduling.replica.worker) || !has(self.scheduling.replica.worker.schedulingPolicy) || !has(self.scheduling.replica.worker.schedulingPolicy.gang) || !has(self.scheduling.replica.worker.schedulingPolicy.gang.minCount) || self.scheduling.replica.worker.schedulingPolicy.gang.minCount == self.leaderWorkerTemplate.size - 1",message="must be leaderWorkerTemplate.size-1 or absent",fieldPath=".scheduling.replica.worker.schedulingPolicy.gang.minCount"
// +kubebuilder:validation:XValidation:rule="!has(self.scheduling) || self.startupPolicy != 'LeaderReady' || ![self.scheduling].exists(s, (has(s.schedulingPolicy) && has(s.schedulingPolicy.gang)) || (has(s.replica) && has(s.replica.schedulingPolicy) ? has(s.replica.schedulingPolicy.gang) : (has(s.replica) && (has(s.replica.schedulingConstraints) || has(s.replica.disruptionMode))) || !(has(s.schedulingPolicy) || has(s.schedulingConstraints) || has(s.disruptionMode) || has(s.replica) && (has(s.replica.leader) || has(s.replica.worker)))))",message="LeaderReady cannot work with a gang of leader and workers: they wait for each other",fieldPath=".startupPolicy",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.scheduling) || !has(self.leaderWorkerTemplate.workerTemplate.spec) || !has(self.leaderWorkerTemplate.workerTemplate.spec.schedulingGroup)",message="cannot be set with spec.scheduling, which sets it",fieldPath=".leaderWorkerTemplate.workerTemplate.spec.schedulingGroup",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.scheduling) || !has(self.leaderWorkerTemplate.leaderTemplate) || !has(self.leaderWorkerTemplate.leaderTemplate.spec) || !has(self.leaderWorkerTemplate.leaderTemplate.spec.schedulingGroup)",message="cannot be set with spec.scheduling, which sets it",fieldPath=".leaderWorkerTemplate.leaderTemplate.spec.schedulingGroup",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.scheduling) || !has(self.leaderWorkerTemplate.leaderTemplate) || !has(self.leaderWorkerTemplate.leaderTemplate.spec) || !has(self.leaderWorkerTemplate.workerTemplate.spec) || (has(self.leaderWorkerTemplate.leaderTemplate.spec.priorityClassName) == has(self.leaderWorkerTemplate.workerTemplate.spec.priorityClassName) && (!has(self.leaderWorkerTemplate.leaderTemplate.spec.priorityClassName) || self.leaderWorkerTemplate.leaderTemplate.spec.priorityClassName == self.leaderWorkerTemplate.workerTemplate.spec.priorityClassName))",message="must be that of workerTemplate with spec.scheduling",fieldPath=".leaderWorkerTemplate.leaderTemplate.spec.priorityClassName"
// +kubebuilder:validation:XValidation:rule="!has(self.scheduling) || !((has(self.leaderWorkerTemplate.placementPolicy) && self.leaderWorkerTemplate.placementPolicy.type == 'ExclusiveTopology') || (has(self.leaderWorkerTemplate.subGroupPolicy) && has(self.leaderWorkerTemplate.subGroupPolicy.placementPolicy) && self.leaderWorkerTemplate.subGroupPolicy.placementPolicy.type == 'ExclusiveTopology')) || ![self.scheduling].exists(s, (has(s.schedulingPolicy) && has(s.schedulingPolicy.gang)) || (has(s.replica) && has(s.replica.schedulingPolicy) ? has(s.replica.schedulingPolicy.gang) : (has(s.replica) && (has(s.replica.schedulingConstraints) || has(s.replica.disruptionMode))) || !(has(s.schedulingPolicy) || has(s.schedulingConstraints) || has(s.disruptionMode) || has(s.replica) && (has(s.replica.leader) || has(s.replica.worker)))) || (has(s.replica) && has(s.replica.leader) && (has(s.replica.leader.schedulingPolicy) && has(s.replica.leader.schedulingPolicy.gang))) || (has(s.replica) && has(s.replica.worker) && (has(s.replica.worker.schedulingPolicy) && has(s.replica.worker.schedulingPolicy.gang))) || has(s.schedulingConstraints) || (has(s.replica) && has(s.replica.schedulingConstraints)) || (has(s.replica) && has(s.replica.leader) && has(s.replica.leader.schedulingConstraints)) || (has(s.replica) && has(s.replica.worker) && has(s.replica.worker.schedulingConstraints)))",message="a gang or a topology constraint cannot be combined with exclusive placement",fieldPath=".scheduling",reason=FieldValueForbidden
type LeaderWorkerSetSpec struct {
	// replicas is the number of groups. Each has leaderWorkerTemplate.size pods, so
	// the set has replicas x size pods; the product is at most 2147483647.
	// Defaults to 1. Can change at any time, also with the scale subresource and
	// so with a HorizontalPodAutoscaler, whose metrics are those of the leaders.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Replicas *int32 `json:"replicas,omitempty"`

	// leaderWorkerTemplate describes the pods of a group and what happens when
	// one of them fails. A change of what shapes pods starts a rollout.
	// +required
	LeaderWorkerTemplate LeaderWorkerTemplate `json:"leaderWorkerTemplate"`

	// rolloutStrategy is how groups are replaced when what shapes pods changes.
	// Can change at any time; a running rollout follows it.
	// +optional
	// +kubebuilder:default={}
	RolloutStrategy RolloutStrategy `json:"rolloutStrategy,omitzero"`

	// startupPolicy is when the workers of a group are created: LeaderCreated, as
	// soon as the leader is admitted, or LeaderReady, when the containers of the
	// leader are ready. Defaults to LeaderCreated. Can change at any time, without
	// a rollout; it holds for groups that start later.
	// +optional
	// +kubebuilder:default=LeaderCreated
	StartupPolicy StartupPolicyType `json:"startupPolicy,omitempty"`

	// networkConfig is how pods find each other by name. A change starts a rollout.
	// +optional
	// +kubebuilder:default={}
	NetworkConfig *NetworkConfig `json:"networkConfig,omitempty"`

	// groupIdentity is how groups are named: Ordinal, by an index from 0, as the
	// pods of a StatefulSet, or Hash, by a random key, as the pods of a
	// Deployment: then scaling down removes groups that are not ready first, and a
	// group that is replaced gets a new name. Hash excludes volumeClaimTemplates
	// and a partition. Defaults to Ordinal. Immutable on a LeaderWorkerSet.
	// +optional
	// +kubebuilder:default=Ordinal
	GroupIdentity GroupIdentityType `json:"groupIdentity,omitempty"`

	// groupReplacementPolicy is when the replacement of a group may start:
	// PostTermination, when no pod of the old group is left, or Immediate, at
	// once, beside the old group while that terminates; this needs spare capacity
	// and groupIdentity Hash. Defaults to PostTermination. Can change at any time,
	// without a rollout.
	// +optional
	// +kubebuilder:default=PostTermination
	GroupReplacementPolicy GroupReplacementPolicyType `json:"groupReplacementPolicy,omitempty"`

	// podTerminationPolicy is how the pods of a group end when the group is
	// deleted, scaled away or rolled out: Sequential, first the leader and, when it
	// is gone, the workers, or Parallel, all at once, which halves the time when
	// pods have long grace periods. Defaults to Sequential. Can change at any time,
	// without a rollout.
	// +optional
	// +kubebuilder:default=Sequential
	PodTerminationPolicy PodTerminationPolicyType `json:"podTerminationPolicy,omitempty"`

	// scheduling lets the scheduler place pods as gangs, all or none, with
	// workload-aware scheduling of Kubernetes (1.37 and later). It needs the
	// feature gate WorkloadAwareScheduling of lws-manager and the scheduler
	// provider kubernetes. Absent, pods are scheduled one by one; {} makes a gang
	// of each group. It can neither be added to nor removed from an existing
	// LeaderWorkerSet.
	// +optional
	Scheduling *LeaderWorkerSetScheduling `json:"scheduling,omitempty"`
}

// StartupPolicyType is when the workers of a group are created.
// +kubebuilder:validation:Enum=LeaderCreated;LeaderReady
type StartupPolicyType string

const (
	// LeaderCreatedStartupPolicy creates the workers as soon as the leader is admitted.
	LeaderCreatedStartupPolicy StartupPolicyType = "LeaderCreated"

	// LeaderReadyStartupPolicy creates the workers when the leader's containers are ready.
	LeaderReadyStartupPolicy StartupPolicyType = "LeaderReady"
)

// NetworkConfig is how the pods of a set find each other by name.
type NetworkConfig struct {
	// subdomainPolicy is the subdomain of the pods' host names: Shared, one
	// headless Service of the set's name for all groups, or UniquePerReplica, one
	// headless Service for each group, named as its leader. Defaults to Shared.
	// +optional
	// +kubebuilder:default=Shared
	SubdomainPolicy *SubdomainPolicy `json:"subdomainPolicy,omitempty"`
}

// SubdomainPolicy is which Service gives pods their subdomain.
// +kubebuilder:validation:Enum=Shared;UniquePerReplica
type SubdomainPolicy string

const (
	// SubdomainShared is one headless Service for the whole set.
	SubdomainShared SubdomainPolicy = "Shared"

	// SubdomainUniquePerReplica is one headless Service for each group.
	SubdomainUniquePerReplica SubdomainPolicy = "UniquePerReplica"
)

// GroupIdentityType defines how group identities are assigned.
// +kubebuilder:validation:Enum=Ordinal;Hash
type GroupIdentityType string

const (
	// OrdinalGroupIdentity names groups by an index from 0.
	OrdinalGroupIdentity GroupIdentityType = "Ordinal"

	// HashGroupIdentity names groups by a random key.
	HashGroupIdentity GroupIdentityType = "Hash"
)

// GroupReplacementPolicyType defines when a replacement group may start scheduling.
// +kubebuilder:validation:Enum=PostTermination;Immediate
type GroupReplacementPolicyType string

const (
	// PostTerminationGroupReplacement waits until nothing of the old group is left.
	PostTerminationGroupReplacement GroupReplacementPolicyType = "PostTermination"

	// ImmediateGroupReplacement waits for nothing.
	ImmediateGroupReplacement GroupReplacementPolicyType = "Immediate"
)

// PodTerminationPolicyType defines how the pods of a group end.
// +kubebuilder:validation:Enum=Sequential;Parallel
type PodTerminationPolicyType string

const (
	// SequentialPodTermination ends the leader first and then the workers.
	SequentialPodTermination PodTerminationPolicyType = "Sequential"

	// ParallelPodTermination ends all pods at once.
	ParallelPodTermination PodTerminationPolicyType = "Parallel"
)
