package group

import (
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/pairing"
)

// pairs keep, for each set with Hash identity, what was decided about its gated leaders
// before the cache shows it, and the leaders that went. They live in memory only: a
// pair is stored on its leader, and a manager that starts anew knows of groups without
// a leader what is left of them.
type pairs struct {
	mu   sync.Mutex
	sets map[types.NamespacedName]*setPairs
}

type setPairs struct {
	decided map[string]string         // by key of a leader: what it replaces, empty for nothing
	gone    map[string]pairing.Leader // by key
	order   map[string]int            // by key of a leader that is going: when that was seen
	next    int
}

func newPairs() *pairs {
	return &pairs{sets: map[types.NamespacedName]*setPairs{}}
}

// changed notes down that a leader began to go, if it did.
func (p *pairs) changed(before, after *corev1.Pod) {
	if isGoing(before) || !isGoing(after) {
		return
	}
	if group, ok := keyedLeader(after); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.of(group.SetKey()).went(group.Index)
	}
}

// deleted notes down that a leader is gone.
func (p *pairs) deleted(leader *corev1.Pod) {
	group, ok := keyedLeader(leader)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.of(group.SetKey())
	s.went(group.Index)
	last := s.leader(group.Index, leader)
	last.Going = true
	s.gone[group.Index] = last
	delete(s.decided, group.Index)
	delete(s.order, group.Index)
}

// forget drops what is remembered of a set that is gone.
func (p *pairs) forget(set types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sets, set)
}

func (p *pairs) of(set types.NamespacedName) *setPairs {
	found := p.sets[set]
	if found == nil {
		found = &setPairs{decided: map[string]string{}, gone: map[string]pairing.Leader{}, order: map[string]int{}}
		p.sets[set] = found
	}
	return found
}

// went gives a leader its place among those that are going.
func (s *setPairs) went(key string) {
	if _, known := s.order[key]; !known {
		s.next++
		s.order[key] = s.next
	}
}

// leader is what pairing has to know of a leader.
func (s *setPairs) leader(key string, p *corev1.Pod) pairing.Leader {
	l := pairing.Leader{
		Key:       key,
		Gated:     IsGated(p),
		Going:     isGoing(p),
		Replaces:  p.Annotations[lwsv1.ReplacesAnnotationKey],
		Created:   p.CreationTimestamp.Time,
		Requested: wentAt(p),
		Order:     s.order[key],
	}
	l.Decided = l.Replaces != ""
	if replaces, ok := s.decided[key]; ok && !l.Decided {
		l.Decided, l.Replaces = true, replaces
	}
	return l
}

// pairingInput is what there is of a set's groups.
type pairingInput struct {
	Set       types.NamespacedName
	Leaders   []*corev1.Pod
	Leftovers []string // keys of groups of which there are objects, or a count
	Replicas  int32
	// HasLeft says whether anything is left of a group whose leader is gone.
	HasLeft func(key string) bool
}

// decide pairs the leaders of a set that are not paired yet, and returns what all
// leaders that stand replace.
func (p *pairs) decide(in pairingInput) map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.of(in.Set)
	leaders, shown := s.leaders(in.Leaders)
	for key, gone := range s.gone {
		if !shown.Has(key) {
			leaders = append(leaders, gone)
		}
	}
	for key, replaced := range pairing.Compute(leaders, in.Leftovers) {
		if replaced != "" && !shown.Has(replaced) && !in.HasLeft(replaced) {
			// It went, and this leader is its replacement: there is nothing to wait for.
			delete(s.gone, replaced)
			replaced = ""
		}
		s.decided[key] = replaced
	}
	s.prune(shown, in)
	return s.replacements(leaders)
}

func (s *setPairs) leaders(pods []*corev1.Pod) ([]pairing.Leader, sets.Set[string]) {
	leaders, shown := make([]pairing.Leader, 0, len(pods)), sets.New[string]()
	for _, p := range pods {
		if group, ok := keyedLeader(p); ok {
			leaders = append(leaders, s.leader(group.Index, p))
			shown.Insert(group.Index)
		}
	}
	return leaders, shown
}

// replacements are the pairs of leaders that stand.
func (s *setPairs) replacements(leaders []pairing.Leader) map[string]string {
	standing := map[string]string{}
	for _, l := range leaders {
		if l.Going {
			continue
		}
		standing[l.Key] = l.Replaces
		if replaced, ok := s.decided[l.Key]; ok {
			standing[l.Key] = replaced
		}
	}
	return standing
}

// prune drops what nobody asks for any more: decisions about leaders that are not
// there, and, when no replacement is to come, leaders of which nothing is left.
func (s *setPairs) prune(shown sets.Set[string], in pairingInput) {
	maps.DeleteFunc(s.decided, func(key, _ string) bool { return !shown.Has(key) })
	maps.DeleteFunc(s.order, func(key string, _ int) bool { return !shown.Has(key) })
	standing := int32(0)
	for _, p := range in.Leaders {
		if !isGoing(p) {
			standing++
		}
	}
	if standing < in.Replicas {
		return
	}
	maps.DeleteFunc(s.gone, func(key string, _ pairing.Leader) bool { return !slices.Contains(in.Leftovers, key) })
}

// keyedLeader is the group of a leader that a ReplicaSet made.
func keyedLeader(p *corev1.Pod) (identity.Group, bool) {
	group, ok := identity.GroupOfPod(p)
	return group, ok && group.HasKey() && identity.IsLeader(p) && controllerOf(p).Kind == kindReplicaSet
}

// isGoing says whether a leader will never run again: its ReplicaSet makes another.
func isGoing(p *corev1.Pod) bool {
	return p.DeletionTimestamp != nil || hasEnded(p)
}

func hasEnded(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

// wentAt is when the deletion of a leader was requested, or when it ended if that was
// before, zero for a leader that stands. Of a deletion that may be earlier it is the
// earliest time that it can have been: see requestedAt.
func wentAt(p *corev1.Pod) time.Time {
	at := requestedAt(p)
	if ended := condition(p, corev1.ContainersReady).LastTransitionTime; hasEnded(p) && !ended.IsZero() {
		if at.IsZero() || ended.Time.Before(at) {
			at = ended.Time
		}
	}
	return at
}

// requestedAt is when the deletion of a pod was requested at the earliest, zero if it was
// not. The deletion timestamp is when the grace period is over. When the node agent has
// ended the pod it asks for a deletion without grace, and if something still waits for
// its dependents the API server makes the timestamp that moment: then the period that
// the pod had is all that is known of the time before.
func requestedAt(p *corev1.Pod) time.Time {
	if p.DeletionTimestamp == nil {
		return time.Time{}
	}
	grace := int64(0)
	for _, seconds := range []*int64{p.DeletionGracePeriodSeconds, p.Spec.TerminationGracePeriodSeconds} {
		if seconds != nil {
			grace = max(grace, *seconds)
		}
	}
	return p.DeletionTimestamp.Add(-time.Duration(grace) * time.Second)
}
