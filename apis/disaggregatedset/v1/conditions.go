package v1

// Condition types of a DisaggregatedSet. Of Available and Progressing exactly one is
// True. Degraded is listed before them: the first condition that is True is the one
// that kubectl shows.
const (
	// ConditionAvailable is True when every role is at its target, ready and of the
	// current revision in every slice, and no old revision is left.
	ConditionAvailable = "Available"

	// ConditionProgressing is True when that is not so.
	ConditionProgressing = "Progressing"

	// ConditionDegraded is True when a LeaderWorkerSet of the set is Degraded.
	ConditionDegraded = "Degraded"
)

// ConditionReady of a DisaggregatedSetRoleScaler is True when the set follows it.
const ConditionReady = "Ready"

// Reasons of conditions.
const (
	ReasonAllRolesReady      = "AllRolesReady"
	ReasonAsExpected         = "AsExpected"
	ReasonNameConflict       = "NameConflict"
	ReasonRoleDegraded       = "RoleDegraded"
	ReasonRolesNotReady      = "RolesNotReady"
	ReasonRolloutInProgress  = "RolloutInProgress"
	ReasonScalerFollowed     = "ScalerFollowed"
	ReasonScalingInProgress  = "ScalingInProgress"
	ReasonSetAPINotAvailable = "LeaderWorkerSetAPINotAvailable"
	ReasonWaitingForScaler   = "WaitingForScaler"
)

// Reasons of events only.
const (
	ReasonLWSDeleted             = "LWSDeleted"
	ReasonRollingUpdateCompleted = "RollingUpdateCompleted"
	ReasonRollingUpdateStarted   = "RollingUpdateStarted"
	ReasonScalerConflict         = "ScalerConflict"
	ReasonScalerCreated          = "ScalerCreated"
	ReasonScalerDeleted          = "ScalerDeleted"
	ReasonScalingDown            = "ScalingDown"
	ReasonScalingUp              = "ScalingUp"
)
