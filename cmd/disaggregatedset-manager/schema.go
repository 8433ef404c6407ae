package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
)

// definition is a CustomResourceDefinition that the manager needs.
type definition struct {
	name string
	// fields is the type whose fields it has to have; nil if being served will do,
	// since whoever serves it decides about its fields.
	fields reflect.Type
}

// ownDefinitions are those of this manager's own kinds.
func ownDefinitions() []definition {
	return []definition{
		{"disaggregatedsets." + dsv1.GroupName, reflect.TypeFor[dsv1.DisaggregatedSet]()},
		{"disaggregatedsetrolescalers." + dsv1.GroupName, reflect.TypeFor[dsv1.DisaggregatedSetRoleScaler]()},
	}
}

// leaderWorkerSetDefinition is that of lws-manager, of whatever release.
func leaderWorkerSetDefinition() definition {
	return definition{name: "leaderworkersets.leaderworkerset.x-k8s.io"}
}

const (
	definitionVersion = "v1"
	ourTypes          = "sigs.k8s.io/lws/apis/"
)

// servedDefinition is what is read of a definition. Schemas are decoded one level
// at a time, only where a field is looked for: a definition is large.
type servedDefinition struct {
	Spec struct {
		Versions []servedVersion `json:"versions"`
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type    string `json:"type"`
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"conditions"`
	} `json:"status"`
}

type servedVersion struct {
	Name   string `json:"name"`
	Served bool   `json:"served"`
	Schema struct {
		OpenAPIV3Schema json.RawMessage `json:"openAPIV3Schema"`
	} `json:"schema"`
}

type propertySchema struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Items      json.RawMessage            `json:"items"`
}

// check says what keeps the manager from working with a definition, nil if nothing
// does.
func (d definition) check(data []byte) error {
	var served servedDefinition
	if err := json.Unmarshal(data, &served); err != nil {
		return fmt.Errorf("CustomResourceDefinition %s: %w", d.name, err)
	}
	for _, condition := range served.Status.Conditions {
		if condition.Type == "Established" && condition.Status != "True" {
			return fmt.Errorf("CustomResourceDefinition %s is not established: %s", d.name, condition.Message)
		}
	}
	at := slices.IndexFunc(served.Spec.Versions, func(v servedVersion) bool {
		return v.Name == definitionVersion && v.Served
	})
	if at < 0 {
		return fmt.Errorf("CustomResourceDefinition %s does not serve version %s", d.name, definitionVersion)
	}
	if d.fields == nil {
		return nil
	}
	missing, err := missingFields(served.Spec.Versions[at].Schema.OpenAPIV3Schema, d.fields, "")
	if err != nil {
		return fmt.Errorf("CustomResourceDefinition %s: %w", d.name, err)
	}
	if len(missing) > 0 {
		return fmt.Errorf("CustomResourceDefinition %s is older than this manager: it has no %s; apply the CustomResourceDefinitions of release %s",
			d.name, strings.Join(missing, ", "), buildVersion())
	}
	return nil
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
		more, err := missingField(data, schema, t.Field(i), path)
		if err != nil {
			return nil, err
		}
		missing = append(missing, more...)
	}
	slices.Sort(missing)
	return missing, nil
}

func missingField(data json.RawMessage, schema propertySchema, field reflect.StructField, path string) ([]string, error) {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case name == "-":
		return nil, nil
	case strings.Contains(options, "inline"):
		return missingFields(data, field.Type, path)
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
