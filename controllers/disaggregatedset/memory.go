package disaggregatedset

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// memory is what the reconciles of a set tell each other. A manager that starts
// anew without it may repeat an event or a read, never a wrong write.
type memory struct {
	mu   sync.Mutex
	sets map[types.NamespacedName]*recollection
}

// recollection belongs to one set. Its slices are written at the same time.
type recollection struct {
	UID types.UID
	// rollout is the one that goes on, nil if none does that was seen to begin. Only
	// the report, which comes after the slices, looks at it.
	rollout *Span

	mu sync.Mutex
	// conflicts are names that somebody else's objects have, by kind and name.
	conflicts map[string]*conflict
	// settled are applies that changed nothing, by the UID of the object: it is as
	// far as it will come, since an admission webhook insists on a value, say.
	settled map[types.UID]settled
}

// conflict is looked at again, less and less often: the cache, which has only what
// carries our labels, does not show that object.
type conflict struct {
	Text  string
	Until time.Time
	Pause time.Duration
}

type settled struct {
	ResourceVersion string
	Desired         string
}

const (
	firstPause = time.Second
	lastPause  = time.Minute
)

func newMemory() *memory {
	return &memory{sets: map[types.NamespacedName]*recollection{}}
}

// of returns what is remembered of a set, nothing of a predecessor of the name.
func (m *memory) of(key types.NamespacedName, uid types.UID) *recollection {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.sets[key]; found != nil && found.UID == uid {
		return found
	}
	fresh := &recollection{UID: uid, conflicts: map[string]*conflict{}, settled: map[types.UID]settled{}}
	m.sets[key] = fresh
	return fresh
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sets, key)
}

// conflicted remembers a conflict and says whether it is news.
func (r *recollection) conflicted(name, text string, now time.Time) (*conflict, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.conflicts[name]
	c := &conflict{Text: text, Pause: firstPause}
	if before != nil {
		c.Pause = min(2*before.Pause, lastPause)
	}
	c.Until = now.Add(c.Pause)
	r.conflicts[name] = c
	return c, before == nil || before.Text != text
}

// conflict is that about a name, nil if there is none.
func (r *recollection) conflict(name string) *conflict {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.conflicts[name]
}

// free forgets the conflict about a name.
func (r *recollection) free(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conflicts, name)
}

// isSettled says whether this apply is known to change nothing.
func (r *recollection) isSettled(object types.UID, this settled) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.settled[object] == this
}

// applied remembers whether an apply changed nothing.
func (r *recollection) applied(object types.UID, this settled, changedNothing bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if changedNothing {
		r.settled[object] = this
	} else {
		delete(r.settled, object)
	}
}
