package group

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// planCase is what a plan has to be, for a change of a group at rest.
type planCase struct {
	change func(*observation)
	steps  []string
	told   []string // reasons
	after  time.Duration
	report Report
	held   gateReason
}

func testPlans(t *testing.T, tests map[string]planCase) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := planFor(observed(test.change))
			if diff := cmp.Diff(test.steps, names(p.Steps)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			var told []string
			for _, e := range p.Tell {
				told = append(told, e.Reason)
			}
			if diff := cmp.Diff(test.told, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if p.After != test.after {
				t.Errorf("looks again after %s, want %s", p.After, test.after)
			}
			if diff := cmp.Diff(test.report, p.Report); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			if p.Held.Reason != test.held {
				t.Errorf("held by %q, want %q", p.Held.Reason, test.held)
			}
		})
	}
}

func fresh(o *observation) {
	o.Leader.Gated, o.Leader.Phase, o.Leader.Node, o.Leader.Memory = true, corev1.PodPending, "", nil
	o.Workers, o.Living.Workers = nil, nil
}

func lostWorker(o *observation) {
	deleting(&o.Living.Workers[0])
}

func also(changes ...func(*observation)) func(*observation) {
	return func(o *observation) {
		for _, change := range changes {
			change(o)
		}
	}
}

func policy(p lwsv1.RestartPolicyType) func(*observation) {
	return func(o *observation) { o.Set.Policy = p }
}

func limited(limit, count int32, leader string) func(*observation) {
	return func(o *observation) {
		o.Set.Budget.Limited, o.Set.Budget.Limit = true, limit
		o.Set.Budget.Count = Count{Restarts: count, Leader: corePodUID(leader)}
		o.Set.Counted = count > 0
	}
}

func isExhausted(o *observation) {
	o.Leader.Exhausted, o.Leader.Retained = true, true
	deleting(&o.Leader.pod)
	for i := range o.Living.Workers {
		retained(&o.Living.Workers[i])
		deleting(&o.Living.Workers[i])
	}
}

var released = []string{"releasePod set-3-1", "releasePod set-3-2", "releasePod set-3"}

