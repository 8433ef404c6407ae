package controllers

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "sigs.k8s.io/lws/"

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Imports    []string
}

func list(t *testing.T, patterns ...string) []listed {
	t.Helper()
	command := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Imports"}, patterns...)...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// reaches are the imports of a package and of those of ours that it imports.
func reaches(path string, packages []listed) []string {
	imports := map[string][]string{}
	for _, p := range packages {
		imports[p.ImportPath] = p.Imports
	}
	seen := map[string]bool{}
	for queue := []string{path}; len(queue) > 0; queue = queue[1:] {
		for _, other := range imports[queue[0]] {
			if !seen[other] {
				seen[other] = true
				queue = append(queue, other)
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// TestBoundaries checks what a package imports, directly or through others of ours.
func TestBoundaries(t *testing.T) {
	const (
		client     = `^sigs\.k8s\.io/controller-runtime/|^k8s\.io/client-go/(kubernetes|rest|tools/record|tools/events|informers|dynamic)(/|$)`
		lws        = `^sigs\.k8s\.io/lws/(controllers/leaderworkerset|cmd/lws-manager|cmd/kubectl-lws)(/|$)`
		ds         = `^sigs\.k8s\.io/lws/(controllers/disaggregatedset|cmd/disaggregatedset-manager)(/|$)`
		controller = `^sigs\.k8s\.io/lws/(controllers|cmd)(/|$)`
	)
	boundaries := map[string]struct {
		packages string
		never    string
	}{
		"API types are for every program": {
			packages: `^apis/[^/]+/v[^/]+$`,
			never:    client + "|" + controller,
		},
		"generated clients know nothing of controllers": {
			packages: `^apis/`,
			never:    `^sigs\.k8s\.io/controller-runtime/|` + controller,
		},
		"planners have the standard library, and of that no clock and no context": {
			packages: `^controllers/[^/]+/rollout$`,
			never:    `^[^/]*\.|^(time|log|log/slog|context|os|math/rand)$`,
		},
		"what is pure has no client": {
			packages: `^controllers/[^/]+/(identity|podspec|revision|placement)$`,
			never:    client,
		},
		"lws-manager knows nothing of DisaggregatedSets": {
			packages: `^(controllers/leaderworkerset|cmd/lws-manager)(/|$)`,
			never:    ds,
		},
		"the plugin asks the controllers of its own kind only": {
			packages: `^cmd/kubectl-lws$`,
			never:    ds + `|^sigs\.k8s\.io/lws/cmd/`,
		},
		"disaggregatedset-manager knows nothing of the other's controllers": {
			packages: `^(controllers/disaggregatedset|cmd/disaggregatedset-manager)(/|$)`,
			never:    lws,
		},
		"a group knows nothing of its set's reconciler and plans": {
			packages: `^controllers/leaderworkerset/group$`,
			never:    `^sigs\.k8s\.io/lws/controllers/leaderworkerset(/rollout)?$`,
		},
	}
	packages := list(t, "../apis/...", "../controllers/...", "../cmd/...")
	for name, boundary := range boundaries {
		t.Run(name, func(t *testing.T) {
			inside, never := regexp.MustCompile(boundary.packages), regexp.MustCompile(boundary.never)
			checked := 0
			for _, p := range packages {
				path := strings.TrimPrefix(p.ImportPath, module)
				if !inside.MatchString(path) {
					continue
				}
				checked++
				for _, other := range reaches(p.ImportPath, packages) {
					if never.MatchString(other) {
						t.Errorf("%s reaches %s", path, other)
					}
				}
			}
			if checked == 0 && !strings.Contains(name, "disaggregatedset-manager") {
				t.Errorf("no package matches %s", boundary.packages)
			}
		})
	}
}

// TestEveryPackageSaysWhatItIs checks for the comment that defines a package's words.
func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for dir, files := range sources(t) {
		if slices.Contains(files, "doc.go") || slices.Contains(files, "main.go") || slices.Contains(files, "generate.go") {
			continue
		}
		if strings.HasPrefix(dir, "apis/client") || strings.HasPrefix(dir, "apis/applyconfiguration") {
			continue // generated
		}
		t.Errorf("%s has no doc.go", dir)
	}
}

// TestNoLimitIsWaived looks for directives that silence lint outside tests.
func TestNoLimitIsWaived(t *testing.T) {
	for dir, files := range sources(t) {
		for _, file := range files {
			data, err := os.ReadFile(filepath.Join("..", dir, file))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(data, []byte("//"+"nolint")) && !bytes.Contains(data, []byte("DO NOT EDIT")) {
				t.Errorf("%s/%s waives a limit", dir, file)
			}
		}
	}
}

// sources are the Go files of the repository, without tests, by directory.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	for _, top := range []string{"apis", "cmd", "controllers", "e2e"} {
		err := filepath.WalkDir(filepath.Join("..", top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
			files[dir] = append(files[dir], filepath.Base(path))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}
