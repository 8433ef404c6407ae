//go:build integration

package rules

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	gang        = "schedulingPolicy: {gang: {}}"
	constraints = "schedulingConstraints: {topology: [{key: rack}]}"
	replicaPath = "scheduling.replica."
	excluded    = "size: 4, placementPolicy: {type: ExclusiveTopology, topology: rack}"
)

func scheduling(fields string) string {
	return "scheduling: {" + fields + "}\n" + template("size: 4")
}

var schedulingRules = map[string]staticRule{
	"neither basic nor gang": {
		good: scheduling("schedulingPolicy: {basic: {}}"), bad: scheduling("schedulingPolicy: {}"),
		field: "scheduling.schedulingPolicy", message: "exactly one of basic and gang",
	},
	"basic and gang of a replica": {
		good: scheduling("replica: {" + gang + "}"), bad: scheduling("replica: {schedulingPolicy: {basic: {}, gang: {}}}"),
		field: replicaPath + "schedulingPolicy", message: "exactly one of basic and gang",
	},
	"neither basic nor gang of the leader": {
		good: scheduling("replica: {leader: {" + gang + "}}"), bad: scheduling("replica: {leader: {schedulingPolicy: {}}}"),
		field: replicaPath + "leader.schedulingPolicy", message: "exactly one of basic and gang",
	},
	"neither basic nor gang of workers": {
		good: scheduling("replica: {worker: {" + gang + "}}"), bad: scheduling("replica: {worker: {schedulingPolicy: {}}}"),
		field: replicaPath + "worker.schedulingPolicy", message: "exactly one of basic and gang",
	},
	"single and all": {
		good: scheduling("disruptionMode: {all: {}}"), bad: scheduling("disruptionMode: {all: {}, single: {}}"),
		field: "scheduling.disruptionMode", message: "exactly one of single and all",
	},
	"neither single nor all of a replica": {
		good: scheduling("replica: {disruptionMode: {single: {}}}"), bad: scheduling("replica: {disruptionMode: {}}"),
		field: replicaPath + "disruptionMode", message: "exactly one of single and all",
	},
	"neither single nor all of workers": {
		good: scheduling("replica: {worker: {disruptionMode: {single: {}}}}"), bad: scheduling("replica: {worker: {disruptionMode: {}}}"),
		field: replicaPath + "worker.disruptionMode", message: "exactly one of single and all",
	},
	"neither single nor all of the leader": {
		good: scheduling("replica: {leader: {disruptionMode: {single: {}}}}"), bad: scheduling("replica: {leader: {disruptionMode: {}}}"),
		field: replicaPath + "leader.disruptionMode", message: "exactly one of single and all",
	},
	"two topologies": {
		good:  scheduling(constraints),
		bad:   scheduling("schedulingConstraints: {topology: [{key: rack}, {key: zone}]}"),
		field: "scheduling.schedulingConstraints.topology", message: "must have at most 1 item",
	},
	"minCount of the leader": {
		good: scheduling("replica: {leader: {schedulingPolicy: {gang: {minCount: 1}}}}"), bad: scheduling("replica: {leader: {schedulingPolicy: {gang: {minCount: 2}}}}"),
		field: replicaPath + "leader.schedulingPolicy.gang.minCount", message: "must be 1 or absent",
	},
	"minCount of workers": {
		good: scheduling("replica: {worker: {schedulingPolicy: {gang: {minCount: 3}}}}"), bad: scheduling("replica: {worker: {schedulingPolicy: {gang: {minCount: 4}}}}"),
		field: replicaPath + "worker.schedulingPolicy.gang.minCount", message: "must be leaderWorkerTemplate.size-1 or absent",
	},
	"minGroupCount of a set without levels below": {
		good:  scheduling("schedulingPolicy: {gang: {minGroupCount: 1}}, replica: {" + gang + "}"),
		bad:   scheduling("schedulingPolicy: {gang: {minGroupCount: 1}}, replica: {}"),
		field: "scheduling.schedulingPolicy.gang.minGroupCount", message: "cannot be set unless",
	},
	"minGroupCount of a replica without levels below": {
		good:  scheduling("replica: {schedulingPolicy: {gang: {minGroupCount: 2}}, worker: {}}"),
		bad:   scheduling("replica: {schedulingPolicy: {gang: {minGroupCount: 2}}}"),
		field: replicaPath + "schedulingPolicy.gang.minGroupCount", message: "cannot be set unless",
	},
	"roles of groups of one": {
		good: "scheduling: {}\n" + template("size: 1"), bad: "scheduling: {replica: {worker: {}}}\n" + template("size: 1"),
		field: "scheduling.replica", message: "need a leaderWorkerTemplate.size of at least 2",
	},
	"claims without a source": {
		good: scheduling("replica: {worker: {resourceClaims: [{name: gpu, resourceClaimName: a}, {name: nic, resourceClaimTemplateName: b}]}}"), bad: scheduling("replica: {worker: {resourceClaims: [{name: gpu}]}}"),
		field: replicaPath + "worker.resourceClaims", message: "exactly one of resourceClaimName and resourceClaimTemplateName",
	},
	"claims of the leader with two sources": {
		good: scheduling("replica: {leader: {resourceClaims: [{name: gpu, resourceClaimName: a}]}}"), bad: scheduling("replica: {leader: {resourceClaims: [{name: gpu, resourceClaimName: a, resourceClaimTemplateName: a}]}}"),
		field: replicaPath + "leader.resourceClaims", message: "exactly one of resourceClaimName and resourceClaimTemplateName",
	},
	"five claims": {
		good:  scheduling("replica: {worker: {resourceClaims: [{name: a, resourceClaimName: a}, {name: b, resourceClaimName: b}, {name: c, resourceClaimName: c}, {name: d, resourceClaimName: d}]}}"),
		bad:   scheduling("replica: {worker: {resourceClaims: [{name: a, resourceClaimName: a}, {name: b, resourceClaimName: b}, {name: c, resourceClaimName: c}, {name: d, resourceClaimName: d}, {name: e, resourceClaimName: e}]}}"),
		field: replicaPath + "worker.resourceClaims", message: "must have at most 4 items",
	},
	"LeaderReady with the gang of {}": {
		good: "startupPolicy: LeaderCreated\n" + scheduling(""), bad: "startupPolicy: LeaderReady\n" + scheduling(""),
		field: "startupPolicy", message: "LeaderReady cannot work with a gang of leader and workers",
	},
	"LeaderReady with the gang of a replica": {
		good: "startupPolicy: LeaderReady\n" + scheduling("replica: {schedulingPolicy: {basic: {}}}"), bad: "startupPolicy: LeaderReady\n" + scheduling("replica: {"+constraints+"}"),
		field: "startupPolicy", message: "LeaderReady cannot work with a gang of leader and workers",
	},
	"LeaderReady with the gang of the set": {
		good: "startupPolicy: LeaderReady\n" + scheduling(constraints), bad: "startupPolicy: LeaderReady\n" + scheduling(gang),
		field: "startupPolicy", message: "LeaderReady cannot work with a gang of leader and workers",
	},
	"LeaderReady with the gang of leader and workers among others": {
		good: "startupPolicy: LeaderReady\n" + scheduling("replica: {worker: {"+gang+"}}"), bad: "startupPolicy: LeaderReady\n" + scheduling("replica: {"+gang+", worker: {"+gang+"}}"),
		field: "startupPolicy", message: "LeaderReady cannot work with a gang of leader and workers",
	},
	"scheduling group of workers": {
		good:  worker + "{schedulingGroup: {podGroupName: mine}}}}",
		bad:   "scheduling: {}\n" + worker + "{schedulingGroup: {podGroupName: mine}}}}",
		field: "leaderWorkerTemplate.workerTemplate.spec.schedulingGroup", message: "cannot be set with spec.scheduling",
	},
	"scheduling group of leaders": {
		good:  scheduling(""),
		bad:   "scheduling: {}\n" + template("leaderTemplate: {spec: {schedulingGroup: {podGroupName: mine}, containers: [{name: leader, image: leader}]}}"),
		field: "leaderWorkerTemplate.leaderTemplate.spec.schedulingGroup", message: "cannot be set with spec.scheduling",
	},
	"priorities differ": {
		good:  "scheduling: {}\n" + template("leaderTemplate: {spec: {priorityClassName: high, containers: [{name: leader, image: leader}]}}, workerTemplate: {spec: {priorityClassName: high}}"),
		bad:   "scheduling: {}\n" + template("leaderTemplate: {spec: {priorityClassName: high, containers: [{name: leader, image: leader}]}}"),
		field: "leaderWorkerTemplate.leaderTemplate.spec.priorityClassName", message: "must be that of workerTemplate",
	},
	"gang with exclusive placement": {
		good: "scheduling: {replica: {schedulingPolicy: {basic: {}}}}\n" + template(excluded), bad: "scheduling: {}\n" + template(excluded),
		field: "scheduling", message: "cannot be combined with exclusive placement",
	},
	"gang of the set with exclusive placement": {
		good: "scheduling: {" + gang + "}\n" + template("placementPolicy: {type: None}"), bad: "scheduling: {" + gang + "}\n" + template(excluded),
		field: "scheduling", message: "cannot be combined with exclusive placement",
	},
	"topology of workers with exclusive placement": {
		good: "scheduling: {replica: {worker: {}}}\n" + template(excluded), bad: "scheduling: {replica: {worker: {" + constraints + "}}}\n" + template(excluded),
		field: "scheduling", message: "cannot be combined with exclusive placement",
	},
	"gang of workers with exclusive placement of subgroups": {
		good:  "scheduling: {replica: {worker: {}}}\n" + template("size: 4, subGroupPolicy: {subGroupSize: 2, placementPolicy: {type: ExclusiveTopology, topology: rack}}"),
		bad:   "scheduling: {replica: {worker: {" + gang + "}}}\n" + template("size: 4, subGroupPolicy: {subGroupSize: 2, placementPolicy: {type: ExclusiveTopology, topology: rack}}"),
		field: "scheduling", message: "cannot be combined with exclusive placement",
	},
}

