package binaries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockDir makes one process at a time fill dir. The lock goes with the
// process, so that a killed build blocks nobody.
func lockDir(ctx context.Context, dir string, log io.Writer) (func(), error) {
	file, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	unlock := func() { _ = file.Close() }
	for told := false; ; {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return unlock, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			unlock()
			return nil, fmt.Errorf("lock of %s: %w", dir, err)
		}
		if !told {
			_, _ = fmt.Fprintf(log, "another process is filling %s; waiting for it\n", dir)
			told = true
		}
		select {
		case <-ctx.Done():
			unlock()
			return nil, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}