func TestPlanOfBringUp(t *testing.T) {
	testPlans(t, map[string]planCase{
		"admitted, with its workers": {change: fresh, steps: []string{"liftGate", "createWorkers"}, held: gateOpen},
		"admitted, of size 1": {
			change: also(fresh, func(o *observation) { o.Leader.Size = 1 }),
			steps:  []string{"liftGate"}, held: gateOpen,
		},
		"admitted, workers when it is ready": {
			change: also(fresh, func(o *observation) { o.Set.OnReady = true }),
			steps:  []string{"liftGate"}, held: gateOpen,
		},
		"its Service first": {
			change: also(fresh, func(o *observation) { o.Leader.OwnService = true }),
			steps:  []string{"createService", "liftGate", "createWorkers"}, held: gateOpen,
		},
		"the name of its Service is known to be taken": {
			change: also(fresh, func(o *observation) {
				o.Leader.OwnService = true
				o.Noted.taken = map[string]taken{takenService: {message: "Service set-3 is somebody's", until: o.Now.Add(time.Second)}}
			}),
			told: []string{lwsv1.ReasonNameConflict}, after: time.Second, held: gateConflict,
			report: Report{Problem: &Problem{lwsv1.ReasonNameConflict, "Service set-3 is somebody's"}},
		},
		"its PodGroup cannot be made": {
			change: also(fresh, func(o *observation) { o.Gang = gang{Used: true, Unavailable: "the gate is off"} }), held: gateScheduling,
			report: Report{Problem: &Problem{lwsv1.ReasonFailedCreate, "Leader set-3 is held, its PodGroup cannot be made: the gate is off"}},
		},
		"nobody knows yet whether its PodGroup can be made": {
			change: also(fresh, func(o *observation) { o.Gang = gang{Used: true, Unavailable: "not known", Unread: true} }), held: gateScheduling,
		},
		"an old revision": {
			change: also(fresh, func(o *observation) { o.Leaders.UpdateRevision = "new" }), held: gateRevision,
		},
		"an old revision below the partition": {
			change: also(fresh, func(o *observation) { o.Leaders.UpdateRevision, o.Leaders.Spares, o.Set.Partition = "new", 4, 4 }),
			steps:  []string{"liftGate", "createWorkers"}, held: gateOpen,
		},
		"an old revision below the partition of the set but not of its StatefulSet, or not seen by its controller": {
			change: also(fresh, func(o *observation) { o.Leaders.UpdateRevision, o.Leaders.Spares, o.Set.Partition = "new", 3, 4 }), held: gateRevision,
		},
		"the new revision below the partition": {
			change: also(fresh, func(o *observation) {
				o.Leaders.UpdateRevision, o.Set.Partition, o.Leader.Revision, o.Leader.PodRevision = "new", 4, "new", "pods-new"
			}), held: gateRevision,
		},
		"scaled away":       {change: also(fresh, func(o *observation) { o.Leaders.Replicas = 3 }), held: gateScaledAway},
		"of an old set":     {change: also(fresh, func(o *observation) { o.Leader.Controlled = false })},
		"set being deleted": {change: also(fresh, func(o *observation) { o.Set.Deleting = true })},
		"set gone":          {change: also(fresh, func(o *observation) { o.Set = nil })},
		"memory when whole": {
			change: func(o *observation) { o.Leader.Memory = nil },
			steps:  []string{"checkWorkers", "annotateLeader group-members"},
		},
		"no memory before it is whole": {
			change: func(o *observation) { o.Leader.Memory, o.Living.Workers[1].Phase = nil, corev1.PodPending },
			steps:  []string{"checkWorkers"},
		},
		"a node without the label of the topology": {
			change: also(fresh, func(o *observation) {
				o.Leader.Gated, o.Leader.Node, o.Topology = false, "node", "zone"
			}),
			told: []string{lwsv1.ReasonFailedCreate},
			report: Report{Problem: &Problem{
				lwsv1.ReasonFailedCreate,
				"node node of leader set-3 does not have the label zone, whose value its workers are to share",
			}},
		},
		"at rest": {change: func(*observation) {}, steps: []string{"checkWorkers"}},
	})
}

