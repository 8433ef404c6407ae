package leaderworkerset

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// Explanation is what the manager makes of a set.
type Explanation struct {
	Set    *lwsv1.LeaderWorkerSet
	Groups []GroupExplanation
	// Revisions are those of the set, the newest first.
	Revisions []*appsv1.ControllerRevision
	// Update and Current are keys: of the revision of the spec, and of that of the groups
	// that no rollout has reached.
	Update, Current string
	// Rollout is what the planner says now. With Hash identity it says nothing: the
	// Deployment of the leaders replaces groups.
	Rollout rollout.Verdict
}

// GroupExplanation is what the manager makes of a group of the set.
type GroupExplanation struct {
	group.Explanation

	// Old: it is of another revision than that of the spec.
	Old bool
}

// SchedulingProvider is what both reconcilers need of one.
type SchedulingProvider interface {
	Scheduling
	group.Scheduling
}

// Explainer observes sets and decides about them as the reconcilers of sets and groups
// do, and writes nothing.
type Explainer struct {
	sets   *Reconciler
	groups *group.Explainer
}

// NewExplainer adds the indexes that the reconcilers list by to a source.
func NewExplainer(ctx context.Context, source group.Source, gangs SchedulingProvider, now clock.PassiveClock) (*Explainer, error) {
	if err := RegisterIndexes(ctx, source); err != nil {
		return nil, err
	}
	if err := scheduling.RegisterIndexes(ctx, source, gangs.Kinds()); err != nil {
		return nil, err
	}
	groups, err := group.NewExplainer(ctx, source, gangs, now)
	if err != nil {
		return nil, err
	}
	sets := &Reconciler{client: group.ReadOnly(source), reports: group.NewReports(), clock: now, gangs: gangs}
	return &Explainer{sets, groups}, nil
}

// Explain says how far a set and each of its groups are, and why no further.
func (e *Explainer) Explain(ctx context.Context, set *lwsv1.LeaderWorkerSet) (*Explanation, error) {
	seen, err := e.sets.observe(ctx, set)
	if err != nil {
		return nil, err
	}
	x := &Explanation{Set: set, Revisions: newestFirst(seen.Revisions)}
	if x.Groups, err = e.explainGroups(ctx, seen); err != nil {
		return nil, err
	}
	if set.DeletionTimestamp != nil {
		x.Update, x.Current = set.Status.UpdateRevision, set.Status.CurrentRevision
		return x, nil
	}
	p, err := makePlan(seen)
	if err != nil {
		return nil, err
	}
	x.Update, x.Current, x.Rollout = p.Revision.Key, p.Current, p.Rollout.Verdict
	for i := range x.Groups {
		g := &x.Groups[i]
		g.Old = g.Revision != "" && g.Revision != x.Update
	}
	return x, nil
}

// explainGroups explains those that have a leader and, with Ordinal identity, those
// that are to have one.
func (e *Explainer) explainGroups(ctx context.Context, seen *observation) ([]GroupExplanation, error) {
	groups := groupsToExplain(seen)
	explained := make([]GroupExplanation, 0, len(groups))
	for _, one := range groups {
		x, err := e.groups.Explain(ctx, one.group, one.ready)
		switch {
		case apierrors.IsForbidden(err):
			x = &group.Explanation{Group: one.group, State: group.Starting, Why: "what it waits for is not for you to see: " + err.Error()}
		case err != nil:
			return nil, err
		}
		if x.State == group.Missing && seen.CreateFailure != "" {
			x.Why = seen.CreateFailure
		}
		explained = append(explained, GroupExplanation{Explanation: *x})
	}
	return explained, nil
}

// groupToExplain is a group with what its set says of it.
type groupToExplain struct {
	group identity.Group
	ready bool
}

func groupsToExplain(seen *observation) []groupToExplain {
	set := types.NamespacedName{Namespace: seen.Set.Namespace, Name: seen.Set.Name}
	if leadershipOf(seen.Set) == (hash{}) {
		found := make([]groupToExplain, 0, len(seen.Groups))
		for _, g := range seen.Groups {
			found = append(found, groupToExplain{identity.KeyGroup(set, g.Name), g.Ready})
		}
		return found
	}
	ready := make(map[int32]bool, len(seen.Groups))
	for index := range lwsv1.Replicas(seen.Set) {
		ready[index] = false
	}
	for _, g := range seen.Groups {
		ready[g.Index] = g.Ready
	}
	found := make([]groupToExplain, 0, len(ready))
	for index, isReady := range ready {
		found = append(found, groupToExplain{identity.OrdinalGroup(set, index), isReady})
	}
	slices.SortFunc(found, func(a, b groupToExplain) int {
		return cmp.Or(cmp.Compare(len(a.group.Index), len(b.group.Index)), cmp.Compare(a.group.Index, b.group.Index))
	})
	return found
}

func newestFirst(revisions []*appsv1.ControllerRevision) []*appsv1.ControllerRevision {
	return slices.SortedFunc(slices.Values(revisions), func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(b.Revision, a.Revision), cmp.Compare(a.Name, b.Name))
	})
}

// Preview is what a changed spec would do to the groups of a set.
type Preview struct {
	// From is the key of the revision that the set's spec is of now, To that of the
	// changed spec.
	From, To string
	// Number is what To will have. IsNew: there is no such revision yet.
	Number int64
	IsNew  bool
	// Replaces says whether any group is to be replaced.
	Replaces bool
	// Course is that of a set with Ordinal identity.
	Course *rollout.Course
	// Old are the keys of groups that the Deployment replaces, with Hash identity, and
	// Budget is within what.
	Old    []string
	Ready  int32
	Budget lwsv1.RolloutBudget
}

// Preview plans for a set as if its spec were that of changed, and writes nothing.
func (e *Explainer) Preview(ctx context.Context, set, changed *lwsv1.LeaderWorkerSet) (*Preview, error) {
	now, err := e.planOf(ctx, set)
	if err != nil {
		return nil, err
	}
	seen, err := e.sets.observe(ctx, changed)
	if err != nil {
		return nil, err
	}
	p, err := makePlan(seen)
	if err != nil {
		return nil, fmt.Errorf("set %s/%s: %w", set.Namespace, set.Name, err)
	}
	x := &Preview{
		From: now.Revision.Key, To: p.Revision.Key, Number: p.Revision.Number, IsNew: p.Revision.Create,
		Budget: lwsv1.Budget(changed), Ready: p.Tally.Ready,
	}
	if leadershipOf(changed) == (hash{}) {
		for _, g := range seen.Groups {
			if !g.Terminating && !g.Ended && g.Revision != x.To {
				x.Old = append(x.Old, g.Name)
			}
		}
		x.Replaces = len(x.Old) > 0
		return x, nil
	}
	course := rollout.Preview(rolloutInput(seen, x.To))
	x.Course = &course
	x.Replaces = slices.ContainsFunc(course.Steps, func(s rollout.Step) bool { return len(s.Replace)+len(s.Release) > 0 })
	return x, nil
}

func (e *Explainer) planOf(ctx context.Context, set *lwsv1.LeaderWorkerSet) (*plan, error) {
	seen, err := e.sets.observe(ctx, set)
	if err != nil {
		return nil, err
	}
	return makePlan(seen)
}
