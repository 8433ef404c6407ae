package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// shippedDefinition is the CustomResourceDefinition that this release ships, as the
// API server would answer it.
func shippedDefinition(t *testing.T) map[string]any {
	t.Helper()
	data, err := os.ReadFile("../../config/crd/bases/disaggregatedset.x-k8s.io_disaggregatedsets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var definition map[string]any
	if err := yaml.Unmarshal(data, &definition); err != nil {
		t.Fatal(err)
	}
	return definition
}

// at walks down a document of maps, and the first entry of lists.
func at(t *testing.T, document map[string]any, path ...string) map[string]any {
	t.Helper()
	for _, key := range path {
		next := document[key]
		if list, ok := next.([]any); ok {
			next = list[0]
		}
		found, ok := next.(map[string]any)
		if !ok {
			t.Fatalf("the definition has no %q of %v", key, path)
		}
		document = found
	}
	return document
}

func TestCheckDefinition(t *testing.T) {
	spec := []string{"spec", "versions", "schema", "openAPIV3Schema", "properties", "spec", "properties"}
	role := append(spec, "roles", "items", "properties")
	tests := map[string]struct {
		spoil func(t *testing.T, definition map[string]any)
		want  []string
	}{
		"what is shipped": {
			spoil: func(*testing.T, map[string]any) {},
		},
		"a field and one further down are missing": {
			spoil: func(t *testing.T, d map[string]any) {
				t.Helper()
				delete(at(t, d, spec...), "slices")
				delete(at(t, d, append(role, "spec", "properties", "leaderWorkerTemplate", "properties", "restartBackoff", "properties")...), "capSeconds")
			},
			want: []string{
				"disaggregatedsets.disaggregatedset.x-k8s.io is older than this manager",
				"spec.slices", "spec.roles.spec.leaderWorkerTemplate.restartBackoff.capSeconds",
			},
		},
		"a field of the status is missing": {
			spoil: func(t *testing.T, d map[string]any) {
				t.Helper()
				delete(at(t, d, "spec", "versions", "schema", "openAPIV3Schema", "properties", "status", "properties"), "summary")
			},
			want: []string{"status.summary"},
		},
		"a field of Kubernetes' own is missing: the API server's business": {
			spoil: func(t *testing.T, d map[string]any) {
				t.Helper()
				delete(at(t, d, append(role, "spec", "properties", "leaderWorkerTemplate", "properties", "workerTemplate", "properties")...), "spec")
			},
		},
		"another version": {
			spoil: func(t *testing.T, d map[string]any) {
				t.Helper()
				at(t, d, "spec", "versions")["name"] = "v1beta1"
			},
			want: []string{"does not serve version v1"},
		},
		"not served": {
			spoil: func(t *testing.T, d map[string]any) {
				t.Helper()
				at(t, d, "spec", "versions")["served"] = false
			},
			want: []string{"does not serve version v1"},
		},
		"not established": {
			spoil: func(_ *testing.T, d map[string]any) {
				d["status"] = map[string]any{"conditions": []any{
					map[string]any{"type": "Established", "status": "False", "message": "names conflict"},
				}}
			},
			want: []string{"is not established: names conflict"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			definition := shippedDefinition(t)
			test.spoil(t, definition)
			data, err := json.Marshal(definition)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := ownDefinitions()[0].check(data); err != nil {
				got = err.Error()
			}
			if (got == "") != (len(test.want) == 0) {
				t.Fatalf("error %q, want %q", got, test.want)
			}
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("error %q does not have %q", got, want)
				}
			}
		})
	}
}

// A gate is closed for a reason when somebody looked, not while nobody could.
func TestClosedFor(t *testing.T) {
	for name, test := range map[string]struct {
		then func(*gate)
		want string
	}{
		"nobody looked":        {func(*gate) {}, ""},
		"nobody could look":    {func(g *gate) { g.doubt("connection refused") }, ""},
		"somebody looked":      {func(g *gate) { g.close("it does not exist") }, "it does not exist"},
		"could not look again": {func(g *gate) { g.close("it does not exist"); g.doubt("connection refused") }, ""},
		"it is there":          {func(g *gate) { g.close("it does not exist"); g.open() }, ""},
		"it goes":              {func(g *gate) { g.open(); g.close("it is gone") }, "it is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate("nobody has looked yet")
			test.then(g)
			if got := g.closedFor(); got != test.want {
				t.Errorf("closed for %q, want %q", got, test.want)
			}
		})
	}
}

