package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCheckLinks(t *testing.T) {
	for name, test := range map[string]struct {
		home, page string
		// without is a page of the content that is not built.
		without string
		want    string
	}{
		"all right":              {home: `<a href="docs/">x</a><a href="/docs/#a">x</a><script src="/x.js"></script>`, page: `<h2 id="a"></h2><a href="../">x</a><a href="https://example.com/">x</a>`},
		"no page":                {home: `<a href="docs/">x</a><a href="gone/">x</a>`, want: "gone/: leads to no page"},
		"no anchor":              {home: `<a href="docs/#b">x</a>`, want: "docs/#b: has no such anchor"},
		"no anchor on the page":  {home: `<a href="docs/">x</a>`, page: `<a href="#c">x</a>`, want: "#c: has no such anchor"},
		"a page without links":   {home: `x`, want: "/docs/index.html: no page links to it"},
		"loaded from elsewhere":  {home: `<a href="docs/">x</a><script src="https://example.com/x.js"></script>`, want: "is loaded from elsewhere"},
		"a file that is missing": {home: `<a href="docs/">x</a><img src="y.png">`, want: "y.png: leads to no page"},
		"a page that is missing": {home: `<a href="docs/">x</a>`, without: "docs/more.md", want: "/docs/more/index.html was not built"},
	} {
		t.Run(name, func(t *testing.T) {
			public, content := t.TempDir(), t.TempDir()
			writeFile(t, filepath.Join(public, "index.html"), test.home)
			writeFile(t, filepath.Join(public, "docs", "index.html"), test.page)
			writeFile(t, filepath.Join(public, "x.js"), "")
			writeFile(t, filepath.Join(content, "_index.md"), "")
			writeFile(t, filepath.Join(content, "docs", "_index.md"), "")
			if test.without != "" {
				writeFile(t, filepath.Join(content, test.without), "")
			}
			var out strings.Builder
			err := checkLinks(public, content, &out)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("error is %v, want none; printed\n%s", err, out.String())
			case test.want != "" && (err == nil || !strings.Contains(out.String(), test.want)):
				t.Errorf("error is %v, want one; printed\n%s\nwant %q", err, out.String(), test.want)
			}
		})
	}
}

func TestBlocks(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	writeFile(t, page, "text\n```yaml {apply=false}\na: 1\n```\n\n```sh\nx\ny\n```\n")
	blocks, err := blocksOf(page)
	if err != nil {
		t.Fatal(err)
	}
	want := []block{
		{File: page, Line: 2, Language: "yaml", Attributes: "{apply=false}", Text: "a: 1"},
		{File: page, Line: 6, Language: "sh", Text: "x\ny"},
	}
	if len(blocks) != len(want) || blocks[0] != want[0] || blocks[1] != want[1] {
		t.Errorf("blocks are %+v, want %+v", blocks, want)
	}
}

func TestConfigurationBlock(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"right":    {"apiVersion: config.lws.x-k8s.io/v1\nkind: Configuration\nwebhook: {port: 9443}\n", ""},
		"misspelt": {"apiVersion: config.lws.x-k8s.io/v1\nkind: Configuration\nwebhok: {port: 9443}\n", "webhok"},
		"part of":  {"spec: {replicas: 1}\n", "no kind"},
		"marked":   {"replicas: 1\n", "no kind"},
	} {
		t.Run(name, func(t *testing.T) {
			b := block{Text: test.text}
			err := b.apply(t.Context())
			switch {
			case test.want == "" && err != nil:
				t.Errorf("error is %v, want none", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error is %v, want one with %q", err, test.want)
			}
			marked := block{Text: test.text, Attributes: "{apply=false}"}
			if err := marked.apply(t.Context()); err != nil {
				t.Errorf("a block that is marked as not to be applied: %v", err)
			}
		})
	}
}
