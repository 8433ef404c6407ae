package leaderworkerset

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// memory is what the reconciles of a set tell each other. A manager that starts
// anew without it may repeat an event or a read, never a wrong write.
type memory struct {
	mu   sync.Mutex
	sets map[types.NamespacedName]*recollection
	// groups is how many groups each set was seen to have, for who handles its events.
	groups map[types.NamespacedName]int
}

// recollection belongs to one set. Its reconciles follow each other, so only the
// map around it needs the lock.
type recollection struct {
	UID          types.UID
	StatusStored time.Time
	Announced    map[string]string // by what it is about: the text of the last event
	Conflicts    map[string]conflict
	Settled      map[types.UID]settled
	Ended        map[types.UID]bool // leaders that the set has deleted, while the cache shows them
	Ending       bool               // its namespace terminates: nothing can be made for it any more
}

// conflict is a name that somebody else's object has. The narrowed cache does not
// show that object, so it is looked at again, less and less often.
type conflict struct {
	Text  string
	Until time.Time
	Pause time.Duration
}

const (
	conflictPause    = time.Second
	conflictPauseMax = time.Minute
)

// settled is an apply that changed nothing: the object of this version is as far
// as it will come, for example since an admission webhook insists on a value.
type settled struct {
	ResourceVersion string
	Desired         uint64
}

func newMemory() *memory {
	return &memory{
		sets:   map[types.NamespacedName]*recollection{},
		groups: map[types.NamespacedName]int{},
	}
}

// of returns what is remembered of a set, nothing of a predecessor of the name.
func (m *memory) of(key types.NamespacedName, uid types.UID) *recollection {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.sets[key]; found != nil && found.UID == uid {
		return found
	}
	fresh := &recollection{
		UID:       uid,
		Announced: map[string]string{},
		Conflicts: map[string]conflict{},
		Settled:   map[types.UID]settled{},
		Ended:     map[types.UID]bool{},
	}
	m.sets[key] = fresh
	return fresh
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sets, key)
	delete(m.groups, key)
}

func (m *memory) sawGroups(key types.NamespacedName, groups int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.groups[key] = groups
}

func (m *memory) groupsOf(key types.NamespacedName) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.groups[key]
}

// announce says whether a text about something is news. An empty text ends it.
func (r *recollection) announce(about, text string) bool {
	if text == "" {
		delete(r.Announced, about)
		return false
	}
	if r.Announced[about] == text {
		return false
	}
	r.Announced[about] = text
	return true
}

// conflicted remembers a conflict and returns when to look again.
func (r *recollection) conflicted(name, text string, now time.Time) conflict {
	pause := conflictPause
	if before, ok := r.Conflicts[name]; ok {
		pause = min(2*before.Pause, conflictPauseMax)
	}
	c := conflict{Text: text, Until: now.Add(pause), Pause: pause}
	r.Conflicts[name] = c
	return c
}

// end says whether a leader is yet to be deleted, and takes note of it.
func (r *recollection) end(leader types.UID) bool {
	if r.Ended[leader] {
		return false
	}
	r.Ended[leader] = true
	return true
}

// keepEnded forgets the deleted leaders that are gone.
func (r *recollection) keepEnded(groups []groupState) {
	shown := make(map[types.UID]bool, len(groups))
	for _, g := range groups {
		shown[g.Leader.UID] = true
	}
	maps.DeleteFunc(r.Ended, func(leader types.UID, _ bool) bool { return !shown[leader] })
}
