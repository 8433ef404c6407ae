package rules

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"
)

var definitions = filepath.Join("..", "..", "config", "crd", "bases")

// A client-side apply, a Helm release and an etcd value have limits; the files stay
// well below all of them.
const maxDefinitionBytes = 900_000

func TestDefinitionsAreValidAndSmall(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(definitions, "*.yaml"))
	if err != nil || len(files) != 3 {
		t.Fatalf("found %d definitions in %s (%v), want 3", len(files), definitions, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) >= maxDefinitionBytes {
				t.Errorf("%d bytes, must be below %d", len(data), maxDefinitionBytes)
			}
			var versioned apiextensionsv1.CustomResourceDefinition
			if err := yaml.UnmarshalStrict(data, &versioned); err != nil {
				t.Fatal(err)
			}
			apiextensionsv1.SetDefaults_CustomResourceDefinition(&versioned)
			apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&versioned.Spec)
			var definition apiextensions.CustomResourceDefinition
			if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&versioned, &definition, nil); err != nil {
				t.Fatal(err)
			}
			definition.Status.StoredVersions = []string{"v1"}
			for _, err := range validation.ValidateCustomResourceDefinition(t.Context(), &definition) {
				t.Error(err)
			}
		})
	}
}
