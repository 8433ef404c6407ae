package managers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func TestProcessesGetTheVariablesOfTheShippedDeployments(t *testing.T) {
	checkout, err := Checkout()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"config/manager/deployment.yaml", "config/disaggregatedset/deployment.yaml"} {
		data, err := os.ReadFile(filepath.Join(checkout, file))
		if err != nil {
			t.Fatal(err)
		}
		var deployment appsv1.Deployment
		if err := yaml.Unmarshal(data, &deployment); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		got := variables(&deployment.Spec.Template.Spec.Containers[0])
		if diff := cmp.Diff(shippedEnv(), got); diff != "" {
			t.Errorf("%s: variables (-want +got):\n%s", file, diff)
		}
	}
}

// variables of a container as a kubelet sets them: what is requested is rounded up to
// whole processors. A limit that there is not is left out.
func variables(container *corev1.Container) []string {
	var set []string
	for _, env := range container.Env {
		value := env.Value
		if env.ValueFrom != nil {
			amount, ok := container.Resources.Requests[corev1.ResourceCPU], true
			if env.ValueFrom.ResourceFieldRef.Resource != "requests.cpu" {
				amount, ok = container.Resources.Limits[corev1.ResourceMemory]
			}
			if !ok {
				continue
			}
			amount.RoundUp(0)
			value = amount.String()
		}
		set = append(set, env.Name+"="+value)
	}
	return set
}

func TestLocalManifests(t *testing.T) {
	rendered := `apiVersion: v1
kind: ServiceAccount
metadata:
  name: manager
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: manager
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: validating
webhooks:
- clientConfig:
    service:
      name: webhooks
      namespace: home
      path: /validate
  name: a.example.com
  sideEffects: None
`
	want := `---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: manager
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: validating
webhooks:
- clientConfig:
    url: https://localhost:4711/validate
  name: a.example.com
  sideEffects: None
`
	got, err := localManifests([]byte(rendered), 4711)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestServeHere(t *testing.T) {
	rendered := `apiVersion: v1
kind: Service
metadata:
  name: metrics
spec:
  ports:
  - port: 8443
    targetPort: metrics
---
apiVersion: v1
kind: Service
metadata:
  name: webhooks
spec:
  ports:
  - port: 443
    targetPort: webhook
  selector:
    a: b
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: validating
webhooks:
- clientConfig:
    service:
      name: webhooks
      namespace: home
      path: /validate
  name: a.example.com
`
	want := `---
apiVersion: v1
kind: Service
metadata:
  name: metrics
spec:
  ports:
  - port: 8443
    targetPort: metrics
---
apiVersion: v1
kind: Service
metadata:
  name: webhooks
spec:
  externalName: localhost
  type: ExternalName
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: validating
webhooks:
- clientConfig:
    service:
      name: webhooks
      namespace: home
      path: /validate
      port: 4711
  name: a.example.com
`
	got, err := ServeHere([]byte(rendered), 4711)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCheckout(t *testing.T) {
	dir, err := Checkout()
	if err != nil {
		t.Fatal(err)
	}
	for _, shipped := range All() {
		if _, err := os.Stat(filepath.Join(dir, shipped.Manifests, "kustomization.yaml")); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "cmd", shipped.Name)); err != nil {
			t.Error(err)
		}
	}
	t.Chdir(t.TempDir())
	if dir, err = Checkout(); err == nil {
		t.Errorf("found a checkout in %s, where there is none", dir)
	}
}

// sleeper is a stand-in for a manager: its command line names its directory.
func sleeper(t *testing.T, clusterDir string) *Process {
	t.Helper()
	p := &Process{name: "sleeper", dir: filepath.Join(clusterDir, stateDir, "sleeper", "0"), exited: make(chan struct{})}
	if err := os.MkdirAll(p.dir, 0o750); err != nil {
		t.Fatal(err)
	}
	script := `trap 'echo bye; exit 7' TERM; echo "$1"; while :; do sleep 0.05; done`
	if err := p.launch(t.Context(), "/bin/sh", []string{"-c", script, "sleeper", filepath.Join(p.dir, "file")}, []string{"GREETING=hello"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	await(t, "the process recorded itself and runs", func() bool {
		data, err := os.ReadFile(filepath.Join(p.dir, pidFile))
		return err == nil && strings.TrimSpace(string(data)) == strconv.Itoa(p.PID) && strings.Contains(p.lastLog(), "/file")
	})
	return p
}

func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within 20s: %s", what)
		}
		<-time.After(pollInterval)
	}
}

func TestStop(t *testing.T) {
	p := sleeper(t, t.TempDir())
	err := p.Stop()
	if err == nil || err.Error() != "exit status 7" {
		t.Errorf("it ended with %v, want its own exit status", err)
	}
	if !strings.HasSuffix(p.lastLog(), "bye") {
		t.Errorf("it was not asked to end in order; its log: %s", p.lastLog())
	}
	if err := p.Stop(); err == nil || err.Error() != "exit status 7" {
		t.Errorf("stopped again it says %v", err)
	}
}

func TestStopAllEndsWhatOthersStarted(t *testing.T) {
	dir := t.TempDir()
	p := sleeper(t, dir)
	if err := StopAll(dir); err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	if err := StopAll(dir); err != nil {
		t.Errorf("nothing to stop is an error: %v", err)
	}
}

func TestStopAllLeavesOthersAlone(t *testing.T) {
	dir := t.TempDir()
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	})
	replica := filepath.Join(dir, stateDir, "lws-manager", "0")
	if err := os.MkdirAll(replica, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(replica, pidFile), []byte(strconv.Itoa(other.Process.Pid)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := StopAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("a process that only has the number of an old manager was ended: %v", err)
	}
}
