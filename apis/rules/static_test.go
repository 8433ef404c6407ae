//go:build integration

package rules

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// staticRule is a rule about a spec by itself, in YAML merged into spec.
type staticRule struct {
	// good is accepted.
	good string
	// bad is refused: field is below spec.
	bad            string
	field, message string
	// notInRoles says that a role has other defaults.
	notInRoles bool
}

const (
	worker      = "leaderWorkerTemplate: {workerTemplate: {spec: "
	claim       = `{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`
	rollingPath = "rolloutStrategy.rollingUpdateConfiguration."
	subPath     = "leaderWorkerTemplate.subGroupPolicy."
)

func rolling(fields string) string {
	return "rolloutStrategy: {rollingUpdateConfiguration: {" + fields + "}}"
}

func template(fields string) string {
	return "leaderWorkerTemplate: {" + fields + "}"
}

var staticRules = map[string]staticRule{
	"replicas below 0": {
		good: "replicas: 2", bad: "replicas: -1",
		field: "replicas", message: "should be greater than or equal to 0",
	},
	"replicas above a million": {
		good: "replicas: 1000000", bad: "replicas: 1000001",
		field: "replicas", message: "should be less than or equal to 1000000",
	},
	"replicas x size": {
		good: "replicas: 1000000\n" + template("size: 2147"), bad: "replicas: 1000000\n" + template("size: 2148"),
		field: "replicas", message: "replicas x leaderWorkerTemplate.size must not be more than 2147483647",
	},
	"size below 1": {
		good: template("size: 1"), bad: template("size: 0"),
		field: "leaderWorkerTemplate.size", message: "should be greater than or equal to 1",
	},
	"startup policy": {
		good: "startupPolicy: LeaderReady", bad: "startupPolicy: WorkerReady",
		field: "startupPolicy", message: `supported values: "LeaderCreated", "LeaderReady"`,
	},
	"subdomain policy": {
		good: "networkConfig: {subdomainPolicy: UniquePerReplica}", bad: "networkConfig: {subdomainPolicy: Unique}",
		field: "networkConfig.subdomainPolicy", message: `supported values: "Shared", "UniquePerReplica"`,
	},
	"group identity": {
		good: "groupIdentity: Hash", bad: "groupIdentity: Random",
		field: "groupIdentity", message: `supported values: "Ordinal", "Hash"`,
	},
	"hash with claims": {
		good: template("volumeClaimTemplates: [" + claim + "]"), bad: "groupIdentity: Hash\n" + template("volumeClaimTemplates: ["+claim+"]"),
		field: "leaderWorkerTemplate.volumeClaimTemplates", message: "cannot be set with groupIdentity Hash",
	},
	"hash with a partition": {
		good: "groupIdentity: Hash\n" + rolling("partition: 0"), bad: "groupIdentity: Hash\n" + rolling("partition: 1"),
		field: rollingPath + "partition", message: "must be absent or 0 with groupIdentity Hash",
	},
	"group replacement policy": {
		good: "groupReplacementPolicy: PostTermination", bad: "groupReplacementPolicy: Never",
		field: "groupReplacementPolicy", message: `supported values: "PostTermination", "Immediate"`,
	},
	"immediate without hash": {
		good: "{groupIdentity: Hash, groupReplacementPolicy: Immediate}", bad: "groupReplacementPolicy: Immediate",
		field: "groupReplacementPolicy", message: "Immediate needs groupIdentity Hash",
	},
	"pod termination policy": {
		good: "podTerminationPolicy: Parallel", bad: "podTerminationPolicy: Serial",
		field: "podTerminationPolicy", message: `supported values: "Sequential", "Parallel"`,
	},
	"rollout type": {
		good: "rolloutStrategy: {type: RollingUpdate}", bad: "rolloutStrategy: {type: Recreate}",
		field: "rolloutStrategy.type", message: `supported values: "RollingUpdate"`,
	},
	"partition below 0": {
		good: rolling("partition: 0"), bad: rolling("partition: -1"),
		field: rollingPath + "partition", message: "should be greater than or equal to 0",
	},
	"unavailable below 0": {
		good: rolling("maxUnavailable: 2"), bad: rolling("maxUnavailable: -1"),
		field: rollingPath + "maxUnavailable", message: "must not be negative",
	},
	"unavailable above 100%": {
		good: rolling("maxUnavailable: 100%"), bad: rolling("maxUnavailable: 101%"),
		field: rollingPath + "maxUnavailable", message: "should match",
	},
	"unavailable is no percentage": {
		good: rolling("maxUnavailable: 7%"), bad: rolling("maxUnavailable: half"),
		field: rollingPath + "maxUnavailable", message: "should match",
	},
	"surge below 0": {
		good: rolling("maxSurge: 2"), bad: rolling("maxSurge: -1"),
		field: rollingPath + "maxSurge", message: "must not be negative",
	},
	"surge above 100%": {
		good: rolling("maxSurge: 100%"), bad: rolling("maxSurge: 200%"),
		field: rollingPath + "maxSurge", message: "should match",
	},
	"surge is no percentage": {
		good: rolling("maxSurge: 0%"), bad: rolling("maxSurge: '2'"),
		field: rollingPath + "maxSurge", message: "should match",
	},
	"nothing may move, in numbers": {
		good: rolling("maxUnavailable: 0, maxSurge: 1"), bad: rolling("maxUnavailable: 0, maxSurge: 0"),
		field: rollingPath + "maxUnavailable", message: "cannot both be zero",
	},
	"nothing may move, in percent": {
		good: rolling("maxUnavailable: 10%, maxSurge: 0%"), bad: rolling("maxUnavailable: 0%, maxSurge: 0%"),
		field: rollingPath + "maxUnavailable", message: "cannot both be zero",
	},
	"nothing may move, with the default surge": {
		good: "replicas: 5\n" + rolling("maxUnavailable: 10%"), bad: rolling("maxUnavailable: 0"),
		field: rollingPath + "maxUnavailable", message: "cannot both be zero", notInRoles: true,
	},
	"no worker template": {
		good: "replicas: 1", bad: template("workerTemplate: null"),
		field: "leaderWorkerTemplate.workerTemplate", message: "Required value",
	},
	"worker template without a spec": {
		good: "replicas: 1", bad: template("workerTemplate: {spec: null}"),
		field: "leaderWorkerTemplate.workerTemplate", message: "needs a spec with at least one container",
	},
	"leader template without containers": {
		good: "replicas: 1", bad: template("leaderTemplate: {spec: {containers: []}}"),
		field: "leaderWorkerTemplate.leaderTemplate", message: "needs a spec with at least one container",
	},
	"pod restart policy of workers": {
		good: worker + "{restartPolicy: Always}}}", bad: worker + "{restartPolicy: Never}}}",
		field: "leaderWorkerTemplate.workerTemplate.spec.restartPolicy", message: "must be Always",
	},
	"pod restart policy of leaders": {
		good:  template("leaderTemplate: {spec: {restartPolicy: Always, containers: [{name: leader, image: leader}]}}"),
		bad:   template("leaderTemplate: {spec: {restartPolicy: OnFailure, containers: [{name: leader, image: leader}]}}"),
		field: "leaderWorkerTemplate.leaderTemplate.spec.restartPolicy", message: "must be Always",
	},
	"deadline of workers": {
		good: worker + "{terminationGracePeriodSeconds: 5}}}", bad: worker + "{activeDeadlineSeconds: 5}}}",
		field: "leaderWorkerTemplate.workerTemplate.spec.activeDeadlineSeconds", message: "cannot be set",
	},
	"deadline of leaders": {
		good:  template("leaderTemplate: {spec: {containers: [{name: leader, image: leader}]}}"),
		bad:   template("leaderTemplate: {spec: {activeDeadlineSeconds: 5, containers: [{name: leader, image: leader}]}}"),
		field: "leaderWorkerTemplate.leaderTemplate.spec.activeDeadlineSeconds", message: "cannot be set",
	},
	"restart policy": {
		good: template("restartPolicy: Default"), bad: template("restartPolicy: Always"),
		field: "leaderWorkerTemplate.restartPolicy", message: "supported values",
	},
	"restart budget below 0": {
		good: template("maxGroupRestarts: 0"), bad: template("maxGroupRestarts: -1"),
		field: "leaderWorkerTemplate.maxGroupRestarts", message: "should be greater than or equal to 0",
	},
	"restart budget with None": {
		good:  template("restartPolicy: RecreateGroupAfterStart, maxGroupRestarts: 3"),
		bad:   template("restartPolicy: None, maxGroupRestarts: 3"),
		field: "leaderWorkerTemplate.maxGroupRestarts", message: "cannot be set with restartPolicy None",
	},
	"restart budget with Default": {
		good: template("maxGroupRestarts: 3"), bad: template("restartPolicy: Default, maxGroupRestarts: 3"),
		field: "leaderWorkerTemplate.maxGroupRestarts", message: "cannot be set with restartPolicy None",
	},
	"backoff with None": {
		good: template("restartBackoff: {}"), bad: template("restartPolicy: None, restartBackoff: {}"),
		field: "leaderWorkerTemplate.restartBackoff", message: "cannot be set with restartPolicy None",
	},
	"backoff base below 1": {
		good: template("restartBackoff: {baseSeconds: 1}"), bad: template("restartBackoff: {baseSeconds: 0}"),
		field: "leaderWorkerTemplate.restartBackoff.baseSeconds", message: "should be greater than or equal to 1",
	},
	"backoff cap below the base": {
		good: template("restartBackoff: {baseSeconds: 20, capSeconds: 20}"), bad: template("restartBackoff: {baseSeconds: 20, capSeconds: 19}"),
		field: "leaderWorkerTemplate.restartBackoff.capSeconds", message: "must not be less than baseSeconds",
	},
	"backoff cap below the absent base": {
		good: template("restartBackoff: {capSeconds: 10}"), bad: template("restartBackoff: {capSeconds: 9}"),
		field: "leaderWorkerTemplate.restartBackoff.capSeconds", message: "must not be less than baseSeconds, which is 10 when absent",
	},
	"subgroups without a size": {
		good: template("size: 2, subGroupPolicy: {subGroupSize: 1}"), bad: template("size: 2, subGroupPolicy: {}"),
		field: subPath + "subGroupSize", message: "Required value",
	},
	"subgroups of 0": {
		good: template("size: 2, subGroupPolicy: {subGroupSize: 2}"), bad: template("size: 2, subGroupPolicy: {subGroupSize: 0}"),
		field: subPath + "subGroupSize", message: "should be greater than or equal to 1",
	},
	"subgroups larger than the group": {
		good: template("size: 4, subGroupPolicy: {subGroupSize: 4}"), bad: template("size: 4, subGroupPolicy: {subGroupSize: 8}"),
		field: subPath + "subGroupSize", message: "must not be larger than size",
	},
	"subgroups that do not divide": {
		good: template("size: 9, subGroupPolicy: {subGroupSize: 4}"), bad: template("size: 6, subGroupPolicy: {subGroupSize: 4}"),
		field: subPath + "subGroupSize", message: "must divide size or size-1",
	},
	"subgroups without the leader that do not divide": {
		good:  template("size: 9, subGroupPolicy: {subGroupSize: 4, subGroupPolicyType: LeaderExcluded}"),
		bad:   template("size: 8, subGroupPolicy: {subGroupSize: 4, subGroupPolicyType: LeaderExcluded}"),
		field: subPath + "subGroupSize", message: "must divide size-1 with subGroupPolicyType LeaderExcluded",
	},
	"subgroup policy type": {
		good:  template("size: 4, subGroupPolicy: {subGroupSize: 2, subGroupPolicyType: LeaderWorker}"),
		bad:   template("size: 4, subGroupPolicy: {subGroupSize: 2, subGroupPolicyType: LeaderOnly}"),
		field: subPath + "subGroupPolicyType", message: `supported values: "LeaderWorker", "LeaderExcluded"`,
	},
	"claim retention": {
		good:  template("persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}"),
		bad:   template("persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Keep}"),
		field: "leaderWorkerTemplate.persistentVolumeClaimRetentionPolicy.whenScaled", message: "must be Retain or Delete",
	},
	"claim retention on deletion": {
		good:  template("persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain}"),
		bad:   template("persistentVolumeClaimRetentionPolicy: {whenDeleted: Keep}"),
		field: "leaderWorkerTemplate.persistentVolumeClaimRetentionPolicy.whenDeleted", message: "must be Retain or Delete",
	},
	"placement without a type": {
		good: template("placementPolicy: {type: None}"), bad: template("placementPolicy: {topology: rack}"),
		field: "leaderWorkerTemplate.placementPolicy.type", message: "Required value",
	},
	"placement type": {
		good: template("placementPolicy: {type: ExclusiveTopology, topology: example.com/rack}"), bad: template("placementPolicy: {type: Exclusive, topology: rack}"),
		field: "leaderWorkerTemplate.placementPolicy.type", message: `supported values: "None", "ExclusiveTopology"`,
	},
	"placement without a topology": {
		good: template("placementPolicy: {type: ExclusiveTopology, topology: rack}"), bad: template("placementPolicy: {type: ExclusiveTopology}"),
		field: "leaderWorkerTemplate.placementPolicy.topology", message: "required unless type is None",
	},
	"topology is no label key": {
		good:  template("placementPolicy: {type: ExclusiveTopology, topology: topology.kubernetes.io/zone}"),
		bad:   template("placementPolicy: {type: ExclusiveTopology, topology: 'a rack'}"),
		field: "leaderWorkerTemplate.placementPolicy.topology", message: "should match",
	},
	"topology name above 63 characters": {
		good:  template("placementPolicy: {type: ExclusiveTopology, topology: e.com/" + strings.Repeat("r", 63) + "}"),
		bad:   template("placementPolicy: {type: ExclusiveTopology, topology: e.com/" + strings.Repeat("r", 64) + "}"),
		field: "leaderWorkerTemplate.placementPolicy.topology", message: "should match",
	},
	"topology prefix above 253 characters": {
		good:  template("placementPolicy: {type: ExclusiveTopology, topology: " + strings.Repeat("e", 253) + "/rack}"),
		bad:   template("placementPolicy: {type: ExclusiveTopology, topology: " + strings.Repeat("e", 254) + "/rack}"),
		field: "leaderWorkerTemplate.placementPolicy.topology", message: "the part before / has at most 253 characters",
	},
	"the same topology on both levels": {
		good: template("size: 4, placementPolicy: {type: ExclusiveTopology, topology: zone}, " +
			"subGroupPolicy: {subGroupSize: 2, placementPolicy: {type: ExclusiveTopology, topology: rack}}"),
		bad: template("size: 4, placementPolicy: {type: ExclusiveTopology, topology: rack}, " +
			"subGroupPolicy: {subGroupSize: 2, placementPolicy: {type: ExclusiveTopology, topology: rack}}"),
		field: subPath + "placementPolicy.topology", message: "must differ from placementPolicy.topology of the group",
	},
	"subgroup placement without a topology": {
		good:  template("size: 4, subGroupPolicy: {subGroupSize: 2, placementPolicy: {type: None}}"),
		bad:   template("size: 4, subGroupPolicy: {subGroupSize: 2, placementPolicy: {type: ExclusiveTopology}}"),
		field: subPath + "placementPolicy.topology", message: "required unless type is None",
	},
	"more than 32 claims": {
		good:  template("volumeClaimTemplates: [" + strings.Repeat(claim+",", 32) + "]"),
		bad:   template("volumeClaimTemplates: [" + strings.Repeat(claim+",", 33) + "]"),
		field: "leaderWorkerTemplate.volumeClaimTemplates", message: "must have at most 32 items",
	},
}

