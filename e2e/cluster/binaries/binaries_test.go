package binaries

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestResolve(t *testing.T) {
	newest, err := Resolve(Newest)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ want, wantErr string }{
		"":              {want: newest},
		"1.37":          {want: newest},
		"v1.37":         {want: newest},
		newest:          {want: newest},
		newest + "9":    {wantErr: "the pinned version is"},
		"1.20":          {wantErr: "no pin of Kubernetes 1.20; have"},
		"latest":        {wantErr: "is not a Kubernetes version"},
		"1.37-../../x.": {wantErr: "no pin of"},
	}
	for version, tc := range tests {
		t.Run(version, func(t *testing.T) {
			got, err := Resolve(version)
			if got != tc.want || (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestEveryPinProvidesItsPrograms(t *testing.T) {
	for _, minor := range Minors() {
		t.Run(minor, func(t *testing.T) {
			kube, err := loadPin(minor)
			if err != nil {
				t.Fatal(err)
			}
			resolved, err := programs(kube, All())
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range resolved {
				if p.version() == "" {
					t.Errorf("%s has no version", p.name)
				}
				if p.module == kubernetesModule && !strings.HasPrefix(p.version(), "v"+minor+".") {
					t.Errorf("%s has version %s", p.name, p.version())
				}
			}
		})
	}
}

func TestVersionIsStamped(t *testing.T) {
	kube, err := loadPin(Newest)
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := programs(kube, []string{APIServer})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"-X k8s.io/component-base/version.gitVersion=" + resolved[0].version(),
		"-X k8s.io/component-base/version.gitMinor=37",
		"-X k8s.io/client-go/pkg/version.gitVersion=" + resolved[0].version(),
	} {
		if !strings.Contains(resolved[0].ldflags(), want) {
			t.Errorf("%q is not in %q", want, resolved[0].ldflags())
		}
	}
}

// testStore has no network and builds files that name what was built.
func testStore(t *testing.T) (*Store, *bytes.Buffer, *[]string) {
	t.Helper()
	var progress bytes.Buffer
	var built []string
	return &Store{
		root:     t.TempDir(),
		log:      &progress,
		releases: releases{kubernetes: "http://127.0.0.1:1", etcd: "http://127.0.0.1:1", patience: time.Second},
		build: func(_ context.Context, moduleDir string, p program, output string) error {
			if !isFile(filepath.Join(moduleDir, "go.mod")) || !isFile(filepath.Join(moduleDir, "go.sum")) {
				return errors.New("the pin is not laid out")
			}
			built = append(built, p.name+" "+p.version())
			return os.WriteFile(output, []byte(p.name), 0o755)
		},
	}, &progress, &built
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, entry := range entries {
		if entry.Name() != ".lock" {
			found = append(found, entry.Name())
		}
	}
	return found
}

func TestEnsureBuildsWhatIsMissingOnce(t *testing.T) {
	s, progress, built := testStore(t)
	dir, err := s.Ensure(t.Context(), "", ForAPIServerTests()...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"etcd", "kube-apiserver", "kubectl"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{"building etcd", "(1/3)", "building kube-apiserver", "(2/3)", "because no download can be had", "built kubectl in"} {
		if !strings.Contains(progress.String(), want) {
			t.Errorf("%q is not in the progress: %s", want, progress)
		}
	}
	if _, err := s.Ensure(t.Context(), Newest, All()...); err != nil {
		t.Fatal(err)
	}
	if len(*built) != len(All()) {
		t.Errorf("built %v", *built)
	}
	again, err := s.Ensure(t.Context(), "", All()...)
	if err != nil || again != dir || len(*built) != len(All()) {
		t.Errorf("third time: %s, %v, built %v", again, err, *built)
	}
}

func TestOlderVersionsBorrowEtcdAndKwok(t *testing.T) {
	for _, minor := range Minors() {
		if minor == Newest {
			continue
		}
		t.Run(minor, func(t *testing.T) {
			s, _, built := testStore(t)
			dir, err := s.Ensure(t.Context(), minor, All()...)
			if err != nil {
				t.Fatal(err)
			}
			newest, err := s.Dir(Newest)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"etcd", "kwok"}, names(t, newest)); diff != "" {
				t.Errorf("built for the newest: %s", diff)
			}
			for _, name := range All() {
				if content, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(content) != name {
					t.Errorf("%s: %q, %v", name, content, err)
				}
			}
			if len(*built) != len(All()) {
				t.Errorf("built %v", *built)
			}
		})
	}
}

func TestProvidedProgramsAreUsed(t *testing.T) {
	s, progress, built := testStore(t)
	s.provided = t.TempDir()
	if err := os.WriteFile(filepath.Join(s.provided, Etcd), []byte("provided"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := s.Ensure(t.Context(), "", Etcd, Kubectl)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, Etcd))
	if err != nil || string(content) != "provided" {
		t.Errorf("etcd: %q, %v", content, err)
	}
	if len(*built) != 1 || !strings.Contains(progress.String(), "using etcd (1/2) from "+s.provided) {
		t.Errorf("built %v; progress: %s", *built, progress)
	}
}

func TestFailedBuildLeavesNothing(t *testing.T) {
	s, _, _ := testStore(t)
	s.build = func(_ context.Context, _ string, _ program, output string) error {
		return errors.Join(os.WriteFile(output, []byte("half"), 0o755), context.Canceled)
	}
	if _, err := s.Ensure(t.Context(), "", Etcd); !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	dir, err := s.Dir("")
	if err != nil {
		t.Fatal(err)
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestOneProcessFillsADirectory(t *testing.T) {
	s, progress, _ := testStore(t)
	dir, err := s.Dir("")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	unlock, err := lockDir(t.Context(), dir, progress)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Ensure(ctx, "", Etcd); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error while another one builds: %v", err)
	}
	if !strings.Contains(progress.String(), "another process is filling") {
		t.Errorf("progress: %s", progress)
	}
	unlock()
	if _, err := s.Ensure(t.Context(), "", Etcd); err != nil {
		t.Error(err)
	}
}

func TestWhatABuildNeeds(t *testing.T) {
	if err := enoughDisk("/cache", neededDisk); err != nil {
		t.Error(err)
	}
	if err := enoughDisk("/cache", 1<<30); err == nil || err.Error() != "building the control plane needs 6 GB of disk, /cache has 1.0 GB free" {
		t.Errorf("little disk: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := goBuild(t.Context(), t.TempDir(), program{name: "etcd"}, "etcd"); err == nil || !strings.HasPrefix(err.Error(), "no Go on the PATH, and etcd must be built") {
		t.Errorf("no Go: %v", err)
	}
}

func TestInterruptedBuildEndsItsProcesses(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\nsleep 600 &\necho $! > " + filepath.Join(bin, "pid") + "\nwait\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- goBuild(ctx, t.TempDir(), program{name: "etcd"}, "etcd") }()
	var pid string
	for deadline := time.Now().Add(10 * time.Second); pid == "" && time.Now().Before(deadline); {
		content, _ := os.ReadFile(filepath.Join(bin, "pid"))
		pid = strings.TrimSpace(string(content))
	}
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	var line []byte
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if line, _ = os.ReadFile("/proc/" + pid + "/cmdline"); len(line) == 0 {
			return
		}
	}
	t.Errorf("process %s of the build still runs: %s", pid, line)
}

func sum(content []byte) string {
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:])
}