func TestPlanOfPredecessors(t *testing.T) {
	waiting := Report{Problem: &Problem{
		lwsv1.ReasonPredecessorTerminating,
		"Leader set-3 waits for pod set-3-1 on node node, which has not terminated in its grace period: it goes when the node answers, " +
			"when Node node is deleted, or when it gets the taint node.kubernetes.io/out-of-service",
	}}
	left := func(options ...podOption) func(*observation) {
		return func(o *observation) { o.Living.Predecessors = []pod{worker(1, options...)} }
	}
	testPlans(t, map[string]planCase{
		"a predecessor's StatefulSet is deleted": {
			change: also(fresh, left(), func(o *observation) { o.Workers = &workerSet{UID: "old", Owner: byOld} }),
			steps:  []string{"deleteWorkers old"}, held: gatePredecessor,
		},
		"unless garbage collection may still take it": {
			change: also(fresh, left(), func(o *observation) {
				o.Workers, o.Leader.Created = &workerSet{UID: "old", Owner: byOld}, o.Now.Add(-4*time.Second)
			}),
			held: gatePredecessor, after: 6 * time.Second,
		},
		"its pods are waited for": {
			change: also(fresh, left(deleting), func(o *observation) { o.Now = testStart }),
			held:   gatePredecessor, after: 30*time.Second + slack,
		},
		"its pods are late": {
			change: also(fresh, left(deleting)), told: []string{lwsv1.ReasonGroupReplacementDeferred}, held: gatePredecessor, report: waiting,
		},
		"nothing is told twice": {
			change: also(fresh, left(), func(o *observation) { o.Noted.told = map[string]string{topicDeferred: "x"} }), held: gatePredecessor,
		},
		"pods that nobody ends are ended": {
			change: also(fresh, func(o *observation) { o.Living.Orphans = []pod{worker(1), worker(2, deleting)}; o.Now = testStart }),
			steps:  []string{"deletePod set-3-1"}, held: gatePredecessor,
			after: 30*time.Second + slack,
		},
		"pods that were retained are let go": {
			change: also(fresh, left(deleting, retained), func(o *observation) { o.Now = testStart }),
			steps:  []string{"releasePod set-3-1"}, held: gatePredecessor,
			after: 30*time.Second + slack,
		},
		"admission after that is told": {
			change: also(fresh, func(o *observation) { o.Noted.told = map[string]string{topicDeferred: "x"} }),
			steps:  []string{"liftGate", "createWorkers"}, told: []string{lwsv1.ReasonGroupReplacementAdmitted}, held: gateOpen,
		},
		"with None it finds its workers": {
			change: also(fresh, policy(lwsv1.NoneRestartPolicy), func(o *observation) {
				o.Workers = &workerSet{UID: "workers", Owner: bySet, Revision: "rev"}
			}),
			steps: []string{"liftGate", "checkWorkers"}, held: gateOpen,
		},
		"with None those of another revision end first": {
			change: also(fresh, policy(lwsv1.NoneRestartPolicy), func(o *observation) {
				o.Workers = &workerSet{UID: "workers", Owner: bySet, Revision: "other"}
			}),
			steps: []string{"deleteWorkers workers"}, held: gatePredecessor,
		},
		"a leader that is not wanted ends nothing": {
			change: also(fresh, left(), func(o *observation) {
				o.Workers, o.Leaders.UpdateRevision = &workerSet{UID: "old", Owner: byOld}, "new"
			}), held: gateRevision,
		},
		"without a leader, scaled away": {
			change: func(o *observation) {
				o.Leader, o.Leaders.Replicas, o.Workers.Owner = nil, 3, bySet
				o.Living = generation{Orphans: []pod{worker(1, by(owner{}))}}
			},
			steps: []string{"deleteWorkers workers", "deletePod set-3-1"},
		},
		"without a leader, another is to come": {
			change: func(o *observation) {
				o.Leader, o.Workers.Owner = nil, bySet
				o.Living = generation{Orphans: []pod{worker(1, by(owner{}))}, Predecessors: []pod{worker(2, retained)}}
			},
			steps: []string{"releasePod set-3-2"},
		},
	})
}

