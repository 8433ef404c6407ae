package group

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// Entry is what recreations are counted by: one group of one revision.
type Entry struct {
	Revision string
	// Index is the group's index: its ordinal, or its key with Hash identity.
	Index string
}

// String is the key of the entry in both annotations of the set.
func (e Entry) String() string {
	return e.Revision + "/" + e.Index
}

func parseEntry(text string) (Entry, bool) {
	revision, index, ok := strings.Cut(text, "/")
	if !ok || revision == "" || index == "" || strings.Contains(index, "/") {
		return Entry{}, false
	}
	return Entry{Revision: revision, Index: index}, true
}

// Count is how often the groups of an entry were recreated, and the leader that
// was deleted, or is about to be, by the last of these recreations.
type Count struct {
	Restarts int32
	Leader   types.UID
}

// Counts are the counted recreations of the groups of a set.
type Counts struct {
	counts map[Entry]Count
}

// ReadCounts reads the counts of a set from its annotations. What cannot be read
// counts as never recreated and is named in the errors.
func ReadCounts(set metav1.Object) (Counts, []error) {
	annotations := set.GetAnnotations()
	restarts, errs := readEntries[int32](annotations, lwsv1.GroupRestartCountsAnnotationKey)
	leaders, more := readEntries[types.UID](annotations, lwsv1.GroupRestartLeadersAnnotationKey)
	errs = append(errs, more...)

	c := Counts{counts: make(map[Entry]Count, len(restarts))}
	for entry, n := range restarts {
		if n < 0 {
			errs = append(errs, fmt.Errorf("annotation %s: %q: %d is negative",
				lwsv1.GroupRestartCountsAnnotationKey, entry, n))
			continue
		}
		c.counts[entry] = Count{Restarts: n, Leader: leaders[entry]}
	}
	return c, errs
}

// readEntries reads an annotation that maps entries to values, each on its own:
// one that is spoilt takes no other with it.
func readEntries[V any](annotations map[string]string, annotation string) (map[Entry]V, []error) {
	text := annotations[annotation]
	if text == "" {
		return nil, nil
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, []error{fmt.Errorf("annotation %s: %w", annotation, err)}
	}
	values := make(map[Entry]V, len(raw))
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		entry, ok := parseEntry(key)
		if !ok {
			errs = append(errs, fmt.Errorf("annotation %s: %q is not <revision>/<group>", annotation, key))
			continue
		}
		var value V
		if err := json.Unmarshal(raw[key], &value); err != nil {
			errs = append(errs, fmt.Errorf("annotation %s: %q: %w", annotation, key, err))
			continue
		}
		values[entry] = value
	}
	return values, errs
}

// Of is the count of an entry, zero if it has none.
func (c *Counts) Of(entry Entry) Count {
	return c.counts[entry]
}

// Raise counts a recreation that deletes leader, once: the same leader is never
// counted twice in a row. It says whether anything changed.
func (c *Counts) Raise(entry Entry, leader types.UID) bool {
	count := c.counts[entry]
	if count.Leader == leader {
		return false
	}
	if c.counts == nil {
		c.counts = map[Entry]Count{}
	}
	c.counts[entry] = Count{Restarts: count.Restarts + 1, Leader: leader}
	return true
}

// Move adds the count of an entry to that of another, and the first has none from then
// on. It says whether anything changed.
func (c *Counts) Move(from, to Entry) bool {
	count, found := c.counts[from]
	if !found || from == to {
		return false
	}
	delete(c.counts, from)
	if own, exists := c.counts[to]; exists {
		count = Count{Restarts: own.Restarts + count.Restarts, Leader: own.Leader}
	}
	c.counts[to] = count
	return true
}

// Clear gives an entry a fresh budget. It says whether anything changed.
func (c *Counts) Clear(entry Entry) bool {
	_, found := c.counts[entry]
	delete(c.counts, entry)
	return found
}

// Keep drops the entries that alive does not want. It says whether anything
// changed.
func (c *Counts) Keep(alive func(Entry) bool) bool {
	before := len(c.counts)
	maps.DeleteFunc(c.counts, func(entry Entry, _ Count) bool { return !alive(entry) })
	return len(c.counts) != before
}

// Sum is the number of recreations of all groups.
func (c *Counts) Sum() int32 {
	sum := int32(0)
	for _, count := range c.counts {
		sum += count.Restarts
	}
	return sum
}

// Annotations are the values of group-restart-counts and group-restart-leaders,
// both empty when there is nothing to keep.
func (c *Counts) Annotations() (counts, leaders string) {
	restarts := make(map[string]int32, len(c.counts))
	last := make(map[string]types.UID, len(c.counts))
	for entry, count := range c.counts {
		restarts[entry.String()] = count.Restarts
		if count.Leader != "" {
			last[entry.String()] = count.Leader
		}
	}
	return writeEntries(restarts), writeEntries(last)
}

// writeEntries writes JSON with sorted keys, so that the same counts are the same
// text.
func writeEntries[V any](values map[string]V) string {
	if len(values) == 0 {
		return ""
	}
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // a map from text to numbers or text can always be written
	}
	return string(text)
}

// changedEntries are the entries that differ between two states of a set's counts.
func changedEntries(before, after *Counts) []Entry {
	var changed []Entry
	for entry, count := range after.counts {
		if before.counts[entry] != count {
			changed = append(changed, entry)
		}
	}
	for entry := range before.counts {
		if _, found := after.counts[entry]; !found {
			changed = append(changed, entry)
		}
	}
	return changed
}
