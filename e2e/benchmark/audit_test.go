package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/lws/e2e/harness"
)

func TestRequestsOfOneUserAreCountedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	line := func(user, stage, verb, resource, sub, name string) string {
		return `{"stage":"` + stage + `","verb":"` + verb + `","user":{"username":"` + user + `"},"objectRef":{"resource":"` +
			resource + `","subresource":"` + sub + `","name":"` + name + `"}}` + "\n"
	}
	write := func(content string) {
		t.Helper()
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(content); err != nil {
			t.Fatal(err)
		}
	}
	half := line("manager", "ResponseComplete", "create", "statefulsets", "", setName)
	write(line("manager", "ResponseComplete", "patch", "pods", "", "bench-1") +
		line("manager", "ResponseComplete", "patch", "leaderworkersets", "status", setName) +
		line("manager", "RequestReceived", "patch", "pods", "", "bench-1") +
		line("somebody", "ResponseComplete", "patch", "pods", "", "bench-1") +
		line("manager", "ResponseComplete", "list", "pods", "", "") +
		line("manager", "ResponseComplete", "create", "tokenreviews", "", "") +
		line("manager", "ResponseComplete", "update", "leases", "", "lws") + half[:20])

	log := auditLog{lines: harness.Lines{Path: path}, user: "manager"}
	first, err := log.Next()
	if err != nil {
		t.Fatal(err)
	}
	want := Requests{
		"patch pods": 1, "patch leaderworkersets/status (set)": 1, "list pods": 1,
		"create tokenreviews": 1, "update leases": 1,
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("first requests (-want +got):\n%s", diff)
	}
	if group, set, other := first.Writes(); group != 1 || set != 1 || other != 1 {
		t.Errorf("writes: %d to groups, %d to the set, %d others; want one each", group, set, other)
	}

	write(half[20:])
	second, err := log.Next()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Requests{"create statefulsets (set)": 1}, second); diff != "" {
		t.Errorf("requests since then (-want +got):\n%s", diff)
	}
}
