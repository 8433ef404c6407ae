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
	return build(ctx, checkout, s.Name)
}

// BuildPlugin makes the plugin of kubectl, which kubectl finds when ProgramDir is on the
// PATH.
func BuildPlugin(ctx context.Context, checkout string) error {
	_, err := build(ctx, checkout, "kubectl-lws")
	return err
}

// ProgramDir is where programs are built into.
func ProgramDir(checkout string) string { return filepath.Join(checkout, "bin") }

// tags are those that images are built with. Makefile and Dockerfile name the same.
const tags = "grpcnotrace"

// build makes a program of cmd/.
func build(ctx context.Context, checkout, name string) (string, error) {
	program := filepath.Join(ProgramDir(checkout), name)
	command := exec.CommandContext(ctx, "go", "build", "-tags", tags, "-o", program, "./cmd/"+name)
	command.Dir = checkout
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return program, nil
}