func spec(fields string) string {
	if strings.HasPrefix(fields, "{") {
		return "spec: " + fields
	}
	return "spec:\n  " + strings.ReplaceAll(fields, "\n", "\n  ")
}

func TestStaticRules(t *testing.T) {
	for name, rule := range staticRules {
		t.Run(name, func(t *testing.T) {
			good, bad := leaderWorkerSet(t, spec(rule.good)), leaderWorkerSet(t, spec(rule.bad))
			checkStaticRule(t, kindCase{good, bad, refusal{"spec." + rule.field, rule.message}})
			if rule.notInRoles {
				return
			}
			t.Run("role", func(t *testing.T) {
				checkStaticRule(t, kindCase{roleOf(t, good), roleOf(t, bad), refusal{"spec.roles[0].spec." + rule.field, rule.message}})
			})
		})
	}
}

func checkStaticRule(t *testing.T, c kindCase) {
	t.Helper()
	_, err := create(t, c.bad, client.DryRunAll)
	mustRefuse(t, err, c.refusal)
	_, err = create(t, c.bad)
	mustRefuse(t, err, c.refusal)
	if _, err := create(t, c.good, client.DryRunAll); err != nil {
		t.Errorf("dry run of what is good: %v", err)
	}
	stored := mustCreate(t, c.good)
	mustMention(t, update(t, stored, c.bad, client.DryRunAll), c.refusal)
	mustMention(t, update(t, stored, c.bad), c.refusal)
	if err := update(t, stored, c.good); err != nil {
		t.Errorf("update of what is good with itself: %v", err)
	}
}
