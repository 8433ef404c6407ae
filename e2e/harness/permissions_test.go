package harness

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

func TestComparePermissions(t *testing.T) {
	granted := append(spread([]rbacv1.PolicyRule{
		{APIGroups: []string{"apps"}, Resources: []string{"statefulsets"}, Verbs: []string{"get", "patch", "list", "watch"}},
		{APIGroups: []string{"apps"}, Resources: []string{"controllerrevisions"}, Verbs: []string{"list", "watch"}},
		{APIGroups: []string{""}, Resources: []string{"pods", "pods/status"}, Verbs: []string{"patch"}},
	}, ""), spread([]rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"cert"}, Verbs: []string{"update"}},
	}, "system")...)
	unused, beyond := ComparePermissions(granted, []Request{
		{Verb: "patch", Group: "apps", Resource: "statefulsets", Namespace: "a", Name: "b", Code: 200},
		{Verb: "watch", Group: "apps", Resource: "statefulsets", Code: 200},
		{Verb: "patch", Resource: "pods", Subresource: "status", Namespace: "a", Name: "b", Code: 200},
		{Verb: "update", Resource: "secrets", Namespace: "system", Name: "cert", Code: 200},
		{Verb: "update", Resource: "secrets", Namespace: "other", Name: "cert", Code: 403},
		{Verb: "patch", Resource: "pods", Subresource: "status", Namespace: "a", Name: "b", Code: 403, Message: "unable to create new content in namespace a because it is being terminated"},
		{Verb: "get", Group: "batch", Resource: "jobs", Namespace: "a", Name: "b", Code: 200},
	})
	if diff := cmp.Diff([]string{"get statefulsets.apps", "list controllerrevisions.apps", "watch controllerrevisions.apps", "patch pods"}, unused); diff != "" {
		t.Errorf("unused (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"update secrets. other/cert: 403", "get jobs.batch a/b: 200"}, beyond); diff != "" {
		t.Errorf("beyond (-want +got):\n%s", diff)
	}
}

func TestAuditLogIsReadOnceAndByLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	line := func(stage, verb, user string) string {
		return `{"stage":"` + stage + `","verb":"` + verb + `","user":{"username":"` + user + `"},` +
			`"objectRef":{"resource":"pods","subresource":"status","namespace":"n","name":"p"},"responseStatus":{"code":200}}` + "\n"
	}
	write := func(text string) {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	log := &AuditLog{lines: Lines{Path: path}, user: "me"}
	read := func() (seen []string) {
		requests, err := log.Next()
		if err != nil {
			t.Fatal(err)
		}
		for _, request := range requests {
			seen = append(seen, request.String())
		}
		return seen
	}
	half := line("ResponseComplete", "delete", "me")
	write(line("ResponseStarted", "patch", "me") + line("ResponseStarted", "watch", "me") +
		line("ResponseComplete", "patch", "me") + line("ResponseComplete", "patch", "you") + half[:40])
	if diff := cmp.Diff([]string{"watch pods/status", "patch pods/status"}, read()); diff != "" {
		t.Errorf("first (-want +got):\n%s", diff)
	}
	write(half[40:])
	if diff := cmp.Diff([]string{"delete pods/status"}, read()); diff != "" {
		t.Errorf("then (-want +got):\n%s", diff)
	}
	if got := read(); got != nil {
		t.Errorf("again: %v", got)
	}
}
