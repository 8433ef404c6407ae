package v1

// Condition types of a LeaderWorkerSet.
const (
	// ConditionAvailable is True when all desired groups are ready and those at or
	// above the partition are of the update revision.
	ConditionAvailable = "Available"

	// ConditionProgressing is True when some desired group is not there yet.
	ConditionProgressing = "Progressing"

	// ConditionUpdateInProgress is True while groups at or above the partition are
	// of an older revision.
	ConditionUpdateInProgress = "UpdateInProgress"

	// ConditionDegraded is True when a group has spent its restart budget.
	ConditionDegraded = "Degraded"

	// ConditionWorkloadSchedulingCreated is True when all scheduling objects of a
	// set with spec.scheduling exist.
	ConditionWorkloadSchedulingCreated = "WorkloadSchedulingCreated"
)

// Reasons of conditions, of events, or of both.
const (
	ReasonAllGroupsReady               = "AllGroupsReady"
	ReasonAsExpected                   = "AsExpected"
	ReasonFailedCreate                 = "FailedCreate"
	ReasonGroupsNotReady               = "GroupsNotReady"
	ReasonGroupsProgressing            = "GroupsProgressing"
	ReasonGroupsUpdating               = "GroupsUpdating"
	ReasonGroupUnschedulable           = "GroupUnschedulable"
	ReasonNameConflict                 = "NameConflict"
	ReasonNoUpdate                     = "NoUpdate"
	ReasonPredecessorTerminating       = "PredecessorTerminating"
	ReasonReplicaRestartBudgetExceeded = "ReplicaRestartBudgetExceeded"
)

// Reasons of ConditionWorkloadSchedulingCreated.
const (
	ReasonAPINotAvailable                = "APINotAvailable"
	ReasonInvalidSchedulingConfiguration = "InvalidSchedulingConfiguration"
	ReasonParentWorkloadNotReady         = "ParentWorkloadNotReady"
	ReasonPodGroupCleanupBlocked         = "PodGroupCleanupBlocked"
	ReasonPodGroupCreateFailed           = "PodGroupCreateFailed"
	ReasonSchedulingObjectsCreated       = "SchedulingObjectsCreated"
	ReasonSchedulingObjectsPending       = "SchedulingObjectsPending"
	ReasonUnsupportedProviderCapability  = "UnsupportedProviderCapability"
	ReasonWorkloadCreateFailed           = "WorkloadCreateFailed"
)

// Reasons of events only.
const (
	ReasonCreatingRevision         = "CreatingRevision"
	ReasonFailedUpdate             = "FailedUpdate"
	ReasonGroupRecovered           = "GroupRecovered"
	ReasonGroupReplacementAdmitted = "GroupReplacementAdmitted"
	ReasonGroupReplacementDeferred = "GroupReplacementDeferred"
	ReasonGroupRestartBackoff      = "GroupRestartBackoff"
	ReasonRecreateGroup            = "RecreateGroup"
)
