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

// recollection belongs to one set. Its reconciles follow each other, so only the
// map around it needs the lock.
type recollection struct {
	UID types.UID
	// Conflicts are names that somebody else's objects have, by kind and name.
	Conflicts map[string]*conflict
	// Settled are applies that changed nothing, by the UID of the object: it is as
	// far as it will come, since an admission webhook insists on a value, say.
	Settled map[types.UID]settled
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
	fresh := &recollection{UID: uid, Conflicts: map[string]*conflict{}, Settled: map[types.UID]settled{}}
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
	before := r.Conflicts[name]
	c := &conflict{Text: text, Pause: firstPause}
	if before != nil {
		c.Pause = min(2*before.Pause, lastPause)
	}
	c.Until = now.Add(c.Pause)
	r.Conflicts[name] = c
	return c, before == nil || before.Text != text
}