func TestPlanOfFailures(t *testing.T) {
	after := func(o *observation) { o.Set.Policy, o.Leader.Memory = lwsv1.RecreateGroupAfterStart, nil }
	young := func(o *observation) {
		o.Now = testStart.Add(4 * time.Second)
		o.Set.Budget.BacksOff, o.Set.Budget.Base, o.Set.Budget.Cap = true, 10*time.Second, 300*time.Second
	}
	recreated := []string{"deleteLeader leader"}
	told := []string{lwsv1.ReasonRecreateGroup}
	testPlans(t, map[string]planCase{
		"recreated":     {change: lostWorker, steps: recreated, told: told},
		"None does not": {change: also(lostWorker, policy(lwsv1.NoneRestartPolicy), func(o *observation) { o.Leader.Memory, o.Workers.Owner = nil, bySet }), steps: []string{"checkWorkers"}},
		"after start, not started": {
			change: also(lostWorker, after, func(o *observation) { unplaced(&o.Living.Workers[1]) }),
			steps:  []string{"checkWorkers"}, told: []string{lwsv1.ReasonGroupUnschedulable},
		},
		"after start, a restart before that becomes the baseline": {
			change: also(after, func(o *observation) { restarted("main", 2)(&o.Living.Workers[1]) }),
			steps:  []string{"checkWorkers", "annotateLeader group-members"},
		},
		"after start, whole with a pod that is ending": {change: also(lostWorker, after), steps: recreated, told: told},
		"deferred": {
			change: also(lostWorker, young), told: []string{lwsv1.ReasonGroupRestartBackoff}, after: 6 * time.Second,
		},
		"counted first": {
			change: also(lostWorker, limited(3, 1, "before")),
			report: Report{Restart: &Restart{Entry: Entry{"rev", "3"}, Leader: "leader"}},
		},
		"counted": {change: also(lostWorker, limited(3, 2, "leader")), steps: recreated, told: told},
		"spent": {
			change: also(lostWorker, limited(1, 1, "before")),
			steps:  []string{"exhaustLeader", "retainPod set-3-2", "deleteLeader leader"},
			told:   []string{lwsv1.ReasonReplicaRestartBudgetExceeded},
		},
		"its StatefulSet replaces a leader that failed": {
			change: func(o *observation) { o.Leader.Phase = corev1.PodFailed },
		},
		"the leader is going already": {change: also(lostWorker, func(o *observation) { deleting(&o.Leader.pod); o.Now = testStart }), after: 30*time.Second + slack},
		"its leader belongs to nobody for a moment": {
			change: also(lostWorker, func(o *observation) { o.Leader.Controlled = false }),
		},
		"the set is being deleted": {change: also(lostWorker, func(o *observation) { o.Set.Deleting = true })},
	})
}

func TestPlanOfExhaustion(t *testing.T) {
	recovered := func(o *observation) { o.Leader.Recover = true }
	testPlans(t, map[string]planCase{
		"stays": {change: also(limited(1, 1, "before"), isExhausted)},
		"goes on after a crash": {
			change: func(o *observation) { o.Leader.Exhausted, o.Leader.Retained = true, true },
			steps:  []string{"retainPod set-3-1", "retainPod set-3-2", "deleteLeader leader"},
		},
		"raising the limit does not recover": {change: also(limited(9, 1, "before"), isExhausted)},
		"recovery asks for a fresh budget": {
			change: also(limited(1, 1, "before"), isExhausted, recovered),
			report: Report{Recovery: &Entry{"rev", "3"}},
		},
		"recovery": {change: also(limited(1, 0, ""), isExhausted, recovered), steps: released, told: []string{lwsv1.ReasonGroupRecovered}},
		"recovery of a group that is marked and not stopped yet": {
			change: func(o *observation) { o.Leader.Exhausted, o.Leader.Retained, o.Leader.Recover = true, true, true },
			steps:  []string{"releasePod set-3", "deleteLeader leader"}, told: []string{lwsv1.ReasonGroupRecovered},
		},
		"a request for recovery before that is dropped": {
			change: recovered, steps: []string{"annotateLeader recover remove", "checkWorkers"},
		},
		"scaled away":           {change: also(isExhausted, func(o *observation) { o.Leaders.Replicas = 2 }), steps: released},
		"replaced by a rollout": {change: also(isExhausted, func(o *observation) { o.Leaders.UpdateRevision = "new" }), steps: released},
		"a rollout above it does not": {
			change: also(isExhausted, func(o *observation) { o.Leaders.UpdateRevision, o.Set.Partition = "new", 4 }),
		},
		"set being deleted": {change: also(isExhausted, func(o *observation) { o.Set.Deleting = true }), steps: released},
		"set gone":          {change: also(isExhausted, func(o *observation) { o.Set = nil }), steps: released},
		"the leader was set free by hand": {
			change: also(isExhausted, func(o *observation) {
				o.Living = generation{Predecessors: o.Living.Workers}
				o.Leader = nil
			}),
			steps: released[:2],
		},
	})
}

