package binaries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// DirVariable names the environment variable that points to a directory with
// ready-made programs; those found there are neither downloaded nor built.
const DirVariable = "LWS_CLUSTER_BINARIES"

// Store provides programs and keeps them.
type Store struct {
	root     string
	provided string
	log      io.Writer
	releases releases
	build    func(ctx context.Context, moduleDir string, p program, output string) error
}

// NewStore opens the store in the user's cache directory. Progress is written
// to log, one line for each program that is not there yet.
func NewStore(log io.Writer) (*Store, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("no cache directory: %w (set HOME or XDG_CACHE_HOME)", err)
	}
	return &Store{
		root:     filepath.Join(cache, "lws-cluster"),
		provided: os.Getenv(DirVariable),
		log:      log,
		releases: publicReleases,
		build:    goBuild,
	}, nil
}

// Dir is the directory that Ensure fills for a version.
func (s *Store) Dir(version string) (string, error) {
	p, err := findPin(version)
	if err != nil {
		return "", err
	}
	return s.dir(p), nil
}

func (s *Store) dir(p pin) string { return filepath.Join(s.root, p.key(), "bin") }

// Ensure makes the named programs of a Kubernetes version present and returns
// the directory that holds them. What is there is not touched.
func (s *Store) Ensure(ctx context.Context, version string, names ...string) (string, error) {
	kube, err := findPin(version)
	if err != nil {
		return "", err
	}
	wanted, err := programs(kube, names)
	if err != nil {
		return "", err
	}
	dir := s.dir(kube)
	if len(missing(dir, wanted)) == 0 {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	unlock, err := lockDir(ctx, dir, s.log)
	if err != nil {
		return "", err
	}
	defer unlock()
	todo := missing(dir, wanted)
	for i, p := range todo {
		if err := s.provide(ctx, dir, p, fmt.Sprintf("%d/%d", i+1, len(todo))); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func missing(dir string, wanted []program) []program {
	var absent []program
	for _, p := range wanted {
		if _, err := os.Stat(filepath.Join(dir, p.name)); err != nil {
			absent = append(absent, p)
		}
	}
	return absent
}

// provide puts one program into dir. A program appears under its name only
// when it is complete, so that an interruption leaves nothing half done.
func (s *Store) provide(ctx context.Context, dir string, p program, count string) error {
	target := filepath.Join(dir, p.name)
	if s.provided != "" {
		if file, err := filepath.Abs(filepath.Join(s.provided, p.name)); err == nil && isFile(file) {
			s.printf("using %s (%s) from %s", p.name, count, s.provided)
			return os.Symlink(file, target)
		}
	}
	if own := s.dir(p.pin); own != dir {
		return s.borrow(ctx, own, p, target)
	}
	partial := filepath.Join(dir, "."+p.name+".partial")
	defer func() { _ = os.Remove(partial) }()
	reason, err := s.download(ctx, p, partial, count)
	if err != nil {
		return err
	}
	if reason != "" {
		if err := s.compile(ctx, dir, p, partial, count, reason); err != nil {
			return err
		}
	}
	return os.Rename(partial, target)
}

// borrow links a program of another pin, after making sure that it is there.
func (s *Store) borrow(ctx context.Context, own string, p program, target string) error {
	if _, err := s.Ensure(ctx, p.pin.minor, p.name); err != nil {
		return err
	}
	return os.Symlink(filepath.Join(own, p.name), target)
}

// download says why there is no download, or "" after a successful one.
func (s *Store) download(ctx context.Context, p program, file, count string) (string, error) {
	started := time.Now()
	err := s.releases.fetch(ctx, p, file)
	var unavailable unavailableError
	switch {
	case err == nil:
		s.printf("downloaded %s %s (%s) in %s", p.name, p.version(), count, elapsed(started))
		return "", nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &unavailable):
		return unavailable.Error(), nil
	}
	return "", fmt.Errorf("downloading %s: %w", p.name, err)
}

func (s *Store) compile(ctx context.Context, dir string, p program, file, count, reason string) error {
	if err := checkDisk(dir); err != nil {
		return err
	}
	module := filepath.Join(filepath.Dir(dir), "module")
	if err := p.pin.write(module); err != nil {
		return err
	}
	s.printf("building %s %s (%s) because %s …", p.name, p.version(), count, reason)
	started := time.Now()
	if err := s.build(ctx, module, p, file); err != nil {
		return err
	}
	s.printf("built %s in %s", p.name, elapsed(started))
	return nil
}

func (s *Store) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(s.log, format+"\n", args...)
}

func elapsed(since time.Time) time.Duration { return time.Since(since).Round(100 * time.Millisecond) }

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
