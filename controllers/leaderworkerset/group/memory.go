package group

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"
)

// memory is what a group consisted of, stored in the annotation group-members of
// its leader. It is written once, when the group is first whole, and dies with the
// leader. A group that was taken over from restart policy None before it was whole
// has one without members, which is completed when it is.
type memory struct {
	// Members is a hash of the members' UIDs, empty for a group that was not whole.
	Members string `json:"members,omitempty"`
	// Newest is when the youngest member was created: a pod that is younger came
	// later, as a replacement.
	Newest int64 `json:"newest,omitempty"`
	// Restarts are the restart counts that were found, by <worker index>/<container>.
	// Containers that had not restarted are left out.
	Restarts map[string]int32 `json:"restarts,omitempty"`
}

// parseMemory is nil for an annotation that is absent or that cannot be read: the
// group then starts to remember anew.
func parseMemory(text string) *memory {
	if text == "" {
		return nil
	}
	m := &memory{}
	if err := json.Unmarshal([]byte(text), m); err != nil {
		return nil
	}
	return m
}

func (m *memory) String() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // text and numbers can always be written
	}
	return string(text)
}

// remember is the memory of a generation: with its members if it is whole.
func remember(g *generation) *memory {
	m := &memory{}
	if g.isWhole() {
		m.Members, m.Newest = hashOf(g), newest(g).Unix()
	}
	for _, p := range g.members() {
		for _, r := range p.Restarts {
			if m.Restarts == nil {
				m.Restarts = map[string]int32{}
			}
			m.Restarts[restartKey(&p, r.Container)] = r.Count
		}
	}
	return m
}

// wasWhole says whether the memory is of a group that has been whole.
func (m *memory) wasWhole() bool {
	return m != nil && m.Members != ""
}

// holds says whether the members are those that the group had when it was whole.
func (m *memory) holds(g *generation) bool {
	return m.wasWhole() && m.Members == hashOf(g)
}

// restarts that the memory already holds of a container.
func (m *memory) restarts(p *pod, container string) int32 {
	if m == nil {
		return 0
	}
	return m.Restarts[restartKey(p, container)]
}

// had says whether a pod can have been a member when the group was whole.
func (m *memory) had(p *pod) bool {
	return m.wasWhole() && p.Created.Unix() <= m.Newest
}

// resized is the memory with the restarts that were part of a resize, false if it
// has them. They are stored since nothing in a pod's status tells them from others
// later.
func (m *memory) resized(g *generation) (*memory, bool) {
	raised := *m
	raised.Restarts = maps.Clone(m.Restarts)
	changed := false
	for _, p := range g.members() {
		for _, r := range p.Restarts {
			if !r.ByResize || r.Count <= m.restarts(&p, r.Container) {
				continue
			}
			if raised.Restarts == nil {
				raised.Restarts = map[string]int32{}
			}
			raised.Restarts[restartKey(&p, r.Container)] = r.Count
			changed = true
		}
	}
	return &raised, changed
}

func restartKey(p *pod, container string) string {
	return strconv.FormatInt(int64(p.Index), 10) + "/" + container
}

// hashOf is the same for the same pods in any order.
func hashOf(g *generation) string {
	uids := make([]string, 0, len(g.Workers)+1)
	for _, p := range g.members() {
		uids = append(uids, string(p.UID))
	}
	slices.Sort(uids)
	sum := sha256.New()
	for _, uid := range uids {
		sum.Write([]byte(uid + "\n"))
	}
	return hex.EncodeToString(sum.Sum(nil)[:10])
}

func newest(g *generation) time.Time {
	latest := g.Leader.Created
	for _, p := range g.Workers {
		if p.Created.After(latest) {
			latest = p.Created
		}
	}
	return latest
}
