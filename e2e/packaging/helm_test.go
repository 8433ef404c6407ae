package packaging

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"sigs.k8s.io/lws/e2e/managers"
)

// charts are the names of the charts, which are also those of the managers' objects.
var charts = []string{"lws", "disaggregatedset"}

// buildIsSlow is when a build has something to say.
const buildIsSlow = 10 * time.Second

// buildHelm builds Helm once, from the module that pins it.
var buildHelm = sync.OnceValues(func() (string, error) {
	return buildPinned("helm", "helm.sh/helm/v3/cmd/helm")
})

// buildPinned builds a package with the libraries that the module of a name pins. The
// first time on a machine takes minutes, of which it says so.
func buildPinned(module, path string) (string, error) {
	checkout, err := managers.Checkout()
	if err != nil {
		return "", err
	}
	program := filepath.Join(checkout, "bin", module)
	build := exec.Command("go", "build", "-o", program, path)
	build.Dir = filepath.Join(checkout, "e2e", module)
	news := time.AfterFunc(buildIsSlow, func() {
		fmt.Fprintf(os.Stderr, "building %s, which takes minutes once\n", module)
	})
	defer news.Stop()
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", module, err, out)
	}
	return program, nil
}

// helm runs Helm with nothing of the user's own configuration.
func helm(ctx context.Context, home, kubeconfig string, args ...string) (string, error) {
	program, err := buildHelm()
	if err != nil {
		return "", err
	}
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "HELM_NAMESPACE=",
		"HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		return out.String(), fmt.Errorf("helm %s: %w\n%s", args[0], err, bytes.TrimSpace(errs.Bytes()))
	}
	return out.String(), nil
}

func chartDir(chart string) (string, error) {
	checkout, err := managers.Checkout()
	return filepath.Join(checkout, "charts", chart), err
}
