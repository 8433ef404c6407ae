package v1

// KeyPrefix starts every label, annotation, gate and finalizer of this API.
// Keys under it are written by lws-manager unless they are listed as input.
const KeyPrefix = "leaderworkerset.sigs.k8s.io/"

// FieldManager is the name under which lws-manager applies objects.
const FieldManager = "lws"

// Labels.
const (
	// SetNameLabelKey holds the name of the set. On pods, StatefulSets,
	// Deployments, Services and ControllerRevisions.
	SetNameLabelKey = KeyPrefix + "name"

	// GroupIndexLabelKey holds the group: its ordinal with Ordinal identity, its
	// key with Hash identity. On pods, worker StatefulSets and per-group Services.
	GroupIndexLabelKey = KeyPrefix + "group-index"

	// GroupKeyLabelKey holds a key that no other group has. On pods and worker
	// StatefulSets.
	GroupKeyLabelKey = KeyPrefix + "group-key"

	// WorkerIndexLabelKey holds the index of the pod in its group, 0 for the
	// leader. On pods.
	WorkerIndexLabelKey = KeyPrefix + "worker-index"

	// RevisionLabelKey holds the hash of the revision. On pods, StatefulSets,
	// Deployments and ControllerRevisions.
	RevisionLabelKey = KeyPrefix + "template-revision-hash"

	// SubGroupIndexLabelKey holds the index of the pod's subgroup. On pods of
	// sets with subgroups.
	SubGroupIndexLabelKey = KeyPrefix + "subgroup-index"

	// SubGroupKeyLabelKey holds a key that only the members of one subgroup of
	// one group share. On pods of sets with subgroups.
	SubGroupKeyLabelKey = KeyPrefix + "subgroup-key"

	// SchedulingLevelLabelKey holds the level of spec.scheduling that a Workload
	// or PodGroup was made for.
	SchedulingLevelLabelKey = KeyPrefix + "scheduling-level"

	// SchedulingRoleLabelKey holds leader or worker. On PodGroups of the role level.
	SchedulingRoleLabelKey = KeyPrefix + "role"
)

// Annotations that lws-manager and its webhooks write.
const (
	// SizeAnnotationKey holds the number of pods of the group. On pods.
	SizeAnnotationKey = KeyPrefix + "size"

	// ReplicasAnnotationKey holds spec.replicas. On the leader StatefulSet.
	ReplicasAnnotationKey = KeyPrefix + "replicas"

	// RolloutBaselineAnnotationKey holds how many desired groups had a place when the
	// rollout in progress began. On the leader StatefulSet during a rollout only.
	RolloutBaselineAnnotationKey = KeyPrefix + "rollout-baseline"

	// LeaderPodNameAnnotationKey holds the name of the leader pod. On worker pods.
	LeaderPodNameAnnotationKey = KeyPrefix + "leader-name"

	// LeaderAddressAnnotationKey holds the DNS name of the leader. On worker pods
	// of sets with Hash identity.
	LeaderAddressAnnotationKey = KeyPrefix + "leader-address"

	// GroupIdentityAnnotationKey holds "Hash". On pods of sets with Hash identity.
	GroupIdentityAnnotationKey = KeyPrefix + "group-identity"

	// SubGroupSizeAnnotationKey holds the number of pods of a subgroup. On pods
	// of sets with subgroups.
	SubGroupSizeAnnotationKey = KeyPrefix + "subgroup-size"

	// SubGroupPolicyTypeAnnotationKey holds the type of the subgroup policy. On
	// pods of sets with subgroups.
	SubGroupPolicyTypeAnnotationKey = KeyPrefix + "subgroup-policy-type"

	// SubdomainPolicyAnnotationKey holds "UniquePerReplica". On leader pods of
	// sets with that subdomain policy.
	SubdomainPolicyAnnotationKey = KeyPrefix + "subdomainPolicy"

	// LeaderRequestsTPUsAnnotationKey is "true" when the leader asks for TPUs. On
	// pods.
	LeaderRequestsTPUsAnnotationKey = KeyPrefix + "leader-requests-tpus"

	// PodTerminationPolicyAnnotationKey holds "Parallel". On leader pods of such
	// sets, so that the policy holds after the set is gone; never in a template.
	PodTerminationPolicyAnnotationKey = KeyPrefix + "pod-termination-policy"

	// RestartPolicyAnnotationKey holds "None". On leader pods of such sets with Hash
	// identity or with groups of one pod, so that a manager that starts after a
	// change of the policy knows that what happened before is no failure; never in a
	// template. Otherwise the owner of the workers tells.
	RestartPolicyAnnotationKey = KeyPrefix + "restart-policy"

	// GroupMembersAnnotationKey is the memory of the whole group: a hash of its
	// members and their restarts at that time. On leader pods, written once.
	GroupMembersAnnotationKey = KeyPrefix + "group-members"

	// GroupRestartCountsAnnotationKey holds the recreations of each group of each
	// revision: {"<revision>/<group>": n}. On sets.
	GroupRestartCountsAnnotationKey = KeyPrefix + "group-restart-counts"

	// GroupRestartLeadersAnnotationKey holds the UID of the leader that each
	// count was last raised for: {"<revision>/<group>": "<uid>"}. On sets.
	GroupRestartLeadersAnnotationKey = KeyPrefix + "group-restart-leaders"

	// GroupRestartBudgetExhaustedAnnotationKey is "true" on the retained leader of
	// a group whose restart budget is spent.
	GroupRestartBudgetExhaustedAnnotationKey = KeyPrefix + "group-restart-budget-exhausted"

	// ReplacesAnnotationKey holds the key of the group that a gated leader
	// replaces. On leader pods of sets with Hash identity.
	ReplacesAnnotationKey = KeyPrefix + "replaces"

	// SchedulingTokenAnnotationKey holds the token in the names of a group's
	// PodGroups, drawn at admission of the leader. On pods of sets with Ordinal
	// identity and spec.scheduling.
	SchedulingTokenAnnotationKey = KeyPrefix + "scheduling-token"

	// SchedulingLevelAnnotationKey holds the level of spec.scheduling that a pod's
	// PodGroup is of. On pods of sets with spec.scheduling.
	SchedulingLevelAnnotationKey = KeyPrefix + "scheduling-level"
)

