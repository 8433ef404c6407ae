//go:build integration

package rules

import (
	"strings"
	"testing"
)

// roles writes the roles of a DisaggregatedSet: fields of each role beside its name
// and template, and fields of its spec.
func role(name, fields, spec string) string {
	return "{name: " + name + ", " + fields + "spec: {" + spec +
		"leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: worker, image: worker}]}}}}}"
}

func roles(list ...string) string {
	return "roles: [" + strings.Join(list, ", ") + "]"
}

func manyRoles(count int) string {
	var list []string
	for i := range count {
		list = append(list, role("r"+string(rune('a'+i)), "", ""))
	}
	return roles(list...)
}

const (
	slicePlacement = "placementPolicy: {type: ExclusiveSlice, topology: rack}"
	external       = "scaling: {mode: External}, "
	groupKey       = "leaderworkerset.sigs.k8s.io/exclusive-topology"
	subGroupKey    = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"
)

func annotated(key, value string) string {
	return "metadata: {annotations: {" + key + ": " + value + "}}, "
}

// placed is a role with a leaderWorkerTemplate of its own, since placement is in
// there.
func placed(name, fields, template string) string {
	return "{name: " + name + ", " + fields + "spec: {leaderWorkerTemplate: {" + template +
		", workerTemplate: {spec: {containers: [{name: worker, image: worker}]}}}}}"
}

