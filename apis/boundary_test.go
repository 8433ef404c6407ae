package apis

import (
	"os/exec"
	"strings"
	"testing"
)

// The API packages are for every program: none of them may bring in a controller
// framework, or the programs that are built on them.
func TestImportsStayWithinTheBoundary(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.ImportPath}}", "./...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, output)
	}
	dependencies := strings.Fields(string(output))
	if len(dependencies) < 100 {
		t.Fatalf("go list names %d packages only: %v", len(dependencies), dependencies)
	}
	for _, dependency := range dependencies {
		for _, forbidden := range []string{
			"sigs.k8s.io/controller-runtime",
			"sigs.k8s.io/lws/controllers",
			"sigs.k8s.io/lws/cmd",
			"k8s.io/kubernetes",
			"k8s.io/apiserver",
		} {
			if dependency == forbidden || strings.HasPrefix(dependency, forbidden+"/") {
				t.Errorf("the API packages depend on %s", dependency)
			}
		}
	}
}

// The types themselves need no client either: only the generated packages do.
func TestTypesNeedNoClient(t *testing.T) {
	for _, packages := range []string{"./leaderworkerset/v1", "./disaggregatedset/v1", "./config/..."} {
		output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.ImportPath}}", packages).CombinedOutput()
		if err != nil {
			t.Fatalf("go list: %v\n%s", err, output)
		}
		for _, dependency := range strings.Fields(string(output)) {
			if strings.HasPrefix(dependency, "k8s.io/client-go") {
				t.Errorf("%s depends on %s", packages, dependency)
			}
		}
	}
}
