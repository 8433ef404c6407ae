package rollout

import "slices"

// Step is what happens in a preview before all groups are ready again.
type Step struct {
	// Replace are the groups whose leaders are deleted, in the order of the plan.
	Replace []Deletion
	// Release are the indices of exhausted groups that are let go.
	Release []int
	// Add are the indices that had no group, Remove those that have none any more.
	Add, Remove []int
	// Ready and Existing are the fewest ready and the most existing groups meanwhile.
	Ready, Existing int
}

func (s *Step) isEmpty() bool {
	return len(s.Replace)+len(s.Release)+len(s.Add)+len(s.Remove) == 0
}

// Course is a rollout from what is observed to its end.
type Course struct {
	Steps []Step
	// LowestReady and HighestExisting are the extremes of the whole course.
	LowestReady, HighestExisting int
	// End is where it ends: done, or waiting for what no plan can change.
	End Verdict
}

// Preview is how a rollout goes on if every group that is made becomes ready and
// nothing else happens. Groups that are ready earlier than others make the rollout go
// on earlier: the order is the same, steps may overlap.
func Preview(in Input) Course {
	p := newPreview(in)
	for before := p.frame(); ; before = p.frame() {
		plan := Compute(p.in)
		p.course.End = plan.Verdict
		p.step = Step{Ready: p.ready(), Existing: len(p.in.Groups)}
		p.carryOut(plan)
		p.makePods()
		p.becomeReady()
		if !p.step.isEmpty() {
			p.course.Steps = append(p.course.Steps, p.step)
		}
		if p.frame().equal(before) {
			return p.course
		}
	}
}

// preview is a set whose StatefulSet, its controller and kubelets do at once what is
// asked of them.
type preview struct {
	in     Input
	step   Step
	course Course
	// replaced are the indices whose groups are on their way back.
	replaced map[int]bool
}

func newPreview(in Input) *preview {
	p := &preview{in: newState(in).Input, replaced: map[int]bool{}}
	p.in.StatefulSet.OldTemplate = p.in.StatefulSet.OldTemplate || !p.in.StatefulSet.Observed
	p.course.LowestReady, p.course.HighestExisting = p.ready(), len(p.in.Groups)
	return p
}

// frame is all that changes in a preview.
type frame struct {
	statefulSet     StatefulSet
	currentIsUpdate bool
	groups          []Group
}

func (p *preview) frame() frame {
	return frame{p.in.StatefulSet, p.in.CurrentIsUpdate, slices.Clone(p.in.Groups)}
}

func (f frame) equal(other frame) bool {
	return f.statefulSet == other.statefulSet && f.currentIsUpdate == other.currentIsUpdate &&
		slices.Equal(f.groups, other.groups)
}

func (p *preview) ready() int {
	n := 0
	for _, g := range p.in.Groups {
		if g.ready() {
			n++
		}
	}
	return n
}

// look notes down the extremes.
func (p *preview) look() {
	ready, existing := p.ready(), len(p.in.Groups)
	p.step.Ready, p.step.Existing = min(p.step.Ready, ready), max(p.step.Existing, existing)
	p.course.LowestReady = min(p.course.LowestReady, ready)
	p.course.HighestExisting = max(p.course.HighestExisting, existing)
}

// carryOut writes the StatefulSet and deletes leaders. What was terminating before is
// gone; what is deleted now takes until the next plan, which sees it go. A gated leader
// goes at once.
func (p *preview) carryOut(plan Plan) {
	p.in.StatefulSet.Spec, p.in.StatefulSet.OldTemplate = plan.Spec, false
	p.step.Replace, p.step.Release = plan.Delete, plan.Release
	p.in.Groups = slices.DeleteFunc(slices.Clone(p.in.Groups), func(g Group) bool {
		return g.Leader == Terminating || g.Leader == Gated && p.step.replaces(g.Index)
	})
	for i := range p.in.Groups {
		if g := &p.in.Groups[i]; p.step.replaces(g.Index) {
			g.Leader, p.replaced[g.Index] = Terminating, true
		}
	}
	p.look()
}

// makePods is the controller of the StatefulSet: it removes pods from the highest
// index, and makes what is missing.
func (p *preview) makePods() {
	spec := p.in.StatefulSet.Spec
	for _, g := range slices.Backward(p.in.Groups) {
		if g.Index >= spec.Replicas {
			p.step.Remove = append(p.step.Remove, g.Index)
		}
	}
	p.in.Groups = slices.DeleteFunc(p.in.Groups, func(g Group) bool { return g.Index >= spec.Replicas })
	p.look()
	exists := make(map[int]bool, len(p.in.Groups))
	for _, g := range p.in.Groups {
		exists[g.Index] = true
	}
	for i := range spec.Replicas {
		if exists[i] {
			continue
		}
		updated := p.in.CurrentIsUpdate || spec.OnDelete || i >= spec.Partition
		p.in.Groups = append(p.in.Groups, Group{
			Index: i, Leader: Gated, Updated: updated, Current: p.in.CurrentIsUpdate || !updated,
		})
		if !p.replaced[i] && !p.step.replaces(i) {
			p.step.Add = append(p.step.Add, i)
		}
		delete(p.replaced, i)
	}
	p.in.StatefulSet.Observed = true
	p.look()
}

func (s *Step) replaces(index int) bool {
	return slices.Contains(s.Release, index) ||
		slices.ContainsFunc(s.Replace, func(d Deletion) bool { return d.Index == index })
}

// becomeReady admits leaders and lets all groups become ready that are not to be
// replaced.
func (p *preview) becomeReady() {
	for i := range p.in.Groups {
		g := &p.in.Groups[i]
		isOld := g.Index >= p.in.Partition && !g.Updated
		if g.Leader == Gated && p.in.Admits(*g) || g.live() && !isOld {
			g.Leader, g.Ready, g.Unschedulable = Live, true, false
		}
	}
	isUpdated := func(g Group) bool { return g.ready() && g.Updated }
	if len(p.in.Groups) == p.in.StatefulSet.Replicas && !slices.ContainsFunc(p.in.Groups, func(g Group) bool { return !isUpdated(g) }) {
		p.in.CurrentIsUpdate = true
		for i := range p.in.Groups {
			p.in.Groups[i].Current = true
		}
	}
}
