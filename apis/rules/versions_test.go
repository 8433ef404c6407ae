package rules

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"
)

// An API server accepts the functions that the release before it knew too, so that
// it can be rolled back: 1.34, the oldest supported one, those of 1.33.
var oldestExpressions = version.MajorMinor(1, 33)

// What a rule may cost by the estimate of an API server, times how often it can be
// evaluated in an object. The estimator may grow stricter: twice would still fit.
const (
	maxRuleCost       = 10_000_000
	maxDefinitionCost = 100_000_000
)

func TestRulesCompileForTheOldestSupportedVersion(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(definitions, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	environments := environment.MustBaseEnvSet(oldestExpressions)
	rules := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(data, &definition); err != nil {
			t.Fatal(err)
		}
		var internal apiextensions.JSONSchemaProps
		root := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(root, &internal, nil); err != nil {
			t.Fatal(err)
		}
		structural, err := schema.NewStructural(&internal)
		if err != nil {
			t.Fatal(err)
		}
		var total uint64
		walk(structural, "", 1, func(path string, node *schema.Structural, cardinality uint64) {
			if path == "" {
				node = model.WithTypeAndObjectMeta(node)
			}
			results, err := cel.Compile(node, model.SchemaDeclType(node, path == ""), celconfig.PerCallLimit, environments, cel.NewExpressionsEnvLoader())
			if err != nil {
				t.Errorf("%s%s: %v", definition.Spec.Names.Kind, path, err)
			}
			for i, result := range results {
				rules++
				if result.Error != nil {
					t.Errorf("%s%s rule %d: %v", definition.Spec.Names.Kind, path, i, result.Error)
				}
				cost := result.MaxCost * cardinality
				if total += cost; cost > maxRuleCost/2 || total > maxDefinitionCost/2 {
					t.Errorf("%s%s rule %d costs %d of %d, all rules so far %d of %d; keep half in reserve",
						definition.Spec.Names.Kind, path, i, cost, maxRuleCost, total, maxDefinitionCost)
				}
			}
		})
	}
	if rules < 50 {
		t.Errorf("found %d rules only", rules)
	}
}

// walk visits every node with rules, with the number of times that it can occur.
func walk(node *schema.Structural, path string, cardinality uint64, visit func(string, *schema.Structural, uint64)) {
	if len(node.XValidations) > 0 {
		visit(path, node, cardinality)
	}
	for _, name := range slices.Sorted(maps.Keys(node.Properties)) {
		property := node.Properties[name]
		walk(&property, path+"."+name, cardinality, visit)
	}
	if node.Items != nil {
		if limit := node.ValueValidation; limit != nil && limit.MaxItems != nil {
			cardinality *= uint64(*limit.MaxItems)
		}
		walk(node.Items, path+"[]", cardinality, visit)
	}
}
