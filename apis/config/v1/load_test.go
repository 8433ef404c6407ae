package v1

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const header = "apiVersion: config.lws.x-k8s.io/v1\nkind: Configuration\n"

func write(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const everything = header + `
webhook: {host: 127.0.0.1, port: 9444, certDir: /certs}
leaderElection:
  leaderElect: true
  leaseDuration: 30s
  renewDeadline: 20s
  retryPeriod: 4s
  resourceLock: leases
  resourceName: mine
  resourceNamespace: system
metrics: {bindAddress: "127.0.0.1:8443", secure: false}
health: {healthProbeBindAddress: ":8082", readinessEndpointName: /ready, livenessEndpointName: /live}
tls: {minVersion: VersionTLS12, cipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]}
internalCertManagement: {enable: false, webhookServiceName: service, webhookSecretName: secret}
gangSchedulingManagement: {schedulerProvider: kubernetes}
clientConnection: {qps: 1.5, burst: 3}
controller: {groupKindConcurrency: {LeaderWorkerSet.leaderworkerset.x-k8s.io: 4, Pod: 8}}
featureGates: {WorkloadAwareScheduling: true, CompositePodGroup: true}
pprofBindAddress: "localhost:6060"
tracing: {endpoint: "collector:4317", samplingRatePerMillion: 1000}
`

func TestLoadEverything(t *testing.T) {
	config, err := Load(write(t, everything), LWSManagerNames())
	if err != nil {
		t.Fatal(err)
	}
	want := &Configuration{}
	want.APIVersion, want.Kind = "config.lws.x-k8s.io/v1", "Configuration"
	want.Webhook = Webhook{Host: "127.0.0.1", Port: ptr(int32(9444)), CertDir: "/certs"}
	want.Metrics = Metrics{BindAddress: "127.0.0.1:8443", Secure: ptr(false)}
	want.Health = Health{HealthProbeBindAddress: ":8082", ReadinessEndpointName: "/ready", LivenessEndpointName: "/live"}
	want.TLS = &TLS{MinVersion: "VersionTLS12", CipherSuites: []string{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"}}
	want.InternalCertManagement = &InternalCertManagement{Enable: ptr(false), WebhookServiceName: ptr("service"), WebhookSecretName: ptr("secret")}
	want.GangSchedulingManagement = &GangSchedulingManagement{SchedulerProvider: ptr("kubernetes")}
	want.ClientConnection = &ClientConnection{QPS: ptr(float32(1.5)), Burst: ptr(int32(3))}
	want.Controller = &Controller{GroupKindConcurrency: map[string]int{"LeaderWorkerSet.leaderworkerset.x-k8s.io": 4, "Pod": 8}}
	want.FeatureGates = map[string]bool{"WorkloadAwareScheduling": true, "CompositePodGroup": true}
	want.PprofBindAddress = "localhost:6060"
	want.Tracing = &Tracing{Endpoint: ptr("collector:4317"), SamplingRatePerMillion: ptr(int32(1000))}
	want.LeaderElection = config.LeaderElection
	if diff := cmp.Diff(want, config); diff != "" {
		t.Errorf("configuration differs (-want +got):\n%s", diff)
	}
	election := config.LeaderElection
	if got := election.LeaseDuration.Duration.String() + " " + election.RenewDeadline.Duration.String() + " " + election.RetryPeriod.Duration.String(); got != "30s 20s 4s" {
		t.Errorf("durations of leader election are %s", got)
	}
	if !*election.LeaderElect || election.ResourceLock != "leases" || election.ResourceName != "mine" || election.ResourceNamespace != "system" {
		t.Errorf("leader election is %+v", election)
	}
}

func ptr[T any](value T) *T { return &value }

func TestLoadDefaults(t *testing.T) {
	for name, names := range map[string]Names{"lws": LWSManagerNames(), "disaggregatedset": DisaggregatedSetManagerNames()} {
		t.Run(name, func(t *testing.T) {
			without, err := Load("", names)
			if err != nil {
				t.Fatal(err)
			}
			minimal, err := Load(write(t, header), names)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(without, minimal); diff != "" {
				t.Errorf("an empty file gives other defaults (-without +with):\n%s", diff)
			}
			if errs := Validate(without); len(errs) > 0 {
				t.Errorf("defaults are not valid: %v", errs)
			}
			twice := without.DeepCopy()
			SetDefaults(twice, names)
			if diff := cmp.Diff(without, twice); diff != "" {
				t.Errorf("defaults twice differ:\n%s", diff)
			}
			got := []string{without.LeaderElection.ResourceName, *without.InternalCertManagement.WebhookServiceName, *without.InternalCertManagement.WebhookSecretName}
			if diff := cmp.Diff([]string{names.LeaderElection, name + "-webhook-service", name + "-webhook-server-cert"}, got); diff != "" {
				t.Errorf("names differ (-want +got):\n%s", diff)
			}
		})
	}
	config := Default(LWSManagerNames())
	if *config.Webhook.Port != 9443 || config.Metrics.BindAddress != ":8443" || !*config.Metrics.Secure ||
		config.Health.HealthProbeBindAddress != ":8081" || !*config.LeaderElection.LeaderElect || config.LeaderElection.ResourceLock != "leases" ||
		!*config.InternalCertManagement.Enable || config.GangSchedulingManagement != nil || config.Tracing != nil || config.PprofBindAddress != "0" {
		t.Errorf("defaults are %+v", config)
	}
	if diff := cmp.Diff(map[string]bool{"WorkloadAwareScheduling": false, "CompositePodGroup": false}, config.FeatureGates); diff != "" {
		t.Errorf("feature gates differ (-want +got):\n%s", diff)
	}
}

// A file of the earlier releases means what it meant.
func TestLoadV1alpha1(t *testing.T) {
	older := strings.Replace(everything, "config.lws.x-k8s.io/v1\n", "config.lws.x-k8s.io/v1alpha1\n", 1)
	older = older[:strings.Index(older, "tracing:")]
	older = strings.Replace(older, ", secure: false", "", 1)
	got, err := Load(write(t, older), LWSManagerNames())
	if err != nil {
		t.Fatal(err)
	}
	want, err := Load(write(t, everything), LWSManagerNames())
	if err != nil {
		t.Fatal(err)
	}
	want.Tracing, want.Metrics.Secure = nil, ptr(true)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("converted configuration differs (-want +got):\n%s", diff)
	}
	if _, err := Load(write(t, "apiVersion: config.lws.x-k8s.io/v1alpha1\nkind: Configuration\ntracing: {}\n"), LWSManagerNames()); err == nil ||
		!strings.Contains(err.Error(), `line 3: unknown field "tracing"`) {
		t.Errorf("a field of v1 in v1alpha1: %v", err)
	}
}

func TestDecodeNamesFieldAndLine(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    []string
	}{
		"misspelt field":           {header + "metrcs: {}\n", []string{`line 3: unknown field "metrcs"`}},
		"misspelt nested field":    {header + "metrics:\n  secure: true\n  bindAdress: ':1'\n", []string{`line 5: unknown field "metrics.bindAdress"`}},
		"wrong case":               {header + "webhook:\n  Port: 1\n", []string{`line 4: unknown field "webhook.Port"`}},
		"several misspelt fields":  {header + "a: 1\nhealth: {b: 2}\n", []string{`line 3: unknown field "a"`, `line 4: unknown field "health.b"`}},
		"misspelt in component":    {header + "leaderElection:\n  leaderElected: true\n", []string{`line 4: unknown field "leaderElection.leaderElected"`}},
		"field given twice":        {header + "metrics: {}\nhealth: {}\nmetrics: {}\n", []string{`line 5: field "metrics" is given twice, first in line 3`}},
		"nested field twice":       {header + "metrics:\n  secure: true\n  secure: false\n", []string{`line 5: field "secure" is given twice, first in line 4`}},
		"text for a number":        {header + "webhook:\n  port: https\n", []string{"line 4: webhook.port is a string, must be int32"}},
		"number too large":         {header + "webhook:\n  port: 99999999999\n", []string{"line 4: webhook.port"}},
		"number for a mapping":     {header + "tls: 12\n", []string{"line 3: tls is a number"}},
		"mapping for a list":       {header + "tls:\n  cipherSuites: {a: b}\n", []string{"line 4: tls.cipherSuites is a object"}},
		"number for a gate":        {header + "featureGates:\n  WorkloadAwareScheduling: 1\n", []string{"featureGates", "must be bool"}},
		"text for a count":         {header + "controller:\n  groupKindConcurrency:\n    LeaderWorkerSet.leaderworkerset.x-k8s.io: many\n", []string{"line 4: controller.groupKindConcurrency"}},
		"no duration":              {header + "leaderElection:\n  leaseDuration: soon\n", []string{`line 4: leaderElection.leaseDuration is "soon", must be a duration such as 15s`}},
		"duration without a unit":  {header + "leaderElection:\n  retryPeriod: 2\n", []string{`line 4: leaderElection.retryPeriod is "2", must be a duration such as 15s`}},
		"null for a duration":      {header + "leaderElection:\n  retryPeriod: null\n", []string{`line 4: leaderElection.retryPeriod is "null", must be a duration`}},
		"other kind":               {"apiVersion: config.lws.x-k8s.io/v1\nkind: Config\n", []string{`line 2: kind is "Config", must be "Configuration"`}},
		"no kind":                  {"apiVersion: config.lws.x-k8s.io/v1\n", []string{`kind is "", must be "Configuration"`}},
		"other version":            {"apiVersion: config.lws.x-k8s.io/v2\nkind: Configuration\n", []string{`line 1: apiVersion is "config.lws.x-k8s.io/v2", must be "config.lws.x-k8s.io/v1" or "config.lws.x-k8s.io/v1alpha1"`}},
		"no version":               {"kind: Configuration\n", []string{`apiVersion is ""`}},
		"kind is no text":          {"apiVersion: config.lws.x-k8s.io/v1\nkind: [Configuration]\n", []string{"line 2: kind"}},
		"empty":                    {"", []string{"must be a mapping"}},
		"comments only":            {"# nothing\n", []string{"must be a mapping"}},
		"a list":                   {"- a\n", []string{"must be a mapping"}},
		"text":                     {"configuration\n", []string{"must be a mapping"}},
		"no YAML":                  {header + "metrics: [\n", []string{"yaml: line 3"}},
		"tabs":                     {header + "metrics:\n\tsecure: true\n", []string{"yaml: line"}},
		"second document":          {header + "---\nkind: Configuration\n", []string{"a second document"}},
		"second document is empty": {header + "---\n", []string{"a second document"}},
		"unknown alias":            {header + "metrics: *x\n", []string{"unknown anchor"}},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := Decode([]byte(c.content))
			if err == nil {
				t.Fatalf("accepted as %+v", config)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error is %q, want it to contain %q", err, want)
				}
			}
		})
	}
}