func TestReadinessGivesReasons(t *testing.T) {
	caches := newGate("the caches are not filled yet")
	checks := readiness{
		{"schema", func(*http.Request) error { return errors.New("it is old") }},
		{"caches", caches.check},
	}
	answer := func() (int, string) {
		recorder := httptest.NewRecorder()
		checks.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		return recorder.Code, recorder.Body.String()
	}
	status, body := answer()
	if diff := cmp.Diff("[-] schema: it is old\n[-] caches: the caches are not filled yet\n", body); status != http.StatusServiceUnavailable || diff != "" {
		t.Errorf("status %d (-want +got)\n%s", status, diff)
	}

	caches.open()
	checks = checks[1:]
	status, body = answer()
	if diff := cmp.Diff("[+] caches\n", body); status != http.StatusOK || diff != "" {
		t.Errorf("status %d (-want +got)\n%s", status, diff)
	}
}

func TestGate(t *testing.T) {
	g := newGate("not yet")
	if err := g.check(nil); err == nil || err.Error() != "not yet" {
		t.Errorf("a new gate says %v", err)
	}
	if !g.close("because of %d", 1) || g.close("because of %d", 1) {
		t.Error("a reason is news once")
	}
	select {
	case <-g.opened:
		t.Error("it was opened before anybody opened it")
	default:
	}
	g.open()
	g.open()
	if err := g.check(nil); err != nil {
		t.Errorf("an open gate says %v", err)
	}
	<-g.opened
	if !g.close("again") || g.check(nil) == nil {
		t.Error("an open gate cannot be closed")
	}
}

func TestMetricsWithoutTokenAskNobody(t *testing.T) {
	for _, header := range []string{"", "Bearer ", "Basic dTpw"} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Header.Set("Authorization", header)
		// Without a client, asking the API server would be a panic.
		status, err := new(metricsGuard).admit(r)
		if err != nil || status != http.StatusUnauthorized {
			t.Errorf("Authorization %q: status %d, error %v, want 401", header, status, err)
		}
	}
}

// tokenReviews knows no token, and remembers which it was asked about.
type tokenReviews struct {
	client.Client
	token string
}

func (r *tokenReviews) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	r.token = obj.(*authenticationv1.TokenReview).Spec.Token
	return nil
}

func TestTokensAreReviewedHoweverTheSchemeIsWritten(t *testing.T) {
	for _, scheme := range []string{"Bearer", "bearer", "BEARER"} {
		reviews := &tokenReviews{}
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Header.Set("Authorization", scheme+" token")
		status, err := (&metricsGuard{reviews: reviews}).admit(r)
		if err != nil || status != http.StatusUnauthorized || reviews.token != "token" {
			t.Errorf("%s: status %d, error %v, the token %q was reviewed", scheme, status, err, reviews.token)
		}
	}
}

// What the API server does not answer, or answers about something else, is nothing that
// is known of LeaderWorkerSets.
func TestLookAtLeaderWorkerSets(t *testing.T) {
	const definitionPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/leaderworkersets.leaderworkerset.x-k8s.io"
	const groupPath = "/apis/leaderworkerset.x-k8s.io/v1"
	const definition = `{"spec":{"versions":[{"name":"v1","served":true}]}}`
	const served = `{"resources":[{"name":"leaderworkersets"},{"name":"leaderworkersets/status"}]}`
	tests := map[string]struct {
		answers map[string]string // all else is not found
		busy    string
		want    string // what is known to be missing
		unread  bool
	}{
		"served":                       {answers: map[string]string{definitionPath: definition, groupPath: served}},
		"not there":                    {want: "does not exist"},
		"the definition is not read":   {busy: definitionPath, unread: true},
		"defined, not served yet":      {answers: map[string]string{definitionPath: definition}, want: "does not serve"},
		"defined, another kind served": {answers: map[string]string{definitionPath: definition, groupPath: `{"resources":[]}`}, want: "does not serve"},
		"defined, discovery is busy":   {answers: map[string]string{definitionPath: definition}, busy: groupPath, unread: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer, found := test.answers[r.URL.Path]
				switch {
				case r.URL.Path == test.busy:
					http.Error(w, "busy", http.StatusInternalServerError)
				case !found:
					http.NotFound(w, r)
				default:
					_, _ = w.Write([]byte(answer))
				}
			}))
			defer server.Close()
			client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			s := &startup{definitions: client.RESTClient()}
			err = s.checkDefinition(t.Context(), leaderWorkerSetDefinition())
			if errors.Is(err, errUnread) != test.unread {
				t.Errorf("unread: %t, want %t: %v", errors.Is(err, errUnread), test.unread, err)
			}
			if !test.unread && (err != nil) != (test.want != "") {
				t.Errorf("it says %v, want %q", err, test.want)
			}
			if err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("it says %v, want %q", err, test.want)
			}
		})
	}
}
