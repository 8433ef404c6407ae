package disaggregatedset

import (
	"fmt"
	"slices"

	"sigs.k8s.io/lws/controllers/disaggregatedset/children"
	"sigs.k8s.io/lws/controllers/disaggregatedset/identity"
	"sigs.k8s.io/lws/controllers/disaggregatedset/rollout"
	"sigs.k8s.io/lws/controllers/disaggregatedset/scaler"
)

// slicePlan is what to do about a slice.
type slicePlan struct {
	Slice   *slice
	Rollout rollout.Plan
	// Rolling says that old replicas are left.
	Rolling bool
	// Members are all LeaderWorkerSets of the slice, as they are to be after the steps
	// of the rollout: those of a generation that lacks a role first, then old ones.
	Members []*memberPlan
	// Publish are the generations that have Services.
	Publish []*generation
	// Withdraw are those that must not have any, Drained those that go.
	Withdraw, Drained []*generation
	// Waits says why a plan has no steps.
	Waits string
}

// memberPlan is one LeaderWorkerSet as it is to be.
type memberPlan struct {
	children.LeaderWorkerSet
	// From is the number of replicas that it has.
	From int
	// Partial says that its generation has some of its roles only, which is what a
	// manager leaves that dies between two writes.
	Partial bool
	// Written says that its replicas were changed.
	Written bool
}

// planSlice decides about the slice at an index of seen.Slices.
func planSlice(seen *observation, index int) *slicePlan {
	s := seen.Slices[index]
	p := &slicePlan{Slice: s, Rolling: s.isRolling()}
	if s.Waits {
		p.Waits = "waiting for slice 0 to be rolled to its present form"
		return p
	}
	input := plannerInput(seen, s, index)
	p.Rollout = rollout.Compute(input)
	if p.Rollout.Verdict == rollout.Wait {
		p.Waits = describeWait(p.Rollout, input)
	}
	steps := map[rollout.Step]rollout.Step{}
	for _, step := range p.Rollout.Steps {
		steps[rollout.Step{Revision: step.Revision, Role: step.Role}] = step
	}
	for k, g := range s.Old {
		p.planGeneration(seen, g, k, steps)
	}
	p.planGeneration(seen, s.Current, rollout.Current, steps)
	slices.SortStableFunc(p.Members, partialFirst)
	return p
}

func partialFirst(a, b *memberPlan) int {
	switch {
	case a.Partial == b.Partial:
		return 0
	case a.Partial:
		return -1
	}
	return 1
}

func plannerInput(seen *observation, s *slice, index int) rollout.Input {
	var input rollout.Input
	for _, r := range seen.Roles {
		input.Roles = append(input.Roles, rollout.Role{
			Name: r.Name, Wanted: r.Spec != nil, Target: r.Targets[index],
			Surge: r.Budgets[index].Surge, Unavailable: r.Budgets[index].Unavailable,
		})
	}
	counts := func(g *generation) []rollout.Count {
		row := make([]rollout.Count, len(seen.Roles))
		for i, r := range seen.Roles {
			if m := g.Members[r.Name]; m != nil {
				row[i] = rollout.Count{Baseline: m.Baseline, Spec: m.Replicas, Ready: m.Ready}
			}
		}
		return row
	}
	input.New = counts(s.Current)
	for _, g := range s.Old {
		input.Old = append(input.Old, counts(g))
	}
	return input
}

func describeWait(p rollout.Plan, input rollout.Input) string {
	name := input.Roles[p.Role].Name
	if p.Reason == rollout.NoBudget {
		return fmt.Sprintf("role %s has neither maxSurge nor maxUnavailable to move with", name)
	}
	return fmt.Sprintf("waiting for replicas of role %s to become ready", name)
}

// planGeneration plans the members of a generation and whether it is published.
func (p *slicePlan) planGeneration(seen *observation, g *generation, at int, steps map[rollout.Step]rollout.Step) {
	current := at == rollout.Current
	if !current && g.isEmpty() {
		p.Withdraw, p.Drained = append(p.Withdraw, g), append(p.Drained, g)
		return
	}
	published := !g.isEmpty() && !isAmbiguous(seen, g)
	for i, r := range seen.Roles {
		m := g.Members[r.Name]
		if m == nil && (!current || r.Spec == nil) {
			continue
		}
		plan := p.planMember(seen, r, m, current)
		if step, moves := steps[rollout.Step{Revision: at, Role: i}]; moves {
			plan.Replicas = step.To
		}
		plan.Partial = g.isPartial()
		p.Members = append(p.Members, plan)
		published = published && (m.serves(plan.Replicas) || !isWanted(r, m, p.Slice.Index, current))
	}
	if published {
		p.Publish = append(p.Publish, g)
	} else {
		p.Withdraw = append(p.Withdraw, g)
	}
}

// isWanted leaves out of a generation the roles that are absent by wish: whose
// target is zero or, in an old generation, was.
func isWanted(r *role, m *member, slice int, current bool) bool {
	switch {
	case r.Spec != nil && r.Targets[slice] == 0:
		return false
	case current:
		return true
	}
	return m != nil && (m.Baseline > 0 || m.Replicas > 0)
}

// isAmbiguous says that the Services of a generation without slices would match the
// pods of other slices.
func isAmbiguous(seen *observation, g *generation) bool {
	if !g.Sliceless {
		return false
	}
	for _, s := range append(slices.Clone(seen.Slices), seen.Surplus...) {
		if s.Index == 0 {
			continue
		}
		for _, other := range append(slices.Clone(s.Old), s.Current) {
			if other.Revision == g.Revision && len(other.Members) > 0 {
				return true
			}
		}
	}
	return false
}

func (p *slicePlan) planMember(seen *observation, r *role, m *member, current bool) *memberPlan {
	plan := &memberPlan{LeaderWorkerSet: children.LeaderWorkerSet{Set: seen.Set, Role: r.Spec}}
	plan.Budget = r.Budgets[p.Slice.Index]
	if m != nil {
		plan.Key, plan.Live, plan.Replicas, plan.From = m.Key, m.Live, m.Replicas, m.Replicas
	} else {
		plan.Key = identity.Key{Slice: p.Slice.Index, Revision: seen.Revision, Role: r.Name}
	}
	if current {
		plan.Meaning = r.Meaning
	} else {
		baseline := m.Baseline
		plan.Baseline = &baseline
	}
	if r.Spec != nil && scaler.Ignores(r.Scaling) {
		ignored := r.Scaling.Replicas
		plan.Ignored = &ignored
	}
	return plan
}