func TestDecodeAccepts(t *testing.T) {
	for name, content := range map[string]string{
		"nulls":           header + "metrics: null\ntls:\nfeatureGates: null\n",
		"JSON":            `{"apiVersion": "config.lws.x-k8s.io/v1", "kind": "Configuration", "webhook": {"port": 1}}`,
		"anchors":         header + "metrics: &address {bindAddress: ':1'}\nhealth: {healthProbeBindAddress: ':2'}\n",
		"document start":  "---\n" + header,
		"end of document": header + "...\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Decode([]byte(content)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.yaml")
	for name, file := range map[string]string{
		"missing":   missing,
		"misspelt":  write(t, header+"metrcs: {}\n"),
		"not valid": write(t, header+"webhook: {port: 70000}\n"),
	} {
		if _, err := Load(file, LWSManagerNames()); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: error is %v, want it to name %s", name, err, file)
		}
	}
}

// Whatever the bytes, the answer is a configuration or an error.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		everything, header, "", "{", "a: &a [*a]", header + "tls: {cipherSuites: [1, {}]}", header + "? {a: b}\n: c\n",
		header + "1: 2\n", header + "null: 3\n", header + "webhook: &w\n  <<: *w\n", header + "leaderElection: [1]\n",
		header + "leaderElection: {leaseDuration: {a: b}}\n", header + "metrics: !!binary aGk=\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { decodesOrFails(t, data) })
}

// Files that are nearly right, with any piece replaced.
func TestDecodeOfMutatedFiles(t *testing.T) {
	pieces := []string{"", ":", "{", "}", "[", "]", "null", "-1", "1e999", "'", "\"", "&a ", "*a", "!!int ", "\t", "- ", "? ", "<<: ", "~", "true", "\x00", "é", "---\n"}
	rapid.Check(t, func(r *rapid.T) {
		content := everything
		for range rapid.IntRange(1, 4).Draw(r, "changes") {
			from := rapid.IntRange(0, len(content)).Draw(r, "from")
			to := rapid.IntRange(from, min(from+6, len(content))).Draw(r, "to")
			content = content[:from] + rapid.SampledFrom(pieces).Draw(r, "piece") + content[to:]
		}
		decodesOrFails(t, []byte(content))
	})
}

func decodesOrFails(t *testing.T, data []byte) {
	t.Helper()
	config, err := Decode(data)
	if err != nil {
		if strings.TrimSpace(err.Error()) == "" {
			t.Errorf("an error without words for %q", data)
		}
		return
	}
	SetDefaults(config, LWSManagerNames())
	Validate(config)
}
