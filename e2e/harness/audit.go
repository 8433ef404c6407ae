package harness

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/lws/e2e/managers"
)

// stageComplete is the last stage of a request, stageStarted that of a watch that
// goes on. They are the values of audit.k8s.io/v1.
const (
	stageComplete = "ResponseComplete"
	stageStarted  = "ResponseStarted"
	fileMode      = 0o600
)

// Request is one request of the manager.
type Request struct {
	At          time.Time
	Verb        string
	Group       string
	Resource    string
	Subresource string
	Namespace   string
	Name        string
	Code        int
	Message     string
}

// Kind is the resource with its subresource.
func (r Request) Kind() string {
	if r.Subresource == "" {
		return r.Resource
	}
	return r.Resource + "/" + r.Subresource
}

// String is what was asked for, without which object.
func (r Request) String() string { return r.Verb + " " + r.Kind() }

// IsWrite tells whether the request changes something.
func (r Request) IsWrite() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.Verb)
}

// AuditLog reads the requests of one user. What was read once is not read again.
type AuditLog struct {
	lines Lines
	user  string
}

// Audit reads the requests of a manager, from the beginning.
func (e *Environment) Audit(shipped managers.Shipped) *AuditLog {
	return &AuditLog{lines: Lines{Path: e.Cluster.AuditLog()}, user: userOf(shipped)}
}

// Next returns the requests since the last call: a request is in the log before its
// answer is sent.
func (a *AuditLog) Next() ([]Request, error) {
	var requests []Request
	err := a.lines.Next(func(line []byte) error {
		request, wanted, err := parseRequest(line, a.user)
		if wanted {
			requests = append(requests, request)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the audit log: %w", err)
	}
	return requests, nil
}

// auditEvent is the part of audit.k8s.io/v1 Event that is read.
type auditEvent struct {
	Stage string `json:"stage"`
	Verb  string `json:"verb"`
	User  struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		APIGroup    string `json:"apiGroup"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"responseStatus"`
	RequestReceivedTimestamp metav1.MicroTime `json:"requestReceivedTimestamp"`
}

func parseRequest(line []byte, user string) (Request, bool, error) {
	var event auditEvent
	if err := json.Unmarshal(line, &event); err != nil {
		return Request{}, false, fmt.Errorf("line %q: %w", line, err)
	}
	counts := event.Stage == stageComplete || event.Stage == stageStarted && event.Verb == "watch"
	if !counts || event.User.Username != user || event.ObjectRef.Resource == "" {
		return Request{}, false, nil
	}
	return Request{
		At:   event.RequestReceivedTimestamp.Time,
		Verb: event.Verb, Group: event.ObjectRef.APIGroup,
		Resource: event.ObjectRef.Resource, Subresource: event.ObjectRef.Subresource,
		Namespace: event.ObjectRef.Namespace, Name: event.ObjectRef.Name,
		Code: event.ResponseStatus.Code, Message: event.ResponseStatus.Message,
	}, true, nil
}

// IsForbidden tells whether the manager had no right to it. That nothing can be made
// in a namespace that ends is no lack of rights.
func (r Request) IsForbidden() bool {
	return r.Code == http.StatusForbidden && !strings.Contains(r.Message, "because it is being terminated")
}

func userOf(shipped managers.Shipped) string {
	return "system:serviceaccount:" + shipped.Namespace + ":" + shipped.ServiceAccount
}

// writeAuditPolicy writes a policy that logs the requests of managers and nobody
// else's: everybody's would be a hundred times as much.
func writeAuditPolicy(dir string, shipped []managers.Shipped) (string, error) {
	name, users := namePrefix, []string{}
	for _, manager := range shipped {
		name, users = name+manager.Name+"-", append(users, userOf(manager))
	}
	policy := map[string]any{
		"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
		"omitStages": []string{"RequestReceived"},
		"rules": []map[string]any{
			{"level": "Metadata", "users": users},
			{"level": "None"},
		},
	}
	text, err := yaml.Marshal(policy)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+"audit-policy.yaml")
	return path, os.WriteFile(path, text, fileMode)
}
