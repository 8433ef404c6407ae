package v1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Queues, routers, gateways and the live objects of earlier releases rely on these
// words: a change of one is a change of the API.
func TestKeysAreThoseOfTheAPI(t *testing.T) {
	got := []string{
		lwsv1.SetNameLabelKey, lwsv1.RevisionLabelKey, lwsv1.GroupIndexLabelKey, lwsv1.GroupKeyLabelKey,
		lwsv1.WorkerIndexLabelKey, lwsv1.SubGroupIndexLabelKey, lwsv1.SubGroupKeyLabelKey,
		lwsv1.SizeAnnotationKey, lwsv1.ReplicasAnnotationKey, lwsv1.LeaderPodNameAnnotationKey,
		lwsv1.ExclusiveTopologyAnnotationKey, lwsv1.SubdomainPolicyAnnotationKey, lwsv1.SubGroupSizeAnnotationKey,
		lwsv1.SubGroupExclusiveTopologyAnnotationKey, lwsv1.LeaderRequestsTPUsAnnotationKey,
		lwsv1.GroupRestartCountsAnnotationKey, lwsv1.GroupRestartBudgetExhaustedAnnotationKey, lwsv1.RecoverAnnotationKey,
		lwsv1.SubGroupPolicyTypeAnnotationKey, lwsv1.GroupIdentityAnnotationKey, lwsv1.LeaderAddressAnnotationKey,
		lwsv1.PodTerminationPolicyAnnotationKey, lwsv1.GroupMembersAnnotationKey, lwsv1.GroupRestartLeadersAnnotationKey,
		lwsv1.ReplacesAnnotationKey, lwsv1.RecreateGroupAfterStartAnnotationKey,
		lwsv1.GroupReplacementSchedulingGate, lwsv1.GroupReadyReadinessGate, lwsv1.GroupRestartBudgetCleanupFinalizer,
		lwsv1.LeaderAddressEnvVar, lwsv1.GroupSizeEnvVar, lwsv1.WorkerIndexEnvVar,
		lwsv1.TPUWorkerHostnamesEnvVar, lwsv1.TPUWorkerIDEnvVar, lwsv1.TPUNameEnvVar,
		lwsv1.TPUProcessAddressesEnvVar, lwsv1.TPUProcessPortEnvVar, lwsv1.TPUResourceName,
	}
	want := []string{
		"leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/template-revision-hash",
		"leaderworkerset.sigs.k8s.io/group-index", "leaderworkerset.sigs.k8s.io/group-key",
		"leaderworkerset.sigs.k8s.io/worker-index", "leaderworkerset.sigs.k8s.io/subgroup-index",
		"leaderworkerset.sigs.k8s.io/subgroup-key",
		"leaderworkerset.sigs.k8s.io/size", "leaderworkerset.sigs.k8s.io/replicas", "leaderworkerset.sigs.k8s.io/leader-name",
		"leaderworkerset.sigs.k8s.io/exclusive-topology", "leaderworkerset.sigs.k8s.io/subdomainPolicy",
		"leaderworkerset.sigs.k8s.io/subgroup-size", "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology",
		"leaderworkerset.sigs.k8s.io/leader-requests-tpus", "leaderworkerset.sigs.k8s.io/group-restart-counts",
		"leaderworkerset.sigs.k8s.io/group-restart-budget-exhausted", "leaderworkerset.sigs.k8s.io/recover",
		"leaderworkerset.sigs.k8s.io/subgroup-policy-type", "leaderworkerset.sigs.k8s.io/group-identity",
		"leaderworkerset.sigs.k8s.io/leader-address", "leaderworkerset.sigs.k8s.io/pod-termination-policy",
		"leaderworkerset.sigs.k8s.io/group-members", "leaderworkerset.sigs.k8s.io/group-restart-leaders",
		"leaderworkerset.sigs.k8s.io/replaces", "leaderworkerset.sigs.k8s.io/experimental-recreate-group-after-start",
		"leaderworkerset.sigs.k8s.io/group-replacement", "leaderworkerset.sigs.k8s.io/group-ready",
		"leaderworkerset.sigs.k8s.io/group-restart-budget-cleanup",
		"LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX",
		"TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID", "TPU_NAME", "TPU_PROCESS_ADDRESSES", "TPU_PROCESS_PORT", "google.com/tpu",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys differ (-want +got):\n%s", diff)
	}
}
