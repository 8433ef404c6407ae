package packaging

import (
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
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).
		Run(filesys.MakeFsOnDisk(), filepath.Join(checkout, "config", overlay))
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

// TestChartsAreTheKustomizations compares object by object.
func TestChartsAreTheKustomizations(t *testing.T) {
	const (
		certManager = `certManager.enabled=true`
		policy      = `networkPolicy.enabled=true`
		prometheus  = `metrics={"serviceMonitor":{"enabled":true},"prometheusRule":{"enabled":true},"dashboard":{"enabled":true}}`
	)
	tests := map[string]struct {
		// overlays add to each other; of an object in several the first counts.
		overlays []string
		values   []string
	}{
		"as it comes":          {overlays: []string{""}},
		"with cert-manager":    {overlays: []string{"certmanager"}, values: []string{certManager}},
		"with a NetworkPolicy": {overlays: []string{"networkpolicy"}, values: []string{policy}},
		"with Prometheus":      {overlays: []string{"prometheus"}, values: []string{prometheus}},
		"with all of that":     {overlays: []string{"certmanager", "networkpolicy", "prometheus"}, values: []string{certManager, policy, prometheus}},
	}
	for name, test := range tests {
		for _, chart := range charts {
			t.Run(chart+" "+name, func(t *testing.T) {
				want := map[string]any{}
				for _, overlay := range test.overlays {
					for key, object := range kustomize(t, filepath.Join(overlay, chart)).without(t) {
						if want[key] == nil {
							want[key] = object
						}
					}
				}
				if strings.Contains(name, "all") {
					delete(want, "Secret "+chart+"-webhook-server-cert")
				}
				got := template(t, chart, chart+"-system", test.values...).without(t)
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("(-kustomization +chart)\n%s", diff)
				}
			})
		}
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
