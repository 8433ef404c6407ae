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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// shippedDefinition is the CustomResourceDefinition that this release ships, as the
// API server would answer it.
func shippedDefinition(t *testing.T) map[string]any {
	t.Helper()
	data, err := os.ReadFile("../../config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml")
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
	tests := map[string]struct {
		spoil func(t *testing.T, definition map[string]any)
		want  []string
	}{
		"what is shipped": {
			spoil: func(*testing.T, map[string]any) {},
		},
		"a field and one further down are missing": {
			spoil: func(t *testing.T, d map[string]any) {
				delete(at(t, d, spec...), "groupIdentity")
				delete(at(t, d, append(spec, "leaderWorkerTemplate", "properties", "restartBackoff", "properties")...), "capSeconds")
			},
			want: []string{
				"leaderworkersets.leaderworkerset.x-k8s.io is older than this manager",
				"spec.groupIdentity", "spec.leaderWorkerTemplate.restartBackoff.capSeconds",
			},
		},
		"a field of the status is missing": {
			spoil: func(t *testing.T, d map[string]any) {
				delete(at(t, d, "spec", "versions", "schema", "openAPIV3Schema", "properties", "status", "properties"), "summary")
			},
			want: []string{"status.summary"},
		},
		"a field of Kubernetes' own is missing: the API server's business": {
			spoil: func(t *testing.T, d map[string]any) {
				delete(at(t, d, append(spec, "leaderWorkerTemplate", "properties", "workerTemplate", "properties")...), "spec")
			},
		},
		"another version": {
			spoil: func(t *testing.T, d map[string]any) { at(t, d, "spec", "versions")["name"] = "v1beta1" },
			want:  []string{"does not serve version v1"},
		},
		"not served": {
			spoil: func(t *testing.T, d map[string]any) { at(t, d, "spec", "versions")["served"] = false },
			want:  []string{"does not serve version v1"},
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
			if err := checkDefinition(data); err != nil {
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
