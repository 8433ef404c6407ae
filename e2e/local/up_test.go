package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/lws/e2e/cluster/controlplane"
)

// runningCluster is the record of a cluster that is up, without processes of its own.
func runningCluster(t *testing.T, options controlplane.Options) (record string) {
	t.Helper()
	dir := filepath.Join(options.Dir, options.Name)
	if err := os.MkdirAll(filepath.Join(dir, "processes"), 0o750); err != nil {
		t.Fatal(err)
	}
	record = filepath.Join(dir, "state.json")
	if err := os.WriteFile(record, []byte(`{"Ready": true, "Options": {"Nodes": 1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return record
}

func TestUpThatFailsLeavesWhatRan(t *testing.T) {
	options := controlplane.Defaults("")
	options.Dir, options.Name, options.Nodes, options.Log = t.TempDir(), "local", 2, &bytes.Buffer{}
	record := runningCluster(t, options)

	err := up(t.Context(), options, "", &bytes.Buffer{})
	if !errors.Is(err, errGoesOn) || !strings.Contains(err.Error(), "is up with other options") || strings.Contains(err.Error(), "\n") {
		t.Errorf("it says %q", err)
	}
	if _, err := os.Stat(record); err != nil {
		t.Errorf("the cluster is gone: %v", err)
	}
}

func TestUpThatFailsAtFirstLeavesNothing(t *testing.T) {
	options := controlplane.Defaults("")
	options.Dir, options.Name, options.Kubernetes, options.Log = t.TempDir(), "local", "0.1", &bytes.Buffer{}
	if err := up(t.Context(), options, "", &bytes.Buffer{}); err == nil || errors.Is(err, errGoesOn) {
		t.Errorf("it says %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(options.Dir, options.Name)); err == nil {
		t.Errorf("it leaves %v", left)
	}
}
