package group

import (
	"context"
	"maps"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// Report is what a group wants its set to know or to write now. Each reconcile of
// the group replaces it, so a request that is no longer due is gone.
type Report struct {
	// Restart asks for a recreation to be counted. The group deletes its leader
	// once it sees the leader in the set's counts.
	Restart *Restart
	// Recovery asks for the count of an exhausted group to be cleared.
	Recovery *Entry
	// Problem is what keeps the group from getting on.
	Problem *Problem
	// Scheduling is what is wrong with the group's scheduling objects.
	Scheduling *Problem
}

// Restart is a recreation to be counted: Counts.Raise(Entry, Leader).
type Restart struct {
	Entry  Entry
	Leader types.UID
}

// Problem is what keeps a group from getting on: reason and message as they are to
// appear in the set's Progressing condition.
type Problem struct {
	Reason  string
	Message string
}

// Reports hold what groups tell their sets. They live in memory only: after a
// restart of the manager the groups say the same again.
type Reports struct {
	mu    sync.Mutex
	sets  map[types.NamespacedName]map[identity.Group]Report
	awake map[types.NamespacedName]struct{} // changed before there was a queue
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// NewReports returns empty reports.
func NewReports() *Reports {
	return &Reports{
		sets:  map[types.NamespacedName]map[identity.Group]Report{},
		awake: map[types.NamespacedName]struct{}{},
	}
}

// Put replaces the report of a group and wakes the set if that changes anything.
func (r *Reports) Put(group identity.Group, report Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	set := group.SetKey()
	if reflect.DeepEqual(r.sets[set][group], report) {
		return
	}
	r.store(set, group, report)
	if r.queue == nil {
		r.awake[set] = struct{}{}
		return
	}
	r.queue.Add(reconcile.Request{NamespacedName: set})
}

func (r *Reports) store(set types.NamespacedName, group identity.Group, report Report) {
	groups := r.sets[set]
	if report == (Report{}) {
		delete(groups, group)
		if len(groups) == 0 {
			delete(r.sets, set)
		}
		return
	}
	if groups == nil {
		groups = map[identity.Group]Report{}
		r.sets[set] = groups
	}
	groups[group] = report
}

// ForSet returns the reports of the groups of a set. Reports are never changed
// after they were put.
func (r *Reports) ForSet(set types.NamespacedName) map[identity.Group]Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.sets[set])
}

// Forget drops the reports of a set that is gone.
func (r *Reports) Forget(set types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sets, set)
	delete(r.awake, set)
}

// Source wakes the controller of sets, at once, for every set whose reports
// change.
func (r *Reports) Source() source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.queue = queue
		for set := range r.awake {
			queue.Add(reconcile.Request{NamespacedName: set})
		}
		clear(r.awake)
		return nil
	})
}
