package managers

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// What the tests run is compiled as what users run: another tag is another program.
func TestEveryBuildHasTheTagsOfTheImages(t *testing.T) {
	checkout, err := Checkout()
	if err != nil {
		t.Fatal(err)
	}
	for file, named := range map[string]string{
		"Dockerfile": `(?m)^\s+go build .*-tags (\S+) `,
		"Makefile":   `(?m)^TAGS := (\S+)$`,
	} {
		data, err := os.ReadFile(filepath.Join(checkout, file))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(named).FindAllSubmatch(data, -1)
		if len(found) != 1 {
			t.Errorf("%s: %d places match %s, want 1", file, len(found), named)
			continue
		}
		if got := string(found[0][1]); got != tags {
			t.Errorf("%s: builds with the tags %q, want %q", file, got, tags)
		}
	}
}
