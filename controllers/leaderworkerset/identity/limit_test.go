package identity

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestNameLimit(t *testing.T) {
	tests := map[string]struct {
		demand NameDemand
		want   NameLimit
	}{
		"one digit":             {NameDemand{Groups: 10, Size: 8}, NameLimit{50, "worker StatefulSet", "s-9"}},
		"two digits":            {NameDemand{Groups: 11, Size: 8}, NameLimit{49, "worker StatefulSet", "s-10"}},
		"no groups":             {NameDemand{Groups: 0, Size: 8}, NameLimit{50, "worker StatefulSet", "s-0"}},
		"many workers":          {NameDemand{Groups: 1, Size: 1_000_000_001}, NameLimit{50, "worker StatefulSet", "s-0"}},
		"size 1":                {NameDemand{Groups: 1000, Size: 1}, NameLimit{52, "leader StatefulSet", "s"}},
		"size 1, most groups":   {NameDemand{Groups: 2_000_000, Size: 1}, NameLimit{52, "leader StatefulSet", "s"}},
		"hash":                  {NameDemand{Groups: 1000, Size: 8, Hash: true}, NameLimit{43, "worker StatefulSet", "s-01234567"}},
		"hash, size 1":          {NameDemand{Groups: 1000, Size: 1, Hash: true}, NameLimit{54, "leader's host", "s-01234567"}},
		"hash, billion workers": {NameDemand{Groups: 1, Size: 1_000_000_001, Hash: true}, NameLimit{43, "worker StatefulSet", "s-01234567"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := test.demand.Limit("s")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Left("s") != test.want.MaxLength-1 {
				t.Errorf("Left = %d, want %d", got.Left("s"), test.want.MaxLength-1)
			}
		})
	}
	want := "at most 49 characters, so that the name of the worker StatefulSet, s-10, can exist"
	if got := (NameDemand{Groups: 11, Size: 8}).Limit("s").String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A name at the limit works, one character more does not.
func TestNameLimitIsExact(t *testing.T) {
	fits := func(d NameDemand, set string) bool {
		group := LeaderName(set, max(d.Groups, 1)-1)
		if d.Hash {
			group = Group{Set: set, Index: hashIndex}.Name()
		}
		ok := len(group) <= 63 && (d.Hash || len(set)+11 <= 63)
		if d.Size > 1 {
			ok = ok && len(group)+11 <= 63 && len(WorkerName(group, d.Size-1)) <= 63
		}
		return ok
	}
	rapid.Check(t, func(t *rapid.T) {
		demand := NameDemand{
			Groups: rapid.Int32Range(0, 2_000_000).Draw(t, "groups"),
			Size:   rapid.Int32Range(1, 1<<31-1).Draw(t, "size"),
			Hash:   rapid.Bool().Draw(t, "hash"),
		}
		limit := demand.Limit("s").MaxLength
		if !fits(demand, strings.Repeat("s", limit)) {
			t.Fatalf("%+v: %d characters do not fit", demand, limit)
		}
		if fits(demand, strings.Repeat("s", limit+1)) {
			t.Fatalf("%+v: %d characters would fit", demand, limit+1)
		}
	})
}
