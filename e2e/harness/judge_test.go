package harness

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLogErrors(t *testing.T) {
	const (
		lost  = `{"level":"error","logger":"x","msg":"lost set \"one\"","error":"gone"}`
		again = `{"level":"error","logger":"x","msg":"lost set \"two\"","error":"gone"}`
		start = `{"level":"info","msg":"starting","version":"1"}`
		stop  = `{"level":"info","msg":"Stopping and waiting for caches"}`
	)
	tests := map[string]struct {
		log  []string
		want map[string]int
	}{
		"errors are counted without what differs": {
			[]string{start, lost, again}, map[string]int{"error x: lost set … gone": 2},
		},
		"one that is told to stop may say anything": {
			[]string{start, stop, lost, lost}, map[string]int{},
		},
		"until the next begins": {
			[]string{start, stop, lost, start, again}, map[string]int{"error x: lost set … gone": 1},
		},
		"but never panic": {
			[]string{start, stop, "panic: at 0123456789"}, map[string]int{"no entry : panic: at … ": 1},
		},
		"one that is killed leaves half a line": {
			[]string{start, `{"level":"err` + start, lost}, map[string]int{"error x: lost set … gone": 1},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			read := lives{errors: map[string]int{}}
			for _, line := range test.log {
				if err := read.take([]byte(line + "\n")); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.want, read.errors); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindingsAreToldAllAtOnce(t *testing.T) {
	except := Exceptions{
		Errors:      map[string]string{"cramped": "a set that asks for too little"},
		Unseen:      map[string]string{"get pods": "no request"},
		IsElsewhere: func(permission string) bool { return strings.HasSuffix(permission, ".other") },
	}
	got := except.findings(
		map[string]int{
			"error : Reconciler error cramped": 1, "error : Reconciler error gone": 3,
			"error : writing context canceled": 1, "error events: namespaces … not found": 2,
		},
		[]string{"get pods", "patch pods", "get jobs.other"},
		[]string{"get jobs.batch a/b: 403"})
	want := []string{
		"3 times in the log: error : Reconciler error gone",
		"a request without a permission: get jobs.batch a/b: 403",
		"a permission without a request: patch pods",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (Exceptions{}).findings(nil, nil, nil); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}