func TestSchedulingRules(t *testing.T) {
	for name, rule := range schedulingRules {
		t.Run(name, func(t *testing.T) {
			good, bad := leaderWorkerSet(t, spec(rule.good)), leaderWorkerSet(t, spec(rule.bad))
			checkStaticRule(t, kindCase{good, bad, refusal{"spec." + rule.field, rule.message}})
			t.Run("role", func(t *testing.T) {
				checkStaticRule(t, kindCase{roleOf(t, good), roleOf(t, bad), refusal{"spec.roles[0].spec." + rule.field, rule.message}})
			})
		})
	}
}

var schedulingTransitions = map[string]transitionRule{
	"scheduling added": {
		from: template("size: 4"), to: scheduling(""),
		field: "scheduling", message: "can neither be added nor removed",
	},
	"scheduling removed": {
		from: scheduling(gang), to: template("size: 4"),
		field: "scheduling", message: "can neither be added nor removed",
	},
	"level from set to replica": {
		from: scheduling("schedulingPolicy: {basic: {}}"), to: scheduling("replica: {" + gang + "}"),
		field: "scheduling", message: "the level of scheduling cannot change",
	},
	"level from replica to role": {
		from: scheduling("replica: {" + gang + "}"), to: scheduling("replica: {worker: {}}"),
		field: "scheduling", message: "the level of scheduling cannot change",
	},
	"gang of the set": {
		from: scheduling(gang), to: scheduling("schedulingPolicy: {basic: {}}"),
		field: "scheduling", message: "are immutable",
	},
	"constraints of the set": {
		from: scheduling(gang + ", " + constraints), to: scheduling(gang),
		field: "scheduling", message: "are immutable",
	},
	"topology of a replica": {
		from: scheduling("replica: {" + constraints + "}"), to: scheduling("replica: {schedulingConstraints: {topology: [{key: zone}]}}"),
		field: "scheduling.replica", message: "are immutable",
	},
	"gang of a replica": {
		from: scheduling("replica: {" + constraints + "}"), to: scheduling("replica: {" + constraints + ", schedulingPolicy: {basic: {}}}"),
		field: "scheduling.replica", message: "are immutable",
	},
	"disruption mode of the leader": {
		from: scheduling("replica: {leader: {disruptionMode: {all: {}}}}"), to: scheduling("replica: {leader: {disruptionMode: {single: {}}}}"),
		field: "scheduling.replica.leader", message: "is immutable",
	},
	"gang of workers": {
		from: scheduling("replica: {worker: {}}"), to: scheduling("replica: {worker: {" + gang + "}}"),
		field: "scheduling.replica.worker", message: "is immutable",
	},
	"claims of workers": {
		from:  scheduling("replica: {worker: {resourceClaims: [{name: gpu, resourceClaimName: a}]}}"),
		to:    scheduling("replica: {worker: {resourceClaims: [{name: gpu, resourceClaimName: b}]}}"),
		field: "scheduling.replica.worker", message: "is immutable",
	},
	"priority": {
		from: "scheduling: {}\n" + worker + "{priorityClassName: high}}}", to: "scheduling: {}\n" + worker + "{priorityClassName: low}}}",
		field: "leaderWorkerTemplate.workerTemplate.spec.priorityClassName", message: "is immutable with spec.scheduling",
	},
}

func TestSchedulingTransitions(t *testing.T) {
	for name, rule := range schedulingTransitions {
		t.Run(name, func(t *testing.T) { checkTransitionRule(t, rule) })
	}
}

// A change that means the same, and what must follow the size, is not frozen.
func TestPermittedSchedulingChanges(t *testing.T) {
	for name, change := range map[string]struct{ from, to string }{
		"gang of a replica spelled out": {scheduling(""), scheduling("replica: {" + gang + "}")},
		"basic of the set spelled out":  {scheduling(constraints), scheduling(constraints + ", schedulingPolicy: {basic: {}}")},
		"sibling role spelled out":      {scheduling("replica: {worker: {" + gang + "}}"), scheduling("replica: {leader: {}, worker: {" + gang + "}}")},
		"size with minCount":            {scheduling("replica: {worker: {schedulingPolicy: {gang: {minCount: 3}}}}"), "scheduling: {replica: {worker: {schedulingPolicy: {gang: {minCount: 4}}}}}\n" + template("size: 5")},
		"replicas":                      {scheduling(gang), "replicas: 3\n" + scheduling(gang)},
		"priority without scheduling":   {worker + "{priorityClassName: high}}}", worker + "{priorityClassName: low}}}"},
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
