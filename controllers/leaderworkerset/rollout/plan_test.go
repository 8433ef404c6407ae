package rollout_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// groups reads "A+ A~ -- B#" as the pods of indices 0, 1, … (see world.String).
func groups(w *world, text string) {
	w.pods = [most]leaderPod{}
	stages := map[byte]stage{'#': gated, '~': starting, '+': ready, 'x': terminating, '&': retained, '!': starting, '*': starting}
	for i, word := range strings.Fields(text) {
		if word != "--" {
			w.pods[i] = leaderPod{
				stage: stages[word[1]], revision: revision(word[0]),
				unplaced: word[1] == '!', broken: word[1] == '*',
			}
		}
	}
}

// inRollout is a world in which B is written and its StatefulSet is spec.
func inRollout(w *world, spec rollout.Spec, pods string) rollout.Input {
	w.update, w.sts = 'B', written{spec, 'B'}
	w.seen, w.observed = w.sts, true
	groups(w, pods)
	return w.input()
}

func onDelete(replicas, surge int) rollout.Spec {
	return rollout.Spec{Replicas: replicas + surge, Surge: surge, OnDelete: true, Rolling: true, Baseline: replicas}
}

func rollingFrom(partition, replicas, surge int) rollout.Spec {
	return rollout.Spec{Replicas: replicas + surge, Surge: surge, Partition: partition, Rolling: true, Baseline: replicas}
}

func atRest(replicas, partition int) rollout.Spec {
	return rollout.Spec{Replicas: replicas, Partition: partition}
}

