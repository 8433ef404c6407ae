package main

import (
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	for name, test := range map[string]struct {
		shown, printed string
		same           bool
	}{
		"the same":                  {"a b\nc", "a b\nc", true},
		"columns of other widths":   {"NAME   READY\nx      1", "NAME READY\nx 1", true},
		"ages":                      {"x 1 2s", "x 1 3m12s", true},
		"ages side by side":         {"x 2s 3s 4s", "x 1m 17s 2h", true},
		"an age in a message":       {"waits (2s)", "waits (1.5s)", true},
		"a number is no age":        {"x 2", "x 3", false},
		"a word that has an age":    {"v2s", "v3s", false},
		"text that differs":         {"set-…-prv", "set-0-ab12-prv", true},
		"text of another line":      {"set-…-prv", "set-0-ab12", false},
		"any lines":                 {"first\n…\nlast", "first\n1\n2\nlast", true},
		"any lines may be none":     {"first\n…", "first", true},
		"any lines do not end all":  {"first\n…\nlast", "first\n1", false},
		"a line too many":           {"a", "a\nb", false},
		"a line too few":            {"a\nb", "a", false},
		"nothing is printed":        {"", "", true},
		"a pattern is not an expr":  {"a.c", "abc", false},
		"something and not nothing": {"a", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			difference := compare(test.shown, test.printed)
			if (difference == "") != test.same {
				t.Errorf("difference is %q, want one: %v", difference, !test.same)
			}
		})
	}
}

func TestRunBlock(t *testing.T) {
	dir := t.TempDir()
	state := dir + "/state"
	run := func(commands string) (string, error) {
		return runBlock(t.Context(), dir, state, commands)
	}
	t.Setenv("MAKELEVEL", "1")
	if _, err := run("true"); err == nil {
		t.Fatal("a state that does not exist is no error")
	}
	writeFile(t, state, "")
	if printed, err := run("export A=1\necho out; echo err >&2; echo \"level $MAKELEVEL.\""); err != nil || printed != "out\nerr\nlevel ." {
		t.Errorf("printed %q, error %v", printed, err)
	}
	if printed, err := run(`echo "A is $A"`); err != nil || printed != "A is 1" {
		t.Errorf("what a block exports is not there in the next: printed %q, error %v", printed, err)
	}
	if printed, err := run("echo before; false | true; echo after"); err == nil || printed != "before" {
		t.Errorf("a command in a pipe failed and the block went on: printed %q, error %v", printed, err)
	}
}

func TestWalk(t *testing.T) {
	dir := t.TempDir()
	page := dir + "/page.md"
	for name, test := range map[string]struct {
		text, want string
	}{
		"as shown":        {"x\n```sh\necho a 3s\n```\n\n```output\na 5s\n```\n", ""},
		"not shown":       {"```sh\necho a\n```\n\ntext\n", ""},
		"shown wrongly":   {"```sh\necho a\n```\n```output\nb\n```\n", "page.md:4: line 1 is shown as"},
		"a command fails": {"```sh\nfalse\n```\n", "page.md:1: exit status 1"},
		"not closed":      {"```sh\nfalse\n", "is not closed"},
	} {
		t.Run(name, func(t *testing.T) {
			writeFile(t, page, test.text)
			_, err := walk(t.Context(), dir, page, t.Output())
			switch {
			case test.want == "" && err != nil:
				t.Errorf("error is %v, want none", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error is %v, want one with %q", err, test.want)
			}
		})
	}
}
