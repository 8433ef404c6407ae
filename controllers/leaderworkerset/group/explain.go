package group

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/scheduling"
)

// State is how far a group is, in a word.
type State string

// The states of a group.
const (
	Ready         State = "ready"
	Starting      State = "starting"
	Unschedulable State = "unschedulable"
	Gated         State = "gated"
	Failed        State = "failed"
	Terminating   State = "terminating"
	Exhausted     State = "exhausted"
	Missing       State = "missing"
)

// Explanation is what the manager makes of a group.
type Explanation struct {
	Group identity.Group
	State State
	// Why is what the group waits for, empty for a group that is ready.
	Why string

	Leader   string // the pod's name, empty if there is none
	Node     string
	Revision string
	Created  time.Time // the leader
	// NotReadySince is when the first of its pods ceased to be ready, or was made.
	NotReadySince time.Time
	// Workers is how many the group has when it is whole, Available how many are ready.
	Workers, Available int32
	// Restarts counts towards Limit, if it is Limited.
	Restarts, Limit int32
	Limited         bool
}

// Source is a copy of what a manager has in its cache.
type Source interface {
	client.Reader
	client.FieldIndexer
}

// Explainer observes groups and decides about them as the reconciler does, and writes
// nothing. It knows what a manager knows that starts now: losses that only a watch shows
// are unknown to it.
type Explainer struct {
	groups *Reconciler
}

// NewExplainer adds the index of pods by their group to a source that has the other
// indexes of package identity.
func NewExplainer(ctx context.Context, source Source, gangs Scheduling, now clock.PassiveClock) (*Explainer, error) {
	if err := registerIndex(ctx, source); err != nil {
		return nil, err
	}
	if gangs == nil {
		gangs = scheduling.NewNone(false)
	}
	return &Explainer{&Reconciler{
		client: ReadOnly(source), clock: now, gangs: gangs,
		notes: newNotes(), ledger: newLedger(), paired: newPairs(),
	}}, nil
}

// ReadOnly is a client that reads, for what explains. It has nothing to write with.
func ReadOnly(reader client.Reader) client.Client { return readOnly{reader: reader} }

type readOnly struct {
	client.Client
	reader client.Reader
}

func (r readOnly) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	return r.reader.Get(ctx, key, into, options...)
}

func (r readOnly) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	return r.reader.List(ctx, into, options...)
}

// Explain says how far a group is, and why no further. Whether it is ready is for the
// set to say.
func (e *Explainer) Explain(ctx context.Context, group identity.Group, isReady bool) (*Explanation, error) {
	o, err := e.groups.observe(ctx, group)
	if err != nil {
		return nil, fmt.Errorf("group %s: %w", group, err)
	}
	return explanationOf(o, planFor(o), isReady), nil
}

func explanationOf(o *observation, p *plan, isReady bool) *Explanation {
	x := &Explanation{Group: o.Group, State: stateOf(o, p, isReady)}
	if l := o.Leader; l != nil {
		x.Leader, x.Node, x.Revision, x.Created = l.Name, l.Node, l.Revision, l.Created
		x.Workers = l.Size - 1
	}
	if o.Workers != nil && o.Leader != nil && o.Living.Leader != nil {
		x.Available = min(o.Workers.Available, x.Workers)
	}
	if o.Set != nil {
		budget := o.Set.Budget
		x.Restarts, x.Limit, x.Limited = budget.Count.Restarts, budget.Limit, budget.Limited
	}
	x.Why = whyOf(o, p, x.State)
	if x.State != Ready {
		x.NotReadySince = o.notReadySince()
	}
	return x
}

// stateOf is the state of a group that its set finds ready, or does not.
func stateOf(o *observation, p *plan, isReady bool) State {
	switch l := o.Leader; {
	case l == nil:
		return Missing
	case l.Exhausted, p.Judged.Action == restartExhaust:
		return Exhausted
	case l.Deleting:
		return Terminating
	case l.Gated:
		return Gated
	case p.Judged.ends(), l.isTerminal():
		return Failed
	case isReady:
		return Ready
	case o.unschedulableMember() != nil:
		return Unschedulable
	}
	return Starting
}

// ends: the group is recreated, now or when its backoff is over.
func (v *restartVerdict) ends() bool {
	return v.Action == restartDefer || v.Action == restartCount || v.Action == restartRecreate
}

func (o *observation) unschedulableMember() *pod {
	members := o.Living.members()
	for i := range members {
		if members[i].Scheduling == unschedulable && !members[i].Deleting {
			return &members[i]
		}
	}
	return nil
}
