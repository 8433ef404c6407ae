package managers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Shipped is a manager of this repository.
type Shipped struct {
	// Name is that of the program, in cmd/.
	Name string
	// Manifests is the directory of its kustomization.
	Manifests string
	// Namespace and ServiceAccount are what it runs as.
	Namespace      string
	ServiceAccount string
}

// LWS is lws-manager.
func LWS() Shipped {
	return Shipped{
		Name:           "lws-manager",
		Manifests:      "config/lws",
		Namespace:      "lws-system",
		ServiceAccount: "lws-controller-manager",
	}
}

// DisaggregatedSet is disaggregatedset-manager.
func DisaggregatedSet() Shipped {
	return Shipped{
		Name:           "disaggregatedset-manager",
		Manifests:      "config/disaggregatedset",
		Namespace:      "disaggregatedset-system",
		ServiceAccount: "disaggregatedset-controller-manager",
	}
}

// All are the managers of the repository.
func All() []Shipped {
	return []Shipped{LWS(), DisaggregatedSet()}
}

// Checkout finds the root of the repository that the working directory is in.
func Checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "PROJECT")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("not in a checkout: no PROJECT file here or above")
		}
		dir = parent
	}
}

// Build makes the program of a shipped manager and returns its path.
func (s Shipped) Build(ctx context.Context, checkout string) (string, error) {
	program := filepath.Join(checkout, "bin", s.Name)
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/"+s.Name)
	build.Dir = checkout
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", s.Name, err, out)
	}
	return program, nil
}
