package packaging

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/lws/e2e/managers"
)

// rendered are objects by kind and name.
type rendered map[string]*unstructured.Unstructured

func parse(t *testing.T, text string) rendered {
	t.Helper()
	objects := rendered{}
	for _, document := range strings.Split("\n"+text, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document+"\n"), &object.Object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if len(object.Object) == 0 {
			continue
		}
		key := object.GetKind() + " " + object.GetName()
		if objects[key] != nil {
			t.Errorf("there are two of %s", key)
		}
		objects[key] = object
	}
	return objects
}

// template renders a chart as for its own namespace.
func template(t *testing.T, chart, namespace string, values ...string) rendered {
	t.Helper()
	dir, err := chartDir(chart)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"template", "release", dir, "--namespace", namespace, "--kube-version", "1.37.0"}
	for _, value := range values {
		args = append(args, "--set-json", value)
	}
	out, err := helm(t.Context(), t.TempDir(), "", args...)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, out)
}

func kustomize(t *testing.T, overlay string) rendered {
	t.Helper()
	checkout, err := managers.Checkout()
	if err != nil {
		t.Fatal(err)
	}
	return build(t, filepath.Join(checkout, "config", overlay))
}

func build(t *testing.T, dir string) rendered {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := resources.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(text))
}

// without takes away what the two ways to install differ in: Helm leaves namespaces to
// its user, keeps CustomResourceDefinitions by an annotation, and restarts pods for a
// new configuration by another. A configuration is compared by what it says.
func (r rendered) without(t *testing.T) map[string]any {
	t.Helper()
	objects := map[string]any{}
	for key, object := range r {
		switch object.GetKind() {
		case "Namespace":
			continue
		case "CustomResourceDefinition":
			unstructured.RemoveNestedField(object.Object, "metadata", "annotations", "helm.sh/resource-policy")
		case "Deployment":
			unstructured.RemoveNestedField(object.Object, "spec", "template", "metadata", "annotations", "checksum/configuration")
		case "ConfigMap":
			text, found, err := unstructured.NestedString(object.Object, "data", "configuration.yaml")
			if err != nil {
				t.Fatal(err)
			}
			if found {
				var configuration map[string]any
				if err := yaml.UnmarshalStrict([]byte(text), &configuration); err != nil {
					t.Fatal(err)
				}
				object.Object["data"] = configuration
			}
		}
		objects[key] = object.Object
	}
	return objects
}

// options are the directories of config/ that bring what a chart has a value for.
var options = map[string]string{
	"certmanager":   `certManager.enabled=true`,
	"networkpolicy": `networkPolicy.enabled=true`,
	"prometheus":    `metrics={"serviceMonitor":{"enabled":true},"prometheusRule":{"enabled":true},"dashboard":{"enabled":true}}`,
}

// composed renders an overlay of a user's own: a base with the components of options.
func composed(t *testing.T, base string, components ...string) rendered {
	t.Helper()
	checkout, err := managers.Checkout()
	if err != nil {
		t.Fatal(err)
	}
	// Paths of a kustomization are relative, and true ones: a temporary directory may
	// be reached by a link.
	overlay, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	relative := func(dir string) string {
		path, err := filepath.Rel(overlay, filepath.Join(checkout, "config", dir))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	kustomization := map[string]any{"resources": []string{relative(base)}}
	var dirs []string
	for _, component := range components {
		dirs = append(dirs, relative(filepath.Join(component, "component")))
	}
	if len(dirs) > 0 {
		kustomization["components"] = dirs
	}
	text, err := yaml.Marshal(kustomization)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(overlay, "kustomization.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return build(t, overlay)
}

// TestChartsAreTheKustomizations compares object by object.
func TestChartsAreTheKustomizations(t *testing.T) {
	tests := map[string][]string{
		"as it comes":          nil,
		"with cert-manager":    {"certmanager"},
		"with a NetworkPolicy": {"networkpolicy"},
		"with Prometheus":      {"prometheus"},
		"with all of that":     {"certmanager", "networkpolicy", "prometheus"},
	}
	for name, chosen := range tests {
		for _, chart := range charts {
			t.Run(chart+" "+name, func(t *testing.T) {
				var components, values []string
				for _, option := range chosen {
					components = append(components, filepath.Join(option, chart))
					values = append(values, options[option])
				}
				want := composed(t, chart, components...).without(t)
				got := template(t, chart, chart+"-system", values...).without(t)
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("(-kustomization +chart)\n%s", diff)
				}
				if len(chosen) != 1 {
					return
				}
				if diff := cmp.Diff(want, kustomize(t, components[0]).without(t)); diff != "" {
					t.Errorf("(-component +overlay)\n%s", diff)
				}
			})
		}
	}
}

// TestComponentsKeepApart: with both managers in one overlay, what belongs to one does
// not change the other.
func TestComponentsKeepApart(t *testing.T) {
	var all []string
	want := map[string]any{}
	for _, chart := range charts {
		var components []string
		for option := range options {
			components = append(components, filepath.Join(option, chart))
		}
		for key, object := range composed(t, chart, components...).without(t) {
			want[key] = object
		}
		all = append(all, components...)
	}
	if diff := cmp.Diff(want, composed(t, "default", all...).without(t)); diff != "" {
		t.Errorf("(-apart +together)\n%s", diff)
	}
}

func TestAReleaseMayBeInAnyNamespace(t *testing.T) {
	for _, chart := range charts {
		for key, object := range template(t, chart, "elsewhere", `certManager.enabled=true`, `metrics.serviceMonitor.enabled=true`) {
			text, err := yaml.Marshal(object.Object)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), chart+"-system") {
				t.Errorf("%s still names the usual namespace:\n%s", key, text)
			}
		}
	}
}

func TestLostDefinitionsAreNotLost(t *testing.T) {
	for _, chart := range charts {
		found := 0
		for key, object := range template(t, chart, chart+"-system") {
			if object.GetKind() != "CustomResourceDefinition" {
				continue
			}
			found++
			if object.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
				t.Errorf("%s goes with its release, and with it every object", key)
			}
			if !strings.HasPrefix(key, "CustomResourceDefinition "+map[string]string{"lws": "leaderworkersets.", "disaggregatedset": "disaggregatedset"}[chart]) {
				t.Errorf("chart %s has %s", chart, key)
			}
		}
		if want := map[string]int{"lws": 1, "disaggregatedset": 2}[chart]; found != want {
			t.Errorf("chart %s has %d CustomResourceDefinitions, want %d", chart, found, want)
		}
		for key := range template(t, chart, chart+"-system", `crds.install=false`) {
			if strings.HasPrefix(key, "CustomResourceDefinition ") {
				t.Errorf("chart %s has %s, which is not to be installed", chart, key)
			}
		}
	}
}