// Annotations that users write.
const (
	// ExclusiveTopologyAnnotationKey on a set names the node label whose value a
	// group has for itself. lws-manager repeats it on pods.
	ExclusiveTopologyAnnotationKey = KeyPrefix + "exclusive-topology"

	// SubGroupExclusiveTopologyAnnotationKey on a set names the node label whose
	// value a subgroup has for itself. lws-manager repeats it on pods.
	SubGroupExclusiveTopologyAnnotationKey = KeyPrefix + "subgroup-exclusive-topology"

	// RecoverAnnotationKey set to "true" on the retained leader of an exhausted
	// group lets the group start again with a fresh budget.
	RecoverAnnotationKey = KeyPrefix + "recover"

	// RecreateGroupAfterStartAnnotationKey set to "true" on a set with the restart
	// policy RecreateGroupOnPodRestart means RecreateGroupAfterStart.
	RecreateGroupAfterStartAnnotationKey = KeyPrefix + "experimental-recreate-group-after-start"

	// GangSchedulingAnnotationKey set to "true" on a set gives each of its groups a
	// PodGroup of Volcano although no pod template names volcano as its scheduler:
	// Volcano's scheduler may have another name.
	GangSchedulingAnnotationKey = KeyPrefix + "gang-scheduling"
)

// Annotations of workload-aware scheduling, written by the controller of a
// workload that contains the set.
const (
	// SchedulingGroupTemplateNameAnnotationKey names the template in the parent's
	// Workload that the set's PodGroups are made from.
	SchedulingGroupTemplateNameAnnotationKey = "scheduling.k8s.io/group-template-name"

	// SchedulingParentCompositePodGroupAnnotationKey names the parent's
	// CompositePodGroup.
	SchedulingParentCompositePodGroupAnnotationKey = "scheduling.k8s.io/parent-compositepodgroup"
)

// Gates and finalizers.
const (
	// GroupReplacementSchedulingGate is the scheduling gate of every leader at
	// birth: it waits for the predecessor of its group to be gone and for what
	// the group needs.
	GroupReplacementSchedulingGate = KeyPrefix + "group-replacement"

	// GroupReadyReadinessGate is the readiness gate, and the type of the pod
	// condition, of leaders of groups with Hash identity and workers: True when
	// all workers are ready.
	GroupReadyReadinessGate = KeyPrefix + "group-ready"

	// GroupRestartBudgetCleanupFinalizer retains the pods of an exhausted group.
	GroupRestartBudgetCleanupFinalizer = KeyPrefix + "group-restart-budget-cleanup"
)

// Environment variables in every container and init container.
const (
	// LeaderAddressEnvVar holds the DNS name of the leader.
	LeaderAddressEnvVar = "LWS_LEADER_ADDRESS"

	// GroupSizeEnvVar holds the number of pods of the group.
	GroupSizeEnvVar = "LWS_GROUP_SIZE"

	// WorkerIndexEnvVar holds the index of the pod in its group.
	WorkerIndexEnvVar = "LWS_WORKER_INDEX"
)

// Accelerators: the resource that containers ask for and the environment
// variables that such containers get.
const (
	// TPUResourceName is the extended resource of TPU chips.
	TPUResourceName = "google.com/tpu"

	// TPUWorkerHostnamesEnvVar holds the host names of the pods that share the
	// TPU slice, separated by commas.
	TPUWorkerHostnamesEnvVar = "TPU_WORKER_HOSTNAMES"

	// TPUWorkerIDEnvVar holds the index of the container among them.
	TPUWorkerIDEnvVar = "TPU_WORKER_ID"

	// TPUNameEnvVar holds the name of the leader.
	TPUNameEnvVar = "TPU_NAME"

	// TPUProcessAddressesEnvVar holds host names with ports, separated by commas.
	TPUProcessAddressesEnvVar = "TPU_PROCESS_ADDRESSES"

	// TPUProcessPortEnvVar holds the container's own port.
	TPUProcessPortEnvVar = "TPU_PROCESS_PORT"

	// TPUProcessFirstPort is the port of the first TPU container of a pod; each
	// further one has the next.
	TPUProcessFirstPort = 8476
)