func TestCompute(t *testing.T) {
	type want struct {
		spec    rollout.Spec
		delete  []rollout.Deletion
		release []int
		phase   rollout.Phase
		reason  rollout.Reason
	}
	for name, tc := range map[string]struct {
		in   rollout.Input
		want want
	}{
		"a set at rest plans nothing": {
			newWorld(3, 0, 1, 0).input(),
			want{atRest(3, 0), nil, nil, rollout.Done, rollout.UpToDate},
		},
		"no replicas": {
			newWorld(0, 0, 0, 1).input(),
			want{atRest(0, 0), nil, nil, rollout.Done, rollout.UpToDate},
		},
		"a failure at rest gets no surge group": {
			inRollout(newWorld(3, 0, 0, 2), atRest(3, 0), "B+ B~ --"),
			want{atRest(3, 0), nil, nil, rollout.Waiting, rollout.GroupsNotReady},
		},
		"the first write is the template and OnDelete": {
			func() rollout.Input {
				w := newWorld(4, 0, 1, 1)
				w.update = 'B'
				return w.input()
			}(),
			want{onDelete(4, 1), nil, nil, rollout.Acting, rollout.ChangingStatefulSet},
		},
		"nothing is deleted before OnDelete is observed": {
			func() rollout.Input {
				in := inRollout(newWorld(4, 0, 1, 0), onDelete(4, 0), "A+ A+ A+ A+")
				in.StatefulSet.Observed = false
				return in
			}(),
			want{onDelete(4, 0), nil, nil, rollout.Waiting, rollout.StatefulSetBehind},
		},
		"two at a time, from the highest index": {
			inRollout(newWorld(4, 0, 2, 0), onDelete(4, 0), "A+ A+ A+ A+"),
			want{
				onDelete(4, 0),
				[]rollout.Deletion{{Index: 3, Cause: rollout.Outdated}, {Index: 2, Cause: rollout.Outdated}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"broken ones first and all at once, whatever the index": {
			inRollout(newWorld(5, 0, 1, 0), onDelete(5, 0), "A~ A+ A~ A+ A+"),
			want{
				onDelete(5, 0),
				[]rollout.Deletion{{Index: 2, Cause: rollout.OutdatedBroken}, {Index: 0, Cause: rollout.OutdatedBroken}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"broken ones use up no budget": {
			inRollout(newWorld(4, 0, 2, 0), onDelete(4, 0), "A+ A+ A+ A~"),
			want{
				onDelete(4, 0),
				[]rollout.Deletion{{Index: 3, Cause: rollout.OutdatedBroken}, {Index: 2, Cause: rollout.Outdated}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"nothing is deleted under RollingUpdate": {
			inRollout(newWorld(3, 0, 1, 0), atRest(3, 0), "A+ A+ A+"),
			want{onDelete(3, 0), nil, nil, rollout.Acting, rollout.ChangingStatefulSet},
		},
		"the budget is spent by what is not ready": {
			inRollout(newWorld(4, 0, 1, 0), onDelete(4, 0), "A+ A+ A+ B~"),
			want{onDelete(4, 0), nil, nil, rollout.Waiting, rollout.BudgetSpent},
		},
		"a surge group stands in once it is ready": {
			inRollout(newWorld(3, 0, 0, 1), onDelete(3, 1), "A+ A+ A+ B+"),
			want{
				onDelete(3, 1),
				[]rollout.Deletion{{Index: 2, Cause: rollout.Outdated}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"and not before": {
			inRollout(newWorld(3, 0, 0, 1), onDelete(3, 1), "A+ A+ A+ B~"),
			want{onDelete(3, 1), nil, nil, rollout.Waiting, rollout.BudgetSpent},
		},
		"a surge group of an older update is replaced first": {
			inRollout(newWorld(3, 0, 1, 1), onDelete(3, 1), "A+ A+ B~ C+"),
			want{
				onDelete(3, 1),
				[]rollout.Deletion{{Index: 3, Cause: rollout.Outdated}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"surge shrinks as the remaining fit into the budget": {
			inRollout(newWorld(4, 0, 1, 2), onDelete(4, 2), "Ax A~ B+ B+ B+ B+"),
			want{onDelete(4, 1), []rollout.Deletion{{Index: 1, Cause: rollout.OutdatedBroken}}, nil, rollout.Acting, rollout.ReplacingGroups},
		},
		"a ready surge group stays while the floor needs it": {
			inRollout(newWorld(4, 0, 1, 2), onDelete(4, 2), "Ax Bx B+ B+ B~ B+"),
			want{rollingFrom(0, 4, 2), nil, nil, rollout.Acting, rollout.ChangingStatefulSet},
		},
		"the type is RollingUpdate again when nothing is left to replace": {
			inRollout(newWorld(3, 0, 1, 0), onDelete(3, 0), "Ax B+ B+"),
			want{atRest(3, 0), nil, nil, rollout.Acting, rollout.ChangingStatefulSet},
		},
		"a gated leader of the old revision comes back new": {
			inRollout(newWorld(3, 0, 1, 0), onDelete(3, 0), "A+ A# B+"),
			want{
				onDelete(3, 0),
				[]rollout.Deletion{{Index: 1, Cause: rollout.WrongRevision}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"exhausted groups of the old revision are released": {
			inRollout(newWorld(3, 0, 1, 0), onDelete(3, 0), "A+ A& B+"),
			want{onDelete(3, 0), nil, []int{1}, rollout.Acting, rollout.ReplacingGroups},
		},
		"and are all that is left to replace": {
			inRollout(newWorld(3, 0, 1, 0), atRest(3, 0), "B+ A& B+"),
			want{atRest(3, 0), nil, []int{1}, rollout.Acting, rollout.ReplacingGroups},
		},
		"exhausted groups of the new revision are not": {
			inRollout(newWorld(3, 0, 1, 0), onDelete(3, 0), "A+ B& B+"),
			want{onDelete(3, 0), nil, nil, rollout.Waiting, rollout.BudgetSpent},
		},
		"exhausted groups that are scaled away are released": {
			inRollout(newWorld(1, 0, 1, 0), atRest(1, 0), "B+ B&"),
			want{atRest(1, 0), nil, []int{1}, rollout.Acting, rollout.ReplacingGroups},
		},
		"groups below the partition are shielded": {
			inRollout(newWorld(4, 2, 1, 0), rollingFrom(4, 4, 0), "A+ A+ A+ A+"),
			want{
				rollingFrom(4, 4, 0),
				[]rollout.Deletion{{Index: 3, Cause: rollout.Outdated}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"nothing is deleted before they are shielded": {
			inRollout(newWorld(4, 2, 1, 0), atRest(4, 2), "A+ A+ A+ A+"),
			want{rollingFrom(4, 4, 0), nil, nil, rollout.Acting, rollout.ChangingStatefulSet},
		},
		"there is nothing to shield when an update is undone": {
			func() rollout.Input {
				in := inRollout(newWorld(4, 2, 1, 0), onDelete(4, 0), "B+ B+ B+ A+")
				in.CurrentIsUpdate = true
				return in
			}(),
			want{
				onDelete(4, 0),
				[]rollout.Deletion{{Index: 3, Cause: rollout.Outdated}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"the written partition follows the deleted leaders": {
			inRollout(newWorld(4, 2, 1, 0), rollingFrom(4, 4, 0), "A+ A+ A+ Ax"),
			want{rollingFrom(3, 4, 0), nil, nil, rollout.Acting, rollout.ChangingStatefulSet},
		},
		"a group replaced out of order takes a moment of OnDelete": {
			inRollout(newWorld(4, 1, 1, 0), rollingFrom(4, 4, 0), "A+ A# A+ A+"),
			want{onDelete(4, 0), nil, nil, rollout.Acting, rollout.ChangingStatefulSet},
		},
		"not while a group below the partition has to come back old": {
			inRollout(newWorld(4, 1, 1, 0), rollingFrom(4, 4, 0), "-- A# A+ A+"),
			want{rollingFrom(4, 4, 0), nil, nil, rollout.Waiting, rollout.StatefulSetBehind},
		},
		"but when it has come back old, though gated": {
			inRollout(newWorld(4, 1, 1, 0), rollingFrom(4, 4, 0), "A# A# A+ A+"),
			want{onDelete(4, 0), nil, nil, rollout.Acting, rollout.ChangingStatefulSet},
		},
		"and then comes back new": {
			inRollout(newWorld(4, 1, 1, 0), onDelete(4, 0), "A+ A# A+ A+"),
			want{
				onDelete(4, 0),
				[]rollout.Deletion{{Index: 1, Cause: rollout.WrongRevision}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"a group below the partition that came back new in that moment goes again": {
			inRollout(newWorld(4, 1, 1, 0), rollingFrom(4, 4, 0), "B# B~ A+ A+"),
			want{
				rollingFrom(4, 4, 0),
				[]rollout.Deletion{{Index: 0, Cause: rollout.WrongRevision}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"live groups below a raised partition stay as they are": {
			inRollout(newWorld(4, 4, 1, 0), atRest(4, 4), "A+ A~ B+ C+"),
			want{atRest(4, 4), nil, nil, rollout.Done, rollout.UpToDate},
		},
		"a lowered partition goes on below": {
			inRollout(newWorld(4, 1, 1, 0), atRest(4, 3), "A+ A+ A+ B+"),
			want{
				rollingFrom(3, 4, 0),
				[]rollout.Deletion{{Index: 2, Cause: rollout.Outdated}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"scale up in a rollout": {
			inRollout(newWorld(5, 0, 1, 0), onDelete(3, 0), "A+ A+ B~"),
			want{
				rollout.Spec{Replicas: 5, OnDelete: true, Rolling: true, Baseline: 3},
				nil, nil, rollout.Acting, rollout.ChangingStatefulSet,
			},
		},
		"scale down in a rollout": {
			inRollout(newWorld(2, 0, 1, 0), onDelete(4, 0), "A+ A+ A+ B~"),
			want{
				onDelete(2, 0),
				[]rollout.Deletion{{Index: 1, Cause: rollout.Outdated}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"scale down at rest keeps no group as surge": {
			inRollout(newWorld(4, 0, 1, 2), atRest(6, 0), "B~ B~ B+ B+ B+ B+"),
			want{atRest(4, 0), nil, nil, rollout.Acting, rollout.ChangingStatefulSet},
		},
		"surge is capped at replicas": {
			inRollout(newWorld(1, 0, 0, 2), onDelete(1, 2), "A~ B~ B+"),
			want{
				onDelete(1, 1),
				[]rollout.Deletion{{Index: 0, Cause: rollout.OutdatedBroken}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"budgets of zero still move": {
			inRollout(newWorld(2, 0, 0, 0), onDelete(2, 0), "A+ A+"),
			want{
				onDelete(2, 0),
				[]rollout.Deletion{{Index: 1, Cause: rollout.Outdated}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"added groups that cannot be scheduled are not waited for": {
			inRollout(newWorld(4, 0, 1, 0), rollout.Spec{Replicas: 4, OnDelete: true, Rolling: true, Baseline: 2}, "A+ A+ B! B!"),
			want{
				rollout.Spec{Replicas: 4, OnDelete: true, Rolling: true, Baseline: 2},
				[]rollout.Deletion{{Index: 1, Cause: rollout.Outdated}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"outdated groups that cannot be scheduled are replaced first": {
			inRollout(newWorld(4, 0, 1, 0), rollout.Spec{Replicas: 4, OnDelete: true, Rolling: true, Baseline: 2}, "A+ A+ A! A!"),
			want{
				rollout.Spec{Replicas: 4, OnDelete: true, Rolling: true, Baseline: 2},
				[]rollout.Deletion{{Index: 3, Cause: rollout.OutdatedBroken}, {Index: 2, Cause: rollout.OutdatedBroken}},
				nil, rollout.Acting, rollout.ReplacingGroups,
			},
		},
		"a template that fits nowhere stops at the budget": {
			inRollout(newWorld(4, 0, 2, 0), onDelete(4, 0), "A+ A+ B! B!"),
			want{onDelete(4, 0), nil, nil, rollout.Waiting, rollout.BudgetSpent},
		},
		"the baseline of a rollout that begins are the groups with a place": {
			func() rollout.Input {
				w := newWorld(4, 0, 1, 0)
				groups(w, "A+ A+ A! A!")
				w.update = 'B'
				return w.input()
			}(),
			want{
				rollout.Spec{Replicas: 4, OnDelete: true, Rolling: true, Baseline: 2},
				nil, nil, rollout.Acting, rollout.ChangingStatefulSet,
			},
		},
		"a lost StatefulSet does not make a baseline of none": {
			func() rollout.Input {
				w := newWorld(3, 0, 1, 0)
				w.update, w.sts, w.observed = 'B', written{}, false
				return w.input()
			}(),
			want{onDelete(3, 0), nil, nil, rollout.Acting, rollout.ChangingStatefulSet},
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := rollout.Compute(tc.in)
			got := want{plan.Spec, plan.Delete, plan.Release, plan.Phase, plan.Reason}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("plan of %+v (-want +got):\n%s", tc.in, diff)
			}
			if text := violation(tc.in, plan); text != "" {
				t.Error(text)
			}
		})
	}
}

func TestAdmits(t *testing.T) {
	const updated, current, other = 'B', 'A', 'C'
	for name, tc := range map[string]struct {
		spec     rollout.Spec
		observed bool
		revision revision
		index    int
		want     bool
	}{
		"updated at the partition":                    {rollingFrom(4, 4, 0), true, updated, 2, true},
		"updated before it is observed":               {rollingFrom(4, 4, 0), false, updated, 2, true},
		"old at the partition":                        {rollingFrom(4, 4, 0), true, current, 2, false},
		"old below the partition":                     {rollingFrom(4, 4, 0), true, current, 1, true},
		"old below the partition, not yet observed":   {rollingFrom(4, 4, 0), false, current, 1, false},
		"old below the partition under OnDelete":      {onDelete(4, 0), true, current, 1, true},
		"old below a partition that is to be written": {rollingFrom(1, 4, 0), true, current, 1, false},
		"updated below the partition":                 {rollingFrom(4, 4, 0), true, updated, 1, false},
		"neither below the partition":                 {rollingFrom(4, 4, 0), true, other, 1, false},
		"an updated surge group":                      {rollingFrom(4, 4, 1), true, updated, 4, true},
		"an old surge group":                          {rollingFrom(4, 4, 1), true, current, 4, false},
		"beyond surge":                                {rollingFrom(4, 4, 1), true, updated, 5, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(4, 2, 0, 1)
			in := inRollout(w, tc.spec, "")
			in.StatefulSet.Observed = tc.observed
			w.pods[tc.index] = leaderPod{stage: gated, revision: tc.revision}
			if got := in.Admits(w.group(tc.index)); got != tc.want {
				t.Errorf("Admits %s at index %d = %v, want %v", w.pods[tc.index], tc.index, got, tc.want)
			}
		})
	}
	in := newWorld(1, 0, 1, 3).input()
	if in.Admits(rollout.Group{Index: 2, Leader: rollout.Gated, Updated: true}) {
		t.Error("more surge groups than replicas are admitted")
	}
	in = newWorld(2, 0, 1, 0).input()
	in.StatefulSet.OldTemplate = true
	if in.Admits(rollout.Group{Index: 1, Leader: rollout.Gated, Updated: true}) {
		t.Error("a leader is admitted under a StatefulSet whose template is another")
	}
}
