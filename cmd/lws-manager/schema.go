package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	v1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// The CustomResourceDefinition of this manager.
const (
	definitionName    = "leaderworkersets.leaderworkerset.x-k8s.io"
	definitionVersion = "v1"
	ourTypes          = "sigs.k8s.io/lws/apis/"
)

// definition is what is read of a CustomResourceDefinition. Schemas are decoded one
// level at a time, only where a field is looked for: a definition is large.
type definition struct {
	Spec struct {
		Versions []struct {
			Name   string `json:"name"`
			Served bool   `json:"served"`
			Schema struct {
				OpenAPIV3Schema json.RawMessage `json:"openAPIV3Schema"`
			} `json:"schema"`
		} `json:"versions"`
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type    string `json:"type"`
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"conditions"`
	} `json:"status"`
}

type propertySchema struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Items      json.RawMessage            `json:"items"`
}

// checkDefinition says what keeps the manager from working with a
// CustomResourceDefinition, nil if nothing does.
func checkDefinition(data []byte) error {
	var d definition
	if err := json.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("CustomResourceDefinition %s: %w", definitionName, err)
	}
	for _, condition := range d.Status.Conditions {
		if condition.Type == "Established" && condition.Status != "True" {
			return fmt.Errorf("CustomResourceDefinition %s is not established: %s", definitionName, condition.Message)
		}
	}
	for _, version := range d.Spec.Versions {
		if version.Name != definitionVersion || !version.Served {
			continue
		}
		missing, err := missingFields(version.Schema.OpenAPIV3Schema, reflect.TypeFor[v1.LeaderWorkerSet](), "")
		if err != nil {
			return fmt.Errorf("CustomResourceDefinition %s: %w", definitionName, err)
		}
		if len(missing) > 0 {
			return fmt.Errorf("CustomResourceDefinition %s is older than this manager: it has no %s; apply the CustomResourceDefinitions of release %s",
				definitionName, strings.Join(missing, ", "), buildVersion())
		}
		return nil
	}
	return fmt.Errorf("CustomResourceDefinition %s does not serve version %s", definitionName, definitionVersion)
}

// missingFields are the fields of a type of ours that a schema does not have. What
// is below types of Kubernetes is not looked at.
func missingFields(data json.RawMessage, t reflect.Type, path string) ([]string, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var schema propertySchema
	if err := json.Unmarshal(data, &schema); err != nil {
		return nil, fmt.Errorf("schema of %q: %w", path, err)
	}
	if t.Kind() == reflect.Slice {
		if !isOurs(t.Elem()) {
			return nil, nil
		}
		return missingFields(schema.Items, t.Elem(), path)
	}
	if !isOurs(t) {
		return nil, nil
	}
	var missing []string
	for i := range t.NumField() {
		more, err := missingField(schema, t.Field(i), path)
		if err != nil {
			return nil, err
		}
		missing = append(missing, more...)
	}
	slices.Sort(missing)
	return missing, nil
}

func missingField(schema propertySchema, field reflect.StructField, path string) ([]string, error) {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case name == "-":
		return nil, nil
	case strings.Contains(options, "inline"):
		return nil, nil
	}
	path = strings.TrimPrefix(path+"."+name, ".")
	below, found := schema.Properties[name]
	if !found {
		return []string{path}, nil
	}
	return missingFields(below, field.Type, path)
}

// isOurs tells the structs of this project from those of Kubernetes.
func isOurs(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && strings.HasPrefix(t.PkgPath(), ourTypes)
}
