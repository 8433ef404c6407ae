package harness

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnexplained(t *testing.T) {
	entries := []LogEntry{
		parseLogEntry([]byte(`{"level":"error","logger":"x","msg":"lost set \"one\"","error":"gone"}`)),
		parseLogEntry([]byte(`{"level":"error","logger":"x","msg":"lost set \"two\"","error":"gone"}`)),
		parseLogEntry([]byte(`{"level":"error","logger":"x","msg":"writing","error":"context canceled"}`)),
		parseLogEntry([]byte("panic: at 0123456789\n")),
	}
	want := map[string]int{"error x: lost set … gone": 2, "no entry : panic: at … ": 1}
	if diff := cmp.Diff(want, Unexplained(entries, map[string]string{"context canceled": "the manager was stopped"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