var disaggregatedSetRules = map[string]staticRule{
	"one role": {
		good: manyRoles(2), bad: manyRoles(1),
		field: "roles", message: "should have at least 2 items",
	},
	"eleven roles": {
		good: manyRoles(10), bad: manyRoles(11),
		field: "roles", message: "must have at most 10 items",
	},
	"role name is no label": {
		good: roles(role("prefill-1", "", ""), role(`"1"`, "", "")), bad: roles(role("pre_fill", "", ""), role("decode", "", "")),
		field: "roles[0].name", message: "should match",
	},
	"role name begins with a dash": {
		good: manyRoles(2), bad: roles(role("-prefill", "", ""), role("decode", "", "")),
		field: "roles[0].name", message: "should match",
	},
	"role name is empty": {
		good: manyRoles(2), bad: roles(role(`""`, "", ""), role("decode", "", "")),
		field: "roles[0].name", message: "should be at least 1 chars long",
	},
	"role name twice": {
		good: manyRoles(2), bad: roles(role("a", "", ""), role("a", "", "")),
		field: "roles[1]", message: "Duplicate value",
	},
	"scaling mode": {
		good: roles(role("a", external, ""), role("b", "", "")), bad: roles(role("a", "scaling: {mode: Auto}, ", ""), role("b", "", "")),
		field: "roles[0].scaling.mode", message: `supported values: "Static", "External"`,
	},
	"no slices": {
		good: "slices: 1", bad: "slices: 0",
		field: "slices", message: "should be greater than or equal to 1",
	},
	"more than 100 slices": {
		good: "slices: 100", bad: "slices: 101",
		field: "slices", message: "should be less than or equal to 100",
	},
	"partition in a role": {
		good: roles(role("a", "", rolling("partition: 0")+", "), role("b", "", "")),
		bad:  roles(role("a", "", ""), role("b", "", rolling("partition: 1")+", ")), field: "roles[1].spec.rolloutStrategy.rollingUpdateConfiguration.partition",
		message: "must be absent or 0 in a role",
	},
	"some static roles at zero": {
		good: roles(role("a", "", "replicas: 0, "), role("b", "", "replicas: 0, ")), bad: roles(role("a", "", "replicas: 0, "), role("b", "", "replicas: 2, ")),
		field: "roles", message: "must be 0, or all above 0",
	},
	"external roles do not count": {
		good:  roles(role("a", external, "replicas: 0, "), role("b", "", "replicas: 2, "), role("c", "", "replicas: 1, ")),
		bad:   roles(role("a", external, "replicas: 1, "), role("b", "", "replicas: 0, "), role("c", "", "replicas: 1, ")),
		field: "roles", message: "must be 0, or all above 0",
	},
	"nothing may move, but for a role at zero": {
		good: roles(role("a", "", "replicas: 0, "+rolling("maxUnavailable: 0, maxSurge: 0")+", "), role("b", "", "replicas: 0, ")),
		bad:  roles(role("a", "", "replicas: 1, "+rolling("maxUnavailable: 0, maxSurge: 0")+", "), role("b", "", "")), field: "roles[0].spec." + rollingPath + "maxUnavailable",
		message: "cannot both be zero",
	},
	"nothing may move, but for what is not written": {
		good: roles(role("a", "", rolling("maxUnavailable: 0")+", "), role("b", "", rolling("maxSurge: 0")+", ")),
		bad:  roles(role("a", "", ""), role("b", "", rolling("maxUnavailable: 0%, maxSurge: 0")+", ")), field: "roles[1].spec." + rollingPath + "maxUnavailable",
		message: "cannot both be zero",
	},
	"placement type": {
		good: slicePlacement, bad: "placementPolicy: {type: Exclusive, topology: rack}",
		field: "placementPolicy.type", message: `supported values: "None", "ExclusiveSlice", "ExclusiveTopology"`,
	},
	"placement without a topology": {
		good: "placementPolicy: {}", bad: "placementPolicy: {type: ExclusiveTopology}",
		field: "placementPolicy.topology", message: "required unless type is None",
	},
	"topology is no label key": {
		good: "placementPolicy: {type: ExclusiveTopology, topology: e.com/rack}", bad: "placementPolicy: {type: ExclusiveTopology, topology: e.com/}",
		field: "placementPolicy.topology", message: "should match",
	},
	"topology prefix above 253 characters": {
		good: "placementPolicy: {type: ExclusiveSlice, topology: e.com/rack}", bad: "placementPolicy: {type: ExclusiveSlice, topology: " + strings.Repeat("e", 254) + "/r}",
		field: "placementPolicy.topology", message: "the part before / has at most 253 characters",
	},
	"placement of slices and of a role": {
		good:  slicePlacement + "\n" + roles(placed("a", "", "placementPolicy: {type: None}"), role("b", "", "")),
		bad:   slicePlacement + "\n" + roles(placed("a", "", "placementPolicy: {type: ExclusiveTopology, topology: zone}"), role("b", "", "")),
		field: "placementPolicy", message: "cannot be combined with exclusive placement of a role",
	},
	"placement of slices and of subgroups": {
		good: "placementPolicy: {type: None}\n" + roles(placed("a", "", "size: 2, subGroupPolicy: {subGroupSize: 1, placementPolicy: {type: ExclusiveTopology, topology: zone}}"), role("b", "", "")),
		bad:  slicePlacement + "\n" + roles(placed("a", "", "size: 2, subGroupPolicy: {subGroupSize: 1, placementPolicy: {type: ExclusiveTopology, topology: zone}}"), role("b", "", "")), field: "placementPolicy",
		message: "cannot be combined with exclusive placement of a role",
	},
	"placement of slices and an annotation": {
		good: roles(role("a", annotated(groupKey, "zone"), ""), role("b", "", "")), bad: slicePlacement + "\n" + roles(role("a", annotated(groupKey, "zone"), ""), role("b", "", "")),
		field: "placementPolicy", message: "cannot be combined with exclusive placement of a role",
	},
	"placement of slices and an annotation of subgroups": {
		good: roles(role("a", annotated(subGroupKey, "zone"), ""), role("b", "", "")), bad: slicePlacement + "\n" + roles(role("a", "", ""), role("b", annotated(subGroupKey, "zone"), "")),
		field: "placementPolicy", message: "cannot be combined with exclusive placement of a role",
	},
	"annotation disagrees": {
		good: roles(placed("a", annotated(groupKey, "zone"), "placementPolicy: {type: ExclusiveTopology, topology: zone}"), role("b", "", "")),
		bad:  roles(placed("a", annotated(groupKey, "rack"), "placementPolicy: {type: ExclusiveTopology, topology: zone}"), role("b", "", "")), field: "roles[0].spec.leaderWorkerTemplate.placementPolicy",
		message: "disagrees with the annotation leaderworkerset.sigs.k8s.io/exclusive-topology",
	},
	"annotation of subgroups disagrees": {
		good: roles(placed("a", annotated(subGroupKey, "zone"), "size: 2, subGroupPolicy: {subGroupSize: 1, placementPolicy: {type: ExclusiveTopology, topology: zone}}"), role("b", "", "")),
		bad:  roles(placed("a", annotated(subGroupKey, "zone"), "size: 2, subGroupPolicy: {subGroupSize: 1, placementPolicy: {type: None}}"), role("b", "", "")), field: "roles[0].spec.leaderWorkerTemplate.subGroupPolicy.placementPolicy",
		message: "disagrees with the annotation leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology",
	},
}

func TestDisaggregatedSetRules(t *testing.T) {
	for name, rule := range disaggregatedSetRules {
		t.Run(name, func(t *testing.T) {
			checkStaticRule(t, kindCase{
				disaggregatedSet(t, spec(rule.good)), disaggregatedSet(t, spec(rule.bad)),
				refusal{"spec." + rule.field, rule.message},
			})
		})
	}
}

func TestRoleScalerRules(t *testing.T) {
	base := `
apiVersion: disaggregatedset.x-k8s.io/v1
kind: DisaggregatedSetRoleScaler
metadata: {name: sample-prefill, namespace: default}
`
	checkStaticRule(t, kindCase{
		merged(t, base, "spec: {replicas: 0}"), merged(t, base, "spec: {replicas: -1}"),
		refusal{"spec.replicas", "should be greater than or equal to 0"},
	})
}