func TestDownloadsAreCheckedAndBuildingIsTheFallback(t *testing.T) {
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	entries := tar.NewWriter(zipped)
	if err := entries.WriteHeader(&tar.Header{Name: "etcd-v3/etcd", Typeflag: tar.TypeReg, Mode: 0o755, Size: 8}); err != nil {
		t.Fatal(err)
	}
	if _, err := entries.Write([]byte("released")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(entries.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	kube, err := loadPin(Newest)
	if err != nil {
		t.Fatal(err)
	}
	etcdArchive := fmt.Sprintf("etcd-%s-%s-%s.tar.gz", kube.version(etcdModule), runtime.GOOS, runtime.GOARCH)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/kube-apiserver"), strings.HasSuffix(path, "/kube-scheduler"):
			_, _ = fmt.Fprint(w, "released")
		case strings.HasSuffix(path, "/kube-apiserver.sha256"):
			_, _ = fmt.Fprintln(w, sum([]byte("released")))
		case strings.HasSuffix(path, "/kube-scheduler.sha256"):
			_, _ = fmt.Fprintln(w, sum([]byte("another")))
		case strings.HasSuffix(path, "/SHA256SUMS"):
			_, _ = fmt.Fprintf(w, "%s  other.tar.gz\n%s  %s\n", sum(nil), sum(archive.Bytes()), etcdArchive)
		case strings.HasSuffix(path, "/"+etcdArchive):
			_, _ = w.Write(archive.Bytes())
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	s, progress, built := testStore(t)
	s.releases.kubernetes, s.releases.etcd = server.URL+"/release", server.URL+"/etcd"

	dir, err := s.Ensure(t.Context(), "", Etcd, APIServer, ControllerManager, Kwok)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{Etcd, APIServer} {
		if content, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(content) != "released" {
			t.Errorf("%s: %q, %v", name, content, err)
		}
	}
	slices.Sort(*built)
	if diff := cmp.Diff([]string{ControllerManager + " " + kube.version(kubernetesModule), Kwok + " " + kube.version(kwokModule)}, *built); diff != "" {
		t.Errorf("built: %s", diff)
	}
	for _, want := range []string{"downloaded etcd", "answers 404 Not Found", "because it is not published with a checksum"} {
		if !strings.Contains(progress.String(), want) {
			t.Errorf("%q is not in the progress: %s", want, progress)
		}
	}
	if _, err := s.Ensure(t.Context(), "", Scheduler); err == nil || !strings.Contains(err.Error(), "has checksum") {
		t.Errorf("wrong checksum: %v", err)
	}
	if slices.Contains(names(t, dir), Scheduler) {
		t.Error("a program with a wrong checksum was kept")
	}
}
