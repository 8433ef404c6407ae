//go:build integration

package rules

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// transitionRule is a rule about a change of an existing LeaderWorkerSet; a role of
// a DisaggregatedSet may change in the same way, since that is a new revision.
type transitionRule struct {
	from, to       string
	field, message string
}

const (
	subgroups2 = "size: 5, subGroupPolicy: {subGroupSize: 2}"
	claims     = "volumeClaimTemplates: ["
)

var transitionRules = map[string]transitionRule{
	"identity to hash": {
		from: "replicas: 1", to: "groupIdentity: Hash",
		field: "groupIdentity", message: "is immutable",
	},
	"identity to ordinal": {
		from: "groupIdentity: Hash", to: "replicas: 1",
		field: "groupIdentity", message: "is immutable",
	},
	"subgroups added": {
		from: template("size: 5"), to: template(subgroups2),
		field: "leaderWorkerTemplate.subGroupPolicy", message: "can neither be added nor removed",
	},
	"subgroups removed": {
		from: template(subgroups2), to: template("size: 5"),
		field: "leaderWorkerTemplate.subGroupPolicy", message: "can neither be added nor removed",
	},
	"subgroup size": {
		from: template(subgroups2), to: template("size: 5, subGroupPolicy: {subGroupSize: 4}"),
		field: "leaderWorkerTemplate.subGroupPolicy.subGroupSize", message: "is immutable",
	},
	"claims added": {
		from: "replicas: 1", to: template(claims + claim + "]"),
		field: "leaderWorkerTemplate.volumeClaimTemplates", message: "is immutable",
	},
	"claims removed": {
		from: template(claims + claim + "]"), to: template(claims + "]"),
		field: "leaderWorkerTemplate.volumeClaimTemplates", message: "is immutable",
	},
	"one more claim": {
		from: template(claims + claim + "]"), to: template(claims + claim + ", {metadata: {name: more}, spec: {accessModes: [ReadWriteOnce]}}]"),
		field: "leaderWorkerTemplate.volumeClaimTemplates", message: "is immutable",
	},
	"a larger claim": {
		from:  template(claims + "{metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}}}}]"),
		to:    template(claims + "{metadata: {name: data}, spec: {resources: {requests: {storage: 2Gi}}}}]"),
		field: "leaderWorkerTemplate.volumeClaimTemplates", message: "is immutable",
	},
	"another class of a claim": {
		from:  template(claims + "{metadata: {name: data}, spec: {storageClassName: fast}}]"),
		to:    template(claims + "{metadata: {name: data}, spec: {storageClassName: slow}}]"),
		field: "leaderWorkerTemplate.volumeClaimTemplates", message: "is immutable",
	},
	"a class for a claim": {
		from:  template(claims + "{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]"),
		to:    template(claims + "{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], volumeAttributesClassName: gold}}]"),
		field: "leaderWorkerTemplate.volumeClaimTemplates", message: "is immutable",
	},
	"access modes and selector of a claim": {
		from:  template(claims + "{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], selector: {matchLabels: {a: b}}}}]"),
		to:    template(claims + "{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]"),
		field: "leaderWorkerTemplate.volumeClaimTemplates", message: "is immutable",
	},
	"source of a claim": {
		from:  template(claims + "{metadata: {name: data}, spec: {dataSource: {kind: PersistentVolumeClaim, name: a}}}]"),
		to:    template(claims + "{metadata: {name: data}, spec: {dataSource: {kind: PersistentVolumeClaim, name: b}}}]"),
		field: "leaderWorkerTemplate.volumeClaimTemplates", message: "is immutable",
	},
	"storage limit of a claim": {
		from:  template(claims + "{metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}, limits: {storage: 1Gi}}}}]"),
		to:    template(claims + "{metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}, limits: {storage: 2Gi}}}}]"),
		field: "leaderWorkerTemplate.volumeClaimTemplates", message: "is immutable",
	},
	"order of claims": {
		from:  template(claims + "{metadata: {name: a}}, {metadata: {name: b}}]"),
		to:    template(claims + "{metadata: {name: b}}, {metadata: {name: a}}]"),
		field: "leaderWorkerTemplate.volumeClaimTemplates", message: "is immutable",
	},
	"a label of a claim": {
		from:  template(claims + "{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]"),
		to:    template(claims + "{metadata: {name: data, labels: {a: b}}, spec: {accessModes: [ReadWriteOnce]}}]"),
		field: "leaderWorkerTemplate.volumeClaimTemplates", message: "is immutable",
	},
}

