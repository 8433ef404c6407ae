package rollout_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

// anyInput is a set of any size in any state, possible or not.
func anyInput(t *rapid.T) rollout.Input {
	replicas := rapid.IntRange(0, 300).Draw(t, "replicas")
	maxSurge := rapid.IntRange(0, 20).Draw(t, "maxSurge")
	surge := rapid.IntRange(0, maxSurge+3).Draw(t, "surge")
	in := rollout.Input{
		Replicas:        replicas,
		Partition:       rapid.IntRange(0, replicas+2).Draw(t, "partition"),
		MaxUnavailable:  rapid.IntRange(0, 20).Draw(t, "maxUnavailable"),
		MaxSurge:        maxSurge,
		CurrentIsUpdate: rapid.Bool().Draw(t, "currentIsUpdate"),
		StatefulSet: rollout.StatefulSet{
			Spec: rollout.Spec{
				Replicas: rapid.IntRange(0, replicas+5).Draw(t, "was") + surge, Surge: surge,
				Partition: rapid.IntRange(0, replicas+2).Draw(t, "written"),
				OnDelete:  rapid.Bool().Draw(t, "onDelete"),
				Rolling:   rapid.Bool().Draw(t, "rolling"),
				Baseline:  rapid.IntRange(0, replicas+5).Draw(t, "baseline"),
			},
			Observed:    rapid.Bool().Draw(t, "observed"),
			OldTemplate: rapid.Bool().Draw(t, "oldTemplate"),
		},
	}
	// A few words of randomness stand for hundreds of groups.
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "groups"), 0))
	leaders := []rollout.Leader{rollout.Live, rollout.Live, rollout.Live, rollout.Gated, rollout.Terminating, rollout.Retained}
	present := random.IntN(11)
	for i := range replicas + maxSurge + 5 {
		if random.IntN(10) >= present {
			continue
		}
		updated := random.IntN(2) == 0
		in.Groups = append(in.Groups, rollout.Group{
			Index: i, Leader: leaders[random.IntN(len(leaders))],
			Ready: random.IntN(3) > 0, Unschedulable: random.IntN(8) == 0,
			Updated: updated, Current: updated == in.CurrentIsUpdate,
		})
	}
	return in
}

func TestAnyPlanKeepsTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyInput(t)
		plan := rollout.Compute(in)
		if text := violation(in, plan); text != "" {
			t.Fatalf("%s\ninput %+v\nplan  %+v", text, in, plan)
		}
	})
}

// TestAnyRolloutEnds lets the user change their mind and groups fail, in any
// order, and then waits for the end.
func TestAnyRolloutEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		replicas := rapid.IntRange(0, 12).Draw(t, "replicas")
		maxUnavailable := rapid.IntRange(0, 4).Draw(t, "maxUnavailable")
		w := newWorld(replicas, rapid.IntRange(0, replicas).Draw(t, "partition"), maxUnavailable,
			rapid.IntRange(1-min(1, maxUnavailable), 4).Draw(t, "maxSurge"))
		w.podBudget = rapid.Bool().Draw(t, "podBudget")
		w.movesOnDelete = rapid.Bool().Draw(t, "movesOnDelete")
		p := player{
			world:    w,
			random:   rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0)),
			failures: rapid.IntRange(0, 8).Draw(t, "failures"),
		}
		edits := map[int]func(*world){0: func(w *world) { w.update = 'B' }}
		for range rapid.IntRange(0, 4).Draw(t, "edits") {
			edits[rapid.IntRange(1, 400).Draw(t, "when")] = anyEdit(t)
		}
		p.play(400, edits)
		p.settle(400, 300)
		if p.wrong != "" {
			t.Fatalf("%s\n%s", p.wrong, p.log.String())
		}
		if plan := rollout.Compute(w.input()); plan.Phase != rollout.Done {
			t.Fatalf("ends with %+v\n%s", plan, p.log.String())
		}
	})
}

func anyEdit(t *rapid.T) func(*world) {
	update := rapid.SampledFrom([]revision{'A', 'B', 'C'}).Draw(t, "update")
	replicas := rapid.IntRange(0, 12).Draw(t, "to")
	partition := rapid.IntRange(0, 12).Draw(t, "from")
	return rapid.SampledFrom([]func(*world){
		func(w *world) { w.update = update },
		func(w *world) { w.replicas = replicas },
		func(w *world) { w.partition = partition },
		func(w *world) { w.update, w.replicas = update, replicas },
	}).Draw(t, "edit")
}

// TestAnyRolloutEndsWithoutRoom: when the old groups fit and the new ones do,
// a rollout ends although both do not.
func TestAnyRolloutEndsWithoutRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := rapid.IntRange(1, 8).Draw(t, "before"), rapid.IntRange(1, 8).Draw(t, "after")
		w := newWorld(before, 0, rapid.IntRange(1, 3).Draw(t, "maxUnavailable"), rapid.IntRange(0, 3).Draw(t, "maxSurge"))
		w.size = [3]int{rapid.IntRange(1, 5).Draw(t, "size A"), rapid.IntRange(1, 5).Draw(t, "size B"), 1}
		w.room = max(before*w.size[0], after*w.size[1])
		w.update, w.replicas = 'B', after
		p := player{world: w, random: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))}
		p.play(200, nil)
		p.settle(200, 200)
		if p.wrong != "" {
			t.Fatalf("%s\n%s", p.wrong, p.log.String())
		}
		if plan := rollout.Compute(w.input()); plan.Phase != rollout.Done {
			t.Fatalf("ends with %+v\n%s", plan, p.log.String())
		}
	})
}
