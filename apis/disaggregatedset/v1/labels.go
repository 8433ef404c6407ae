package v1

// KeyPrefix starts every label and annotation of this API. Keys under it are
// written by disaggregatedset-manager.
const KeyPrefix = "disaggregatedset.x-k8s.io/"

// FieldManager is the name under which disaggregatedset-manager applies objects.
const FieldManager = "disaggregatedset"

// Labels of LeaderWorkerSets, their pods, and Services.
const (
	// SetNameLabelKey holds the name of the set. On scalers as well.
	SetNameLabelKey = KeyPrefix + "name"

	// RoleLabelKey holds the name of the role. On scalers as well.
	RoleLabelKey = KeyPrefix + "role"

	// SliceLabelKey holds the index of the slice.
	SliceLabelKey = KeyPrefix + "slice"

	// RevisionLabelKey holds the hash of the revision.
	RevisionLabelKey = KeyPrefix + "revision"

	// AppLabelKey holds <set>-<slice>-<role>. On LeaderWorkerSets and their pods.
	AppLabelKey = "app"
)

// InitialReplicasAnnotationKey holds the replicas that a LeaderWorkerSet was
// meant to have when its revision became old: the baseline of its drain.
const InitialReplicasAnnotationKey = KeyPrefix + "initial-replicas"

// IgnoredReplicasAnnotationKey on a LeaderWorkerSet holds the replicas in the spec
// of its role while, or since, the role is external.
const IgnoredReplicasAnnotationKey = KeyPrefix + "ignored-replicas"

// Environment variables in every container and init container of a set's pods.
const (
	// SetNameEnvVar holds the name of the set.
	SetNameEnvVar = "DISAGGREGATEDSET_NAME"

	// RoleEnvVar holds the name of the role.
	RoleEnvVar = "DISAGGREGATEDSET_ROLE"

	// SliceEnvVar holds the index of the slice.
	SliceEnvVar = "DISAGGREGATEDSET_SLICE"

	// RevisionEnvVar holds the hash of the revision.
	RevisionEnvVar = "DISAGGREGATEDSET_REVISION"
)