func TestTransitionRules(t *testing.T) {
	for name, rule := range transitionRules {
		t.Run(name, func(t *testing.T) { checkTransitionRule(t, rule) })
	}
}

func checkTransitionRule(t *testing.T, rule transitionRule) {
	t.Helper()
	from, to := leaderWorkerSet(t, spec(rule.from)), leaderWorkerSet(t, spec(rule.to))
	want := refusal{"spec." + rule.field, rule.message}
	stored := mustCreate(t, from)
	mustRefuse(t, update(t, stored, to, client.DryRunAll), want)
	mustRefuse(t, update(t, stored, to), want)
	remove(t, stored)
	mustCreate(t, to)

	role := mustCreate(t, roleOf(t, from))
	if err := update(t, role, roleOf(t, to), client.DryRunAll); err != nil {
		t.Errorf("dry run of the change in a role: %v", err)
	}
	if err := update(t, role, roleOf(t, to)); err != nil {
		t.Errorf("change in a role: %v", err)
	}
}

// A subgroup size cannot follow a new size, so that is the field to correct: both
// are named.
func TestResizeNamesSize(t *testing.T) {
	stored := mustCreate(t, leaderWorkerSet(t, spec(template("size: 8, subGroupPolicy: {subGroupSize: 4}"))))
	for name, options := range map[string][]client.UpdateOption{"update": nil, "dry run": {client.DryRunAll}} {
		t.Run(name, func(t *testing.T) {
			err := update(t, stored, leaderWorkerSet(t, spec(template("size: 6, subGroupPolicy: {subGroupSize: 4}"))), options...)
			mustMention(t, err, refusal{"spec.leaderWorkerTemplate.size", "cannot be divided into the subgroups"})
			mustMention(t, err, refusal{"spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize", "must divide size or size-1"})
		})
	}
}

// What the specification does not freeze can change on a LeaderWorkerSet.
func TestPermittedChanges(t *testing.T) {
	for name, change := range map[string]struct{ from, to string }{
		"replicas to zero":    {"replicas: 3", "replicas: 0"},
		"size":                {template("size: 1"), template("size: 4")},
		"size with subgroups": {template("size: 8, subGroupPolicy: {subGroupSize: 4}"), template("size: 4, subGroupPolicy: {subGroupSize: 4}")},
		"subgroup type":       {template(subgroups2), template("size: 5, subGroupPolicy: {subGroupSize: 2, subGroupPolicyType: LeaderExcluded}")},
		"restart policy":      {template("maxGroupRestarts: 3"), template("restartPolicy: None")},
		"restart budget":      {template("maxGroupRestarts: 3"), template("restartBackoff: {}")},
		"claim retention":     {"replicas: 1", template("persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}")},
		"startup policy":      {"replicas: 1", "startupPolicy: LeaderReady"},
		"termination policy":  {"replicas: 1", "podTerminationPolicy: Parallel"},
		"replacement policy":  {"groupIdentity: Hash", "{groupIdentity: Hash, groupReplacementPolicy: Immediate}"},
		"network":             {"replicas: 1", "networkConfig: {subdomainPolicy: UniquePerReplica}"},
		"partition":           {rolling("partition: 3"), rolling("maxSurge: 1")},
		"placement added":     {"replicas: 1", template("placementPolicy: {type: ExclusiveTopology, topology: rack}")},
		"leader template":     {"replicas: 1", template("leaderTemplate: {spec: {containers: [{name: leader, image: leader}]}}")},
		"quantity spelt otherwise": {
			template(claims + "{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}}]"),
			template(claims + claim + "]"),
		},
		"status of a claim":    {template(claims + claim + "]"), template(claims + "{status: {}, " + claim[1:] + "]")},
		"null times in claims": {template(claims + claim + "]"), template(claims + "{metadata: {name: data, creationTimestamp: null}, " + claim[len("{metadata: {name: data}, "):] + "]")},
	} {
		t.Run(name, func(t *testing.T) {
			stored := mustCreate(t, leaderWorkerSet(t, spec(change.from)))
			to := leaderWorkerSet(t, spec(change.to))
			if err := update(t, stored, to, client.DryRunAll); err != nil {
				t.Errorf("dry run: %v", err)
			}
			if err := update(t, stored, to); err != nil {
				t.Errorf("update: %v", err)
			}
		})
	}
}
