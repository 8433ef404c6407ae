// Command crdgen finishes the generated CustomResourceDefinitions where markers
// cannot, below fields whose types are not ours (pod templates and claims). It
// drops their descriptions, which are nine tenths of the bytes and documented by
// Kubernetes, so that definitions are small enough to be applied, stored and
// shipped; and it bounds the quantities in claims, so that rules can compare them
// within the cost that the API server permits. It also drops the defaults that a
// LeaderWorkerSet has and a role does not. It rewrites the files in place; a second
// run changes nothing.
//
//	crdgen DIRECTORY
package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"
)

const (
	claimsField = "volumeClaimTemplates"
	rolesField  = "roles"

	// maxQuantityLength is several times what any quantity needs.
	maxQuantityLength = "64"
)

// foreignFields are the fields below which descriptions are dropped.
var foreignFields = []string{"leaderTemplate", "workerTemplate", claimsField}

// undefaultedInRoles are the fields whose defaults in a role are not those of a
// LeaderWorkerSet. Absent, they stay so, and the manager knows what that means.
var undefaultedInRoles = []string{"maxSurge", "maxUnavailable"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: crdgen DIRECTORY")
		os.Exit(2)
	}
	if err := rewriteAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "crdgen:", err)
		os.Exit(1)
	}
}

func rewriteAll(directory string) error {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	files, err := fs.Glob(root.FS(), "*.yaml")
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := rewrite(root, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func rewrite(root *os.Root, file string) error {
	data, err := root.ReadFile(file)
	if err != nil {
		return err
	}
	slim, err := slimCRD(data)
	if err != nil {
		return err
	}
	return root.WriteFile(file, slim, 0) // the file exists and keeps its mode
}

// slimCRD drops descriptions from the schemas of a CustomResourceDefinition.
func slimCRD(data []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	if document.Kind != yaml.DocumentNode {
		return nil, fmt.Errorf("no document")
	}
	versions := child(child(document.Content[0], "spec"), "versions")
	if versions == nil {
		return nil, fmt.Errorf("no spec.versions")
	}
	for _, version := range versions.Content {
		slimSchema(child(child(version, "schema"), "openAPIV3Schema"), true)
	}
	var out bytes.Buffer
	out.WriteString("---\n")
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(&document); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// slimSchema walks a schema. Descriptions stay as long as keep holds, which ends
// below a foreign field.
func slimSchema(schema *yaml.Node, keep bool) {
	if schema == nil || schema.Kind != yaml.MappingNode {
		return
	}
	if !keep {
		removeDescription(schema)
	}
	for i := 0; i < len(schema.Content); i += 2 {
		value := schema.Content[i+1]
		switch schema.Content[i].Value {
		case "properties":
			for j := 0; j < len(value.Content); j += 2 {
				slimProperty(value.Content[j].Value, value.Content[j+1], keep)
			}
		case "items", "additionalProperties", "not":
			slimSchema(value, keep)
		case "allOf", "anyOf", "oneOf":
			for _, part := range value.Content {
				slimSchema(part, keep)
			}
		}
	}
}

// slimProperty keeps the description of a foreign field itself: it is ours.
func slimProperty(name string, schema *yaml.Node, keep bool) {
	if keep && name == rolesField {
		dropDefaults(schema)
	}
	if keep && slices.Contains(foreignFields, name) {
		description := child(schema, "description")
		slimSchema(schema, false)
		if name == claimsField {
			boundQuantities(schema)
		}
		if description != nil {
			schema.Content = append([]*yaml.Node{{Kind: yaml.ScalarNode, Value: "description"}, description}, schema.Content...)
		}
		return
	}
	slimSchema(schema, keep)
}

// removeDescription leaves a property that is called description alone: its value
// is a schema and not text.
func removeDescription(schema *yaml.Node) { removeScalar(schema, "description") }

func removeScalar(schema *yaml.Node, key string) {
	for i := 0; i < len(schema.Content); i += 2 {
		if schema.Content[i].Value == key && schema.Content[i+1].Kind == yaml.ScalarNode {
			schema.Content = slices.Delete(schema.Content, i, i+2)
			return
		}
	}
}

// dropDefaults drops those of undefaultedInRoles below a schema.
func dropDefaults(schema *yaml.Node) {
	for _, field := range undefaultedInRoles {
		if property := child(child(schema, "properties"), field); property != nil {
			removeScalar(property, "default")
		}
	}
	for _, part := range schema.Content {
		dropDefaults(part)
	}
}

// boundQuantities gives every quantity below a schema a maximal length.
func boundQuantities(schema *yaml.Node) {
	if child(schema, "x-kubernetes-int-or-string") != nil && child(schema, "maxLength") == nil {
		schema.Content = append(schema.Content,
			&yaml.Node{Kind: yaml.ScalarNode, Value: "maxLength"},
			&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: maxQuantityLength})
	}
	for _, part := range schema.Content {
		boundQuantities(part)
	}
}

func child(node *yaml.Node, key string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}
