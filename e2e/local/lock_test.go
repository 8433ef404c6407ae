package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestOneCommandAtATime(t *testing.T) {
	dir := t.TempDir()
	var progress bytes.Buffer
	unlock, err := lock(t.Context(), dir, "local", &progress)
	if err != nil {
		t.Fatal(err)
	}
	other, err := lock(t.Context(), dir, "other", &progress)
	if err != nil {
		t.Fatal(err)
	}
	other()
	if progress.Len() > 0 {
		t.Errorf("it waits for nobody and says %q", progress.String())
	}

	ctx, cancel := context.WithTimeout(t.Context(), 3*lockInterval)
	defer cancel()
	if _, err := lock(ctx, dir, "local", &progress); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a second command got %v, want it to wait", err)
	}
	if !strings.Contains(progress.String(), "waiting for it") {
		t.Errorf("it waits and says %q", progress.String())
	}

	unlock()
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if unlock, err = lock(ctx, dir, "local", &progress); err != nil {
		t.Fatalf("after the first command ended: %v", err)
	}
	unlock()
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"sideways"}, {"up", "--nodes=many"}} {
		var out, progress bytes.Buffer
		if code := run(t.Context(), args, &out, &progress); code != exitUsage {
			t.Errorf("%q: exit status %d, want %d; %s", args, code, exitUsage, progress.String())
		}
	}
}
