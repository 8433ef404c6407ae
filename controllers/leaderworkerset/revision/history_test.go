package revision

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFind(t *testing.T) {
	same, other := string(readFile(t, "creation-timestamp-null.json")), `{"spec":{"leaderWorkerTemplate":{"size":9}}}`
	tests := map[string]struct {
		revisions  []*appsv1.ControllerRevision
		runningKey string
		want       string
		wantErr    string
	}{
		"none":                 {nil, "", "", ""},
		"none that is equal":   {[]*appsv1.ControllerRevision{stored("a", "ka", 1, other)}, "ka", "", ""},
		"the only one":         {[]*appsv1.ControllerRevision{stored("a", "ka", 1, other), stored("b", "kb", 2, same)}, "ka", "b", ""},
		"going back":           {[]*appsv1.ControllerRevision{stored("a", "ka", 1, same), stored("b", "kb", 2, other)}, "kb", "a", ""},
		"newest of two":        {[]*appsv1.ControllerRevision{stored("a", "ka", 1, same), stored("b", "kb", 2, same)}, "", "b", ""},
		"running of two":       {[]*appsv1.ControllerRevision{stored("a", "ka", 1, same), stored("b", "kb", 2, same)}, "ka", "a", ""},
		"unreadable":           {[]*appsv1.ControllerRevision{stored("a", "ka", 2, "x"), stored("b", "kb", 1, same)}, "ka", "b", "revision default/a: "},
		"unreadable, no other": {[]*appsv1.ControllerRevision{stored("a", "ka", 2, "x")}, "ka", "", "revision default/a: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found, err := Find(sampleSet(t), test.revisions, test.runningKey)
			got := ""
			if found != nil {
				got = found.Name
			}
			if got != test.want {
				t.Errorf("found %q, want %q", got, test.want)
			}
			if (err == nil) != (test.wantErr == "") || err != nil && !strings.HasPrefix(err.Error(), test.wantErr) {
				t.Errorf("error %v, want %q", err, test.wantErr)
			}
		})
	}
}

func TestNumberInUse(t *testing.T) {
	a, b, c := stored("a", "ka", 1, ""), stored("b", "kb", 4, ""), stored("c", "kc", 4, "")
	tests := map[string]struct {
		revision *appsv1.ControllerRevision
		all      []*appsv1.ControllerRevision
		want     int64
	}{
		"only one":      {a, []*appsv1.ControllerRevision{a}, 1},
		"newest":        {b, []*appsv1.ControllerRevision{a, b}, 4},
		"went back":     {a, []*appsv1.ControllerRevision{a, b}, 5},
		"number shared": {b, []*appsv1.ControllerRevision{a, b, c}, 5},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := NumberInUse(test.revision, test.all); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestPrune(t *testing.T) {
	var revisions []*appsv1.ControllerRevision
	for _, letter := range "cadbefghijklm" { // 13, unordered in part
		revisions = append(revisions, stored(string(letter), "k"+string(letter), int64(letter-'a'+1), ""))
	}
	tests := map[string]struct {
		revisions []*appsv1.ControllerRevision
		inUse     map[string]bool
		want      []string
	}{
		"none":          {nil, nil, nil},
		"ten":           {revisions[3:], nil, nil},
		"three too old": {revisions, nil, []string{"c", "b", "a"}},
		"one in use":    {revisions, map[string]bool{"kb": true, "km": true}, []string{"c", "a"}},
		"all in use":    {revisions, map[string]bool{"ka": true, "kb": true, "kc": true}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, revision := range Prune(test.revisions, test.inUse) {
				got = append(got, revision.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestByKey(t *testing.T) {
	old, copied := stored("a", "k", 1, ""), stored("b", "k", 1, "")
	copied.CreationTimestamp = metav1.NewTime(time.Unix(100, 0))
	if got, ok := ByKey([]*appsv1.ControllerRevision{old, copied}, "k"); !ok || got != copied {
		t.Errorf("got %v, %v, want the newer", got, ok)
	}
	if got, ok := ByKey([]*appsv1.ControllerRevision{old}, "x"); ok || got != nil {
		t.Errorf("got %v, %v, want none", got, ok)
	}
}
