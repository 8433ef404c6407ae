package leaderworkerset

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/revision"
)

// history stores a revision for each of the images, in this order.
func history(t *testing.T, images ...string) []*appsv1.ControllerRevision {
	t.Helper()
	var revisions []*appsv1.ControllerRevision
	for _, image := range images {
		next, err := revision.New(testSet().Image(image).Obj(), revisions)
		if err != nil {
			t.Fatal(err)
		}
		next.UID = types.UID("revision-" + image)
		revisions = append(revisions, next)
	}
	return revisions
}

func TestPlanRevision(t *testing.T) {
	stored := history(t, "one", "two", "three")
	key := func(i int) string { return revision.Key(stored[i]) }
	lost := lwsv1.LeaderWorkerSetStatus{UpdateRevision: "key-of-an-earlier-release", ObservedGeneration: 1}
	tests := map[string]struct {
		set       *lwstest.Builder
		revisions []*appsv1.ControllerRevision
		leaving   []*appsv1.ControllerRevision
		running   string
		wantKey   string // empty: one that no stored revision has
		number    int64
		create    bool
		lost      bool
	}{
		"the first":              {set: testSet().Image("one"), wantKey: key(0), number: 1, create: true},
		"beside a predecessor's": {set: testSet().Image("one"), leaving: stored[:1], number: 2, create: true},
		"the running one":        {set: testSet().Image("three"), revisions: stored, running: key(2), wantKey: key(2), number: 3},
		"a new one":              {set: testSet().Image("four"), revisions: stored, running: key(2), number: 4, create: true},
		"back to the first":      {set: testSet().Image("one"), revisions: stored, running: key(2), wantKey: key(0), number: 4},
		"lost, of an earlier release": {
			set: testSet().Image("four").Status(lost), revisions: stored, running: "key-of-an-earlier-release",
			wantKey: "key-of-an-earlier-release", number: 4, create: true, lost: true,
		},
		"lost, and the spec has changed since": {
			set: testSet().Image("four").Status(lost).Generation(2), revisions: stored, running: "key-of-an-earlier-release",
			number: 4, create: true,
		},
		"lost, and the status is of another": {
			set:       testSet().Image("four").Status(lwsv1.LeaderWorkerSetStatus{UpdateRevision: "other", ObservedGeneration: 1}),
			revisions: stored, running: "key-of-an-earlier-release", number: 4, create: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := planRevision(tc.set.Obj(), tc.revisions, tc.leaving, tc.running)
			if err != nil {
				t.Fatal(err)
			}
			if p.Create != tc.create || p.Lost != tc.lost || p.Number != tc.number || p.Unreadable != nil {
				t.Errorf("create %t, lost %t, number %d, unreadable %v", p.Create, p.Lost, p.Number, p.Unreadable)
			}
			if p.Key != revision.Key(p.Update) {
				t.Errorf("key %q of revision %q", p.Key, revision.Key(p.Update))
			}
			if _, exists := revision.ByKey(append(tc.revisions, tc.leaving...), p.Key); exists == tc.create {
				t.Errorf("key %q exists: %t", p.Key, exists)
			}
			if tc.wantKey != "" && p.Key != tc.wantKey {
				t.Errorf("key %q, want %q", p.Key, tc.wantKey)
			}
		})
	}
}

func TestUnreadableRevisions(t *testing.T) {
	stored := history(t, "one")
	broken := stored[0].DeepCopy()
	broken.Name, broken.Data.Raw, broken.Revision = "broken", []byte("{"), 2
	p, err := planRevision(testSet().Image("one").Obj(), append(stored, broken), nil, "")
	if err != nil || p.Create || p.Unreadable == nil {
		t.Errorf("plan %+v, error %v", p, err)
	}
	if isSetRevision(broken) || !isSetRevision(stored[0]) {
		t.Error("mixed up revisions of sets with others")
	}
}

func TestSuperfluousRevisions(t *testing.T) {
	stored := history(t, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m")
	key := func(i int) string { return revision.Key(stored[i]) }
	worker := workerStatefulSet(0, 1)
	worker.Labels[lwsv1.RevisionLabelKey] = key(1)
	seen := &observation{Revisions: stored, Groups: []groupState{{Revision: key(0)}}, Workers: []*appsv1.StatefulSet{worker}}
	got := superfluous(seen, key(12), key(12))
	if len(got) != 1 || got[0] != stored[2] {
		t.Errorf("superfluous %v, want the third of thirteen: two of the oldest three are in use", got)
	}
}
