package revision

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// Kept is how many revisions are kept for going back.
const Kept = 10

// maxNamePrefix is how much of the set's name is in a revision's name.
const maxNamePrefix = 220

// Key is the key of a revision.
func Key(revision *appsv1.ControllerRevision) string {
	return revision.Labels[lwsv1.RevisionLabelKey]
}

// ByKey is the revision with a key. If several have it, which does not happen
// unless somebody copies one, it is the newest.
func ByKey(revisions []*appsv1.ControllerRevision, key string) (*appsv1.ControllerRevision, bool) {
	for _, revision := range newestFirst(revisions) {
		if Key(revision) == key {
			return revision, true
		}
	}
	return nil, false
}

// Find is the revision that means the same as the set does now. Of several it is
// the one that runs, by its key, which may be empty, and else the newest.
// Revisions that cannot be read are passed over and reported in the error, which
// comes beside a result.
func Find(
	set *lwsv1.LeaderWorkerSet, revisions []*appsv1.ControllerRevision, runningKey string,
) (*appsv1.ControllerRevision, error) {
	ordered := newestFirst(revisions)
	slices.SortStableFunc(ordered, func(a, b *appsv1.ControllerRevision) int {
		return compareBool(Key(b) == runningKey, Key(a) == runningKey)
	})
	wanted := newMeaning(Of(set), set.Annotations)
	var unreadable []error
	for _, revision := range ordered {
		stored, err := Restore(revision)
		if err != nil {
			unreadable = append(unreadable, err)
			continue
		}
		if wanted.equal(newMeaning(stored, set.Annotations)) {
			return revision, errors.Join(unreadable...)
		}
	}
	return nil, errors.Join(unreadable...)
}

// New is the next revision of the set: as it is now, numbered one above the
// highest, with a key that no other revision has.
func New(set *lwsv1.LeaderWorkerSet, revisions []*appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	data, err := Snapshot(set)
	if err != nil {
		return nil, fmt.Errorf("set %s/%s: %w", set.Namespace, set.Name, err)
	}
	key := hash(data)
	for taken := true; taken; {
		if _, taken = ByKey(revisions, key); taken {
			key = hash(append(slices.Clone(data), key...))
		}
	}
	return build(set, revisions, key, data), nil
}

// Replacement is a revision of the set as it is now in place of one that was
// lost, under the key that its StatefulSets and pods still carry.
func Replacement(
	set *lwsv1.LeaderWorkerSet, revisions []*appsv1.ControllerRevision, key string,
) (*appsv1.ControllerRevision, error) {
	data, err := Snapshot(set)
	if err != nil {
		return nil, fmt.Errorf("set %s/%s: %w", set.Namespace, set.Name, err)
	}
	return build(set, revisions, key, data), nil
}

func build(
	set *lwsv1.LeaderWorkerSet, revisions []*appsv1.ControllerRevision, key string, data []byte,
) *appsv1.ControllerRevision {
	number := highest(revisions) + 1
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace,
			Name:      name(set.Name, key, number),
			Labels:    identity.RevisionLabels(set.Name, key),
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(set, lwsv1.GroupVersion.WithKind(lwsv1.Kind)),
			},
		},
		Data:     runtime.RawExtension{Raw: data},
		Revision: number,
	}
}

// NumberInUse is the number of the revision that the set uses now: the highest.
// It is the revision's own number unless the set went back to an older one.
func NumberInUse(revision *appsv1.ControllerRevision, revisions []*appsv1.ControllerRevision) int64 {
	for _, other := range revisions {
		if other.UID != revision.UID && other.Revision >= revision.Revision {
			return highest(revisions) + 1
		}
	}
	return revision.Revision
}

// Prune is which revisions can be deleted: all but the newest ones and those whose
// keys are in use.
func Prune(revisions []*appsv1.ControllerRevision, keysInUse map[string]bool) []*appsv1.ControllerRevision {
	ordered := newestFirst(revisions)
	if len(ordered) <= Kept {
		return nil
	}
	return slices.DeleteFunc(ordered[Kept:], func(revision *appsv1.ControllerRevision) bool {
		return keysInUse[Key(revision)]
	})
}

func newestFirst(revisions []*appsv1.ControllerRevision) []*appsv1.ControllerRevision {
	return slices.SortedFunc(slices.Values(revisions), func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(
			cmp.Compare(b.Revision, a.Revision),
			b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
			cmp.Compare(b.Name, a.Name))
	})
}

func highest(revisions []*appsv1.ControllerRevision) int64 {
	var number int64
	for _, revision := range revisions {
		number = max(number, revision.Revision)
	}
	return number
}

func name(set, key string, number int64) string {
	return set[:min(len(set), maxNamePrefix)] + "-" + key + "-" + strconv.FormatInt(number, 10)
}

func hash(data []byte) string {
	sum := fnv.New32()
	_, _ = sum.Write(data) // never fails, says hash.Hash
	return rand.SafeEncodeString(strconv.FormatUint(uint64(sum.Sum32()), 10))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
