package main

// meaning is what a reason says to a user. Event is the type of the event with that
// reason, empty if there is none.
type meaning struct {
	Condition string
	Event     string
	Text      string
}

const (
	normal  = "Normal"
	warning = "Warning"

	available   = "Available"
	progressing = "Progressing"
	degraded    = "Degraded"
	scheduling  = "WorkloadSchedulingCreated"
)

var setMeanings = map[string]meaning{
	"AllGroupsReady":               {available, normal, "All desired groups are ready, and those at or above the partition are of the update revision."},
	"AsExpected":                   {degraded, "", "No group has spent its restart budget."},
	"FailedCreate":                 {progressing, warning, "The API server refused to create an object of the set; the message is its answer. Tried again with growing pauses. Also: a leader was created while the webhook of lws-manager was not there; it is deleted when it is 30 s old, so that another is made."},
	"GroupsNotReady":               {available, "", "Fewer groups are ready than are desired; the message says how many."},
	"GroupsProgressing":            {progressing, normal, "Groups are being created or become ready."},
	"GroupsUpdating":               {"UpdateInProgress, Progressing", normal, "A rollout replaces groups of an older revision."},
	"GroupUnschedulable":           {progressing, warning, "The scheduler tried to place a pod of a group and could not; the message has its words. As an event also: a recreation that was skipped because a member could not be placed."},
	"NameConflict":                 {progressing, warning, "An object of a name that the set needs belongs to somebody else. It is left alone; rename it or the set."},
	"NoUpdate":                     {"UpdateInProgress", "", "No group at or above the partition is of an older revision."},
	"PredecessorTerminating":       {progressing, "", "A replacement waits for pods of its predecessor; the message names them, their node and what frees them."},
	"ReplicaRestartBudgetExceeded": {"Degraded, Available, Progressing", warning, "A group failed once more than maxGroupRestarts allows. It is stopped and retained until it is recovered."},

	"APINotAvailable":                {scheduling, "", "The cluster does not serve the scheduling API that spec.scheduling needs."},
	"InvalidSchedulingConfiguration": {scheduling, "", "The scheduling objects that follow from spec.scheduling were refused."},
	"ParentWorkloadNotReady":         {scheduling, "", "The workload that contains the set has no scheduling objects yet."},
	"PodGroupCleanupBlocked":         {scheduling, "", "A PodGroup that no pod uses any more cannot be deleted yet."},
	"PodGroupCreateFailed":           {scheduling, "", "The API server refused a PodGroup."},
	"SchedulingObjectsPending":       {scheduling, "", "Some scheduling objects do not exist yet; they are being created."},
	"SchedulingObjectsCreated":       {scheduling, "", "All scheduling objects exist. It does not say that pods are placed."},
	"UnsupportedProviderCapability":  {scheduling, "", "The scheduler provider cannot do what spec.scheduling asks for."},
	"WorkloadCreateFailed":           {scheduling, "", "The API server refused the Workload."},

	"CreatingRevision":         {"", normal, "The template changed, and its snapshot is stored as a ControllerRevision."},
	"FailedUpdate":             {"", warning, "The API server refused a change of an object of the set."},
	"GroupRecovered":           {"", normal, "A stopped group starts again with a fresh budget, as asked for by the annotation recover."},
	"GroupReplacementAdmitted": {"", normal, "Nothing of the predecessor is left, and the replacement of a group may be scheduled."},
	"GroupReplacementDeferred": {"", normal, "The replacement of a group waits, and has waited for longer than is usual."},
	"GroupRestartBackoff":      {"", normal, "A recreation waits for its backoff: how long, and after how many recreations."},
	"RecreateGroup":            {"", normal, "A group is recreated, and by which pod, container and reason."},
}

var disaggregatedMeanings = map[string]meaning{
	"AllRolesReady":                  {available, "", "Every role is at its target, ready and of the current revision in every slice."},
	"AsExpected":                     {degraded, "", "No LeaderWorkerSet of the set is Degraded."},
	"LeaderWorkerSetAPINotAvailable": {progressing, "", "The cluster does not serve LeaderWorkerSets. The manager goes on when it does."},
	"NameConflict":                   {progressing, warning, "An object of a name that the set needs belongs to somebody else. It is left alone."},
	"RoleDegraded":                   {degraded, "", "A LeaderWorkerSet of the set is Degraded; the message names role, slice and cause."},
	"RolesNotReady":                  {available, "", "Some role is not at its target, not ready, or of an older revision."},
	"RolloutInProgress":              {progressing, "", "Replicas move from an older revision to the current one."},
	"ScalerFollowed":                 {"Ready of the scaler", warning, "As a condition: the role follows this scaler. As an event: the scaler asks for fewer replicas than there are slices, and each slice gets one."},
	"ScalingInProgress":              {progressing, "", "Roles go to their targets without a change of revision."},
	"WaitingForScaler":               {progressing, "", "A role takes its replicas from a scaler that does not exist yet."},

	"LWSDeleted":             {"", normal, "LeaderWorkerSets that nothing needs any more were deleted."},
	"RollingUpdateCompleted": {"", normal, "All slices run the current revision and nothing else."},
	"RollingUpdateStarted":   {"", normal, "A new revision is rolled out."},
	"ScalerConflict":         {"", warning, "An object of the scaler's name belongs to somebody else."},
	"ScalerCreated":          {"", normal, "The scaler of a role was created, with how many replicas."},
	"ScalerDeleted":          {"", normal, "The scaler of a role was deleted, as the role is not scaled from outside."},
	"ScalingDown":            {"", normal, "A role goes to fewer replicas."},
	"ScalingUp":              {"", normal, "A role goes to more replicas."},
}
