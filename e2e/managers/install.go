package managers

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"sigs.k8s.io/lws/e2e/cluster/controlplane"
)

// listenHost is where the webhooks listen. It is a name, so that the certificate
// that the manager makes can carry it.
const listenHost = "localhost"

// stateDir is where managers keep their files, below the cluster's own directory:
// who removes the cluster removes them too.
const stateDir = "managers"

// Installed is a manager whose manifests are applied.
type Installed struct {
	Shipped

	cluster     *controlplane.Cluster
	dir         string
	program     string
	webhookPort int
}

// Prepare builds a manager whose manifests somebody else applies.
func Prepare(ctx context.Context, cluster *controlplane.Cluster, shipped Shipped) (*Installed, error) {
	checkout, err := Checkout()
	if err != nil {
		return nil, err
	}
	program, err := shipped.Build(ctx, checkout)
	if err != nil {
		return nil, err
	}
	port, err := controlplane.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	installed := &Installed{
		Shipped:     shipped,
		cluster:     cluster,
		dir:         filepath.Join(cluster.Dir(), stateDir, shipped.Name),
		program:     program,
		webhookPort: port,
	}
	return installed, os.MkdirAll(installed.dir, 0o750)
}

// WebhookPort is the port of this machine that its webhooks are called at.
func (m *Installed) WebhookPort() int { return m.webhookPort }

// Install builds a manager and applies its manifests to the cluster.
func Install(ctx context.Context, cluster *controlplane.Cluster, shipped Shipped) (*Installed, error) {
	installed, err := Prepare(ctx, cluster, shipped)
	if err != nil {
		return nil, err
	}
	checkout, err := Checkout()
	if err != nil {
		return nil, err
	}
	rendered, err := Kubectl(ctx, cluster, nil, "kustomize", filepath.Join(checkout, shipped.Manifests))
	if err != nil {
		return nil, err
	}
	manifests, err := localManifests(rendered, installed.webhookPort)
	if err != nil {
		return nil, err
	}
	if _, err := Kubectl(ctx, cluster, manifests, "apply", "--server-side", "--force-conflicts", "-f", "-"); err != nil {
		return nil, err
	}
	return installed, nil
}

// Kubectl runs the cluster's kubectl as its administrator.
func Kubectl(ctx context.Context, cluster *controlplane.Cluster, stdin []byte, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, filepath.Join(cluster.BinDir(), "kubectl"), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+cluster.Kubeconfig())
	command.Stdin = bytes.NewReader(stdin)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("kubectl %s: %w\n%s", args[0], err, bytes.TrimSpace(errs.Bytes()))
	}
	return out.Bytes(), nil
}
