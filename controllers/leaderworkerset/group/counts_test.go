package group

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

func annotated(counts, leaders string) metav1.Object {
	set := &lwsv1.LeaderWorkerSet{}
	set.Annotations = map[string]string{}
	if counts != "" {
		set.Annotations[lwsv1.GroupRestartCountsAnnotationKey] = counts
	}
	if leaders != "" {
		set.Annotations[lwsv1.GroupRestartLeadersAnnotationKey] = leaders
	}
	return set
}

func TestReadCounts(t *testing.T) {
	tests := map[string]struct {
		counts, leaders string
		want            map[Entry]Count
		errors          []string
	}{
		"absent": {want: map[Entry]Count{}},
		"counts and leaders": {
			counts:  `{"abc/0":3,"abc/10":1}`,
			leaders: `{"abc/0":"u1","abc/10":"u2"}`,
			want:    map[Entry]Count{{"abc", "0"}: {3, "u1"}, {"abc", "10"}: {1, "u2"}},
		},
		"a count whose leader is unknown": {
			counts: `{"abc/0":3}`,
			want:   map[Entry]Count{{"abc", "0"}: {3, ""}},
		},
		"a leader without a count was cleared by hand": {
			leaders: `{"abc/0":"u1"}`,
			want:    map[Entry]Count{},
		},
		"one spoilt value takes no other with it": {
			counts:  `{"abc/0":"three","abc/1":2}`,
			leaders: `{"abc/1":7}`,
			want:    map[Entry]Count{{"abc", "1"}: {2, ""}},
			errors: []string{
				`annotation leaderworkerset.sigs.k8s.io/group-restart-counts: "abc/0": json: cannot unmarshal string into Go value of type int32`,
				`annotation leaderworkerset.sigs.k8s.io/group-restart-leaders: "abc/1": json: cannot unmarshal number into Go value of type types.UID`,
			},
		},
		"negative and fractional": {
			counts: `{"abc/0":-1,"abc/1":1.5}`,
			want:   map[Entry]Count{},
			errors: []string{
				`annotation leaderworkerset.sigs.k8s.io/group-restart-counts: "abc/1": json: cannot unmarshal number 1.5 into Go value of type int32`,
				`annotation leaderworkerset.sigs.k8s.io/group-restart-counts: "abc/0": -1 is negative`,
			},
		},
		"keys that are no entries": {
			counts: `{"abc":1,"/0":1,"abc/":1,"a/b/c":1}`,
			want:   map[Entry]Count{},
			errors: []string{
				`annotation leaderworkerset.sigs.k8s.io/group-restart-counts: "/0" is not <revision>/<group>`,
				`annotation leaderworkerset.sigs.k8s.io/group-restart-counts: "a/b/c" is not <revision>/<group>`,
				`annotation leaderworkerset.sigs.k8s.io/group-restart-counts: "abc" is not <revision>/<group>`,
				`annotation leaderworkerset.sigs.k8s.io/group-restart-counts: "abc/" is not <revision>/<group>`,
			},
		},
		"no JSON at all": {
			counts: `oops`,
			want:   map[Entry]Count{},
			errors: []string{`annotation leaderworkerset.sigs.k8s.io/group-restart-counts: invalid character 'o' looking for beginning of value`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, errs := ReadCounts(annotated(test.counts, test.leaders))
			if diff := cmp.Diff(test.want, got.counts); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			var texts []string
			for _, err := range errs {
				texts = append(texts, err.Error())
			}
			if diff := cmp.Diff(test.errors, texts); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCountsRaiseOncePerLeader(t *testing.T) {
	var c Counts
	entry := Entry{"abc", "0"}
	for _, step := range []struct {
		leader  types.UID
		changed bool
		want    Count
	}{
		{"u1", true, Count{1, "u1"}},
		{"u1", false, Count{1, "u1"}},
		{"u2", true, Count{2, "u2"}},
		{"u2", false, Count{2, "u2"}},
	} {
		if got := c.Raise(entry, step.leader); got != step.changed {
			t.Errorf("Raise(%s) changed %v, want %v", step.leader, got, step.changed)
		}
		if got := c.Of(entry); got != step.want {
			t.Errorf("after Raise(%s): %v, want %v", step.leader, got, step.want)
		}
	}
}

func TestCountsClearAndKeep(t *testing.T) {
	var c Counts
	for _, entry := range []Entry{{"old", "0"}, {"new", "0"}, {"new", "1"}} {
		c.Raise(entry, "u")
	}
	if !c.Clear(Entry{"new", "1"}) || c.Clear(Entry{"new", "1"}) {
		t.Error("an entry is cleared once")
	}
	keep := func(e Entry) bool { return e.Revision == "new" }
	if !c.Keep(keep) || c.Keep(keep) {
		t.Error("entries are dropped once")
	}
	counts, leaders := c.Annotations()
	if counts != `{"new/0":1}` || leaders != `{"new/0":"u"}` {
		t.Errorf("annotations %s %s", counts, leaders)
	}
	if c.Sum() != 1 {
		t.Errorf("sum %d, want 1", c.Sum())
	}
	c.Clear(Entry{"new", "0"})
	if counts, leaders := c.Annotations(); counts != "" || leaders != "" {
		t.Errorf("nothing to keep is written as %q %q", counts, leaders)
	}
}

func TestChangedEntries(t *testing.T) {
	before, _ := ReadCounts(annotated(`{"r/0":1,"r/1":1,"r/2":1}`, `{"r/0":"a","r/1":"b","r/2":"c"}`))
	after, _ := ReadCounts(annotated(`{"r/0":1,"r/1":2,"r/3":1}`, `{"r/0":"a","r/1":"d","r/3":"e"}`))
	got := map[Entry]bool{}
	for _, entry := range changedEntries(&before, &after) {
		got[entry] = true
	}
	want := map[Entry]bool{{"r", "1"}: true, {"r", "2"}: true, {"r", "3"}: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
}

// What is written is read back as the same counts.
func TestCountsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Counts
		entries := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Entry {
			return Entry{
				Revision: rapid.StringMatching(`[a-z0-9]{1,10}`).Draw(t, "revision"),
				Index:    rapid.StringMatching(`[0-9]{1,3}|[0-9a-f]{40}`).Draw(t, "index"),
			}
		})).Draw(t, "entries")
		for _, entry := range entries {
			c.Raise(entry, types.UID(rapid.StringMatching(`[a-f0-9-]{1,36}`).Draw(t, "leader")))
		}
		got, errs := ReadCounts(annotated(c.Annotations()))
		if len(errs) > 0 {
			t.Fatalf("errors: %v", errs)
		}
		want := c.counts
		if want == nil {
			want = map[Entry]Count{}
		}
		if diff := cmp.Diff(want, got.counts); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
	})
}
