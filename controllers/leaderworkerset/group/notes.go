package group

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// notes are what reconciles of a group leave for the next: what they wrote and the
// cache may not show yet, and what they told. They live in memory only: a manager
// that starts anew without them may tell something twice, or try a write again that
// tests what it changes.
type notes struct {
	mu     sync.Mutex
	groups map[identity.Group]*note
}

// note belongs to one leader of a group, and goes with it.
type note struct {
	leader  types.UID
	lifted  bool    // the gate
	ready   *bool   // the condition group-ready, until the cache shows it
	deleted bool    // the leader
	memory  *string // what was written, until the cache shows it; empty if it was removed
	workers made
	service made
	gang    time.Time // when scheduling objects were made that the cache may not show yet
	policy  lwsv1.RestartPolicyType
	told    map[string]string
	settled settled
	taken   map[string]taken // by kind
	stale   int              // reconciles in a row that were planned from an old state
}

// made is an object that was created.
type made struct {
	uid  types.UID
	at   time.Time
	seen bool // in the cache
}

// settled is a worker StatefulSet that was found, or made, as it has to be.
type settled struct {
	uid        types.UID
	generation int64
	desired    string // what it depends on beside the leader
}

// taken is a name that somebody else's object has. The narrowed cache does not show
// that object, so it is looked at again, less and less often.
type taken struct {
	message string
	until   time.Time
	pause   time.Duration
}

const (
	takenPause    = time.Second
	takenPauseMax = time.Minute

	staleWait      = 100 * time.Millisecond
	staleWaitMax   = time.Minute
	staleDoublings = 10

	// unseenFor is how long a created object may take to come into the cache before
	// its creation is tried again.
	unseenFor = 10 * time.Second
)

// noted is what a plan gets to know of the notes.
type noted struct {
	told   map[string]string
	taken  map[string]taken
	policy lwsv1.RestartPolicyType // in effect at the last reconcile, empty if there was none
}

// wasTold says whether something was told of this leader.
func (n *noted) wasTold(topic string) bool {
	_, told := n.told[topic]
	return told
}

func newNotes() *notes {
	return &notes{groups: map[identity.Group]*note{}}
}

// of returns the note of a group's leader, an empty one for a new leader.
func (n *notes) of(group identity.Group, leader types.UID) *note {
	n.mu.Lock()
	defer n.mu.Unlock()
	if found := n.groups[group]; found != nil && found.leader == leader {
		return found
	}
	fresh := &note{leader: leader, told: map[string]string{}, taken: map[string]taken{}}
	n.groups[group] = fresh
	return fresh
}

// forget drops the note of a group that has no objects left.
func (n *notes) forget(group identity.Group) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.groups, group)
}

// complete adds to an observation what was written and the cache does not show yet.
func (n *notes) complete(o *observation) {
	uid := types.UID("")
	if o.Leader != nil {
		uid = o.Leader.UID
	}
	note := n.of(o.Group, uid)
	o.Noted = noted{told: maps.Clone(note.told), taken: maps.Clone(note.taken), policy: note.policy}
	if o.Leader == nil {
		return
	}
	note.completeLeader(o)
	if o.Now.Before(note.gang.Add(unseenFor)) {
		o.Gang.Missing = nil
	}
	if o.Workers != nil {
		note.workers.seen = note.workers.seen || o.Workers.UID == note.workers.uid
	} else if note.workers.isUnseen(o.Now) {
		o.Workers = &workerSet{UID: note.workers.uid, Owner: o.rightfulOwner(), Revision: o.Leader.Revision}
	}
	if o.Service != nil {
		note.service.seen = note.service.seen || o.Service.UID == note.service.uid
	} else if note.service.isUnseen(o.Now) {
		o.Service = &ownService{UID: note.service.uid, Owner: o.leaderAsOwner(), AsDesired: true}
	}
}

func (n *note) completeLeader(o *observation) {
	l := o.Leader
	if n.lifted {
		l.Gated = false
	}
	if n.deleted && !l.Deleting {
		l.Deleting, l.Foreground, l.Deadline = true, true, o.Now
	}
	if n.ready != nil && *n.ready == l.GroupReady {
		n.ready = nil
	}
	if n.ready != nil {
		l.GroupReady = *n.ready
	}
	if n.memory == nil {
		return
	}
	if o.pods[l.UID].Annotations[lwsv1.GroupMembersAnnotationKey] == *n.memory {
		n.memory = nil
		return
	}
	l.Memory = parseMemory(*n.memory)
}

func (m *made) isUnseen(now time.Time) bool {
	return m.uid != "" && !m.seen && now.Before(m.at.Add(unseenFor))
}

// take notes down that a name is taken, and returns when to look again.
func (n *note) take(name, message string, now time.Time) time.Duration {
	pause := takenPause
	if before, ok := n.taken[name]; ok {
		pause = min(2*before.pause, takenPauseMax)
	}
	n.taken[name] = taken{message: message, until: now.Add(pause), pause: pause}
	return pause
}

// behind is how long a reconcile that was planned from an old state waits for the
// cache: longer and longer, should the cache never show what is in the way.
func (n *note) behind() time.Duration {
	n.stale++
	return min(staleWait<<min(n.stale-1, staleDoublings), staleWaitMax)
}

// tell says whether a text about a topic is news.
func (n *note) tell(topic, text string) bool {
	if n.told[topic] == text {
		return false
	}
	n.told[topic] = text
	return true
}

func (o *observation) leaderAsOwner() owner {
	return owner{Kind: kindPod, Name: o.Leader.Name, UID: o.Leader.UID}
}

// rightfulOwner is the owner of worker StatefulSets that are made now.
func (o *observation) rightfulOwner() owner {
	if o.stays() {
		return owner{Kind: setKind.Kind, Name: o.Group.Set, UID: o.Set.UID}
	}
	return o.leaderAsOwner()
}