func TestPlanOfTermination(t *testing.T) {
	ending := func(o *observation) { deleting(&o.Leader.pod); o.Now = testStart }
	parallel := func(o *observation) { o.Set.Parallel, o.Leader.Parallel = true, true }
	testPlans(t, map[string]planCase{
		"Sequential": {change: ending, after: 30*time.Second + slack},
		"Parallel":   {change: also(ending, parallel), steps: []string{"deleteWorkers workers"}, after: 30*time.Second + slack},
		"Parallel, the set is gone": {
			change: also(ending, parallel, func(o *observation) { o.Set = nil }), steps: []string{"deleteWorkers workers"},
		},
		"Sequential, the set is gone": {change: also(ending, func(o *observation) { o.Set = nil })},
		"switched to Parallel": {
			change: func(o *observation) { o.Set.Parallel = true },
			steps:  []string{"annotateLeader pod-termination-policy", "checkWorkers"},
		},
		"switched to Sequential": {
			change: func(o *observation) { o.Leader.Parallel = true },
			steps:  []string{"annotateLeader pod-termination-policy remove", "checkWorkers"},
		},
		"late on a node that does not answer": {
			change: func(o *observation) { deleting(&o.Leader.pod); o.Now = testStart.Add(time.Minute) },
			told:   []string{lwsv1.ReasonGroupReplacementDeferred},
			report: Report{Problem: &Problem{
				lwsv1.ReasonPredecessorTerminating,
				"Group 3 waits for pod set-3 on node node, which has not terminated in its grace period: it goes when the node answers, " +
					"when Node node is deleted, or when it gets the taint node.kubernetes.io/out-of-service",
			}},
		},
	})
}

func TestPlanOfPolicyChanges(t *testing.T) {
	bySetNow := func(o *observation) { o.Workers.Owner, o.Leader.Memory = bySet, nil }
	testPlans(t, map[string]planCase{
		"to None": {
			change: also(policy(lwsv1.NoneRestartPolicy)),
			steps:  []string{"adoptWorkers to set", "annotateLeader group-members remove"},
		},
		"from None": {
			change: also(bySetNow),
			steps:  []string{"annotateLeader group-members", "adoptWorkers to leader"},
		},
		"from None, restarts until now are the baseline": {
			change: also(bySetNow, func(o *observation) { restarted("main", 5)(&o.Living.Workers[0]) }),
			steps:  []string{"annotateLeader group-members", "adoptWorkers to leader"},
		},
		"from None, and the memory of before is not": {
			change: also(bySetNow, func(o *observation) { o.Leader.Memory = remembered("a", "b") }),
			steps:  []string{"annotateLeader group-members", "adoptWorkers to leader"},
		},
		"from None, not whole, restarts until now": {
			change: also(bySetNow, func(o *observation) {
				restarted("main", 5)(&o.Living.Workers[0])
				o.Living.Workers[1].Phase = corev1.PodPending
			}),
			steps: []string{"annotateLeader group-members", "adoptWorkers to leader"},
		},
		"from None, not whole, nothing to remember": {
			change: also(bySetNow, func(o *observation) { o.Living.Workers[1].Phase = corev1.PodPending }),
			steps:  []string{"adoptWorkers to leader"},
		},
		"from None, of size 1, while no manager ran": {
			change: func(o *observation) {
				o.Leader.Size, o.Leader.Memory, o.Workers, o.Living.Workers = 1, nil, nil, nil
				o.Leader.MarkedNone = true
				restarted("main", 2)(&o.Leader.pod)
			},
			steps: []string{"annotateLeader group-members", "annotateLeader restart-policy remove"},
		},
		"from None, of size 1": {
			change: func(o *observation) {
				o.Leader.Size, o.Leader.Memory, o.Workers, o.Living.Workers = 1, nil, nil, nil
				o.Noted.policy = lwsv1.NoneRestartPolicy
				restarted("main", 2)(&o.Leader.pod)
			},
			steps: []string{"annotateLeader group-members"},
		},
	})
}
