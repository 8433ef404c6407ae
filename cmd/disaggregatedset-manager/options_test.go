package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const configurationHeader = "apiVersion: config.lws.x-k8s.io/v1\nkind: Configuration\n"

func TestConfiguration(t *testing.T) {
	tests := map[string]struct {
		file string
		args []string
		want func(*configv1.Configuration)
	}{
		"neither file nor flags: the defaults": {
			want: func(*configv1.Configuration) {},
		},
		"the file": {
			file: "metrics: {bindAddress: ':1'}\nhealth: {healthProbeBindAddress: ':2'}\nleaderElection: {leaderElect: false}\n",
			want: func(c *configv1.Configuration) {
				c.Metrics.BindAddress, c.Health.HealthProbeBindAddress = ":1", ":2"
				c.LeaderElection.LeaderElect = new(false)
			},
		},
		"flags that are given override the file": {
			file: "metrics: {bindAddress: ':1'}\nhealth: {healthProbeBindAddress: ':2'}\nleaderElection: {leaderElect: false}\n",
			args: []string{"--metrics-bind-address=0", "--leader-elect"},
			want: func(c *configv1.Configuration) {
				c.Metrics.BindAddress, c.Health.HealthProbeBindAddress = "0", ":2"
			},
		},
		"a flag with the default's value overrides too": {
			file: "metrics: {bindAddress: ':1'}\n",
			args: []string{"--metrics-bind-address=:8443", "--health-probe-bind-address", "127.0.0.1:3"},
			want: func(c *configv1.Configuration) { c.Health.HealthProbeBindAddress = "127.0.0.1:3" },
		},
		"feature gates are overridden one by one": {
			file: "featureGates: {WorkloadAwareScheduling: true}\n",
			args: []string{"--feature-gates=CompositePodGroup=true"},
			want: func(c *configv1.Configuration) {
				c.FeatureGates[configv1.WorkloadAwareSchedulingGate] = true
				c.FeatureGates[configv1.CompositePodGroupGate] = true
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			args := test.args
			if test.file != "" {
				args = append(args, "--config="+writeFile(t, "configuration.yaml", configurationHeader+test.file))
			}
			options, err := parseOptions(args, &bytes.Buffer{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := options.configuration()
			if err != nil {
				t.Fatal(err)
			}
			want := configv1.Default(configv1.DisaggregatedSetManagerNames())
			test.want(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.yaml")
	tests := map[string]struct {
		args []string
		want []string
	}{
		"a flag that does not exist":      {[]string{"--metrics-bind=:1"}, []string{"--metrics-bind"}},
		"an argument":                     {[]string{"start"}, []string{`unexpected argument "start"`}},
		"a file that does not exist":      {[]string{"--config=" + missing}, []string{missing}},
		"a misspelt key":                  {[]string{"--config=" + writeFile(t, "c.yaml", configurationHeader+"webhook:\n  prot: 1\n")}, []string{"webhook.prot", "line 4"}},
		"a flag's value that cannot work": {[]string{"--health-probe-bind-address=nowhere"}, []string{"health.healthProbeBindAddress", "nowhere"}},
		"an unknown feature gate":         {[]string{"--feature-gates=Wings=true"}, []string{"featureGates[Wings]", "WorkloadAwareScheduling"}},
		"a kubeconfig that is not there":  {[]string{"--kubeconfig=" + missing}, []string{"find the API server", missing}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(context.Background(), test.args, &bytes.Buffer{}, &bytes.Buffer{})
			if err == nil {
				t.Fatal("it ran")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not name %q", err, want)
				}
			}
		})
	}
}

func kubeconfig(t *testing.T) string {
	t.Helper()
	return writeFile(t, "kubeconfig", `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: c, context: {cluster: c, user: u, namespace: of-the-context}}]
current-context: c
`)
}

func TestRunAnswers(t *testing.T) {
	tests := map[string]struct {
		args    []string
		out     string
		err     string
		version string
	}{
		"version": {args: []string{"--version"}, version: "v1.2.3", out: "disaggregatedset-manager v1.2.3\n"},
		"help":    {args: []string{"--help"}, err: "--health-probe-bind-address"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			version = test.version
			t.Cleanup(func() { version = "" })
			var out, errs bytes.Buffer
			if err := run(context.Background(), test.args, &out, &errs); err != nil {
				t.Fatal(err)
			}
			if out.String() != test.out {
				t.Errorf("output %q, want %q", out.String(), test.out)
			}
			if !strings.Contains(errs.String(), test.err) {
				t.Errorf("error output %q does not have %q", errs.String(), test.err)
			}
		})
	}
}

func TestConnect(t *testing.T) {
	c := configv1.Default(configv1.DisaggregatedSetManagerNames())
	c.ClientConnection.QPS, c.ClientConnection.Burst = new(float32(7)), new(int32(9))
	got, err := connect(kubeconfig(t), c)
	if err != nil {
		t.Fatal(err)
	}
	if got.namespace != "of-the-context" {
		t.Errorf("namespace %q, want that of the context", got.namespace)
	}
	if got.rest.QPS != 7 || got.rest.Burst != 9 {
		t.Errorf("%v requests a second, %v at once, want those of the configuration", got.rest.QPS, got.rest.Burst)
	}
	if !strings.HasPrefix(got.rest.UserAgent, "disaggregatedset-manager/") {
		t.Errorf("user agent %q does not say who asks", got.rest.UserAgent)
	}

	c.LeaderElection.ResourceNamespace = "configured"
	if got, err = connect(kubeconfig(t), c); err != nil || got.namespace != "configured" {
		t.Errorf("namespace %q, error %v, want that of the configuration", got.namespace, err)
	}
}
