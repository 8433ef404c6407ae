package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDescribe(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.0",
		Main:      debug.Module{Path: "example.com/m", Version: "v1.0.0"},
		Deps: []*debug.Module{
			{Path: "example.com/a", Version: "v0.1.0", Sum: "h1:a"},
			{Path: "example.com/b", Version: "v0.2.0", Replace: &debug.Module{Path: "example.com/c", Version: "v0.3.0", Sum: "h1:c"}},
		},
	}
	got := describe("prog", []byte("program"), info)
	parts := map[string]string{}
	for _, p := range got.Packages {
		locator := ""
		if len(p.Refs) > 0 {
			locator = p.Refs[0].Locator
		}
		parts[p.ID] = p.Name + " " + p.Version + " " + locator + " " + p.Comment
	}
	want := map[string]string{
		"SPDXRef-program":  "prog v1.0.0  ",
		"SPDXRef-go":       "stdlib go1.26.0 pkg:golang/stdlib@go1.26.0 ",
		"SPDXRef-module-1": "example.com/a v0.1.0 pkg:golang/example.com/a@v0.1.0 h1:a",
		"SPDXRef-module-2": "example.com/c v0.3.0 pkg:golang/example.com/c@v0.3.0 h1:c",
	}
	if diff := cmp.Diff(want, parts); diff != "" {
		t.Errorf("packages (-want +got)\n%s", diff)
	}
	for _, r := range got.Relationships {
		if _, found := parts[r.To]; !found || r.From != documentID && parts[r.From] == "" {
			t.Errorf("relationship of what is not there: %v", r)
		}
	}
	if len(got.Relationships) != len(want) {
		t.Errorf("%d relationships of %d packages", len(got.Relationships), len(want))
	}
}

// TestProgram describes the program that runs the test.
func TestProgram(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := run([]string{program}, out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two documents of one program differ")
	}
	var d document
	if err := json.Unmarshal(first.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	want := []checksum{{"SHA256", fmt.Sprintf("%x", sha256.Sum256(data))}}
	if diff := cmp.Diff(want, d.Packages[0].Checksums); diff != "" {
		t.Errorf("checksum of the program (-want +got)\n%s", diff)
	}
	if err := run(nil, &first); err == nil {
		t.Error("no program is described")
	}
}
