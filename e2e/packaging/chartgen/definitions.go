package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1 "sigs.k8s.io/lws/apis/config/v1"
)

// shape is a JSON schema.
type shape map[string]any

// definitions are what the values of a chart refer to: the types of Kubernetes and of
// the manager's configuration, so that a field that is misspelt is refused wherever it is.
type definitions struct {
	// left are the fields that are no values, by type and name.
	left []string
	// narrowed is what a schema says of a field beyond its type.
	narrowed map[string]shape
	known    map[string]shape
	types    map[string]reflect.Type
}

// roots are the types that values.schema.json refers to by their names.
func roots() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[configv1.Configuration](), reflect.TypeFor[corev1.ResourceRequirements](),
		reflect.TypeFor[corev1.Toleration](), reflect.TypeFor[corev1.Affinity](),
		reflect.TypeFor[corev1.TopologySpreadConstraint](), reflect.TypeFor[networkingv1.NetworkPolicyPeer](),
	}
}

// chartsOwn are the fields of the configuration that a chart decides itself: what its
// objects are called, which its roles name, and where certificates come from.
func chartsOwn(chart string) []string {
	own := []string{
		"Configuration.featureGates", "Configuration.internalCertManagement", "Webhook.certDir",
		"LeaderElectionConfiguration.resourceLock", "LeaderElectionConfiguration.resourceName",
		"LeaderElectionConfiguration.resourceNamespace",
	}
	if chart != "lws" {
		own = append(own, "Configuration.gangSchedulingManagement")
	}
	return own
}

// concurrent are the kinds whose objects a manager works on.
var concurrent = map[string][]string{
	"lws":              {"LeaderWorkerSet.leaderworkerset.x-k8s.io", "Pod"},
	"disaggregatedset": {"DisaggregatedSet.disaggregatedset.x-k8s.io"},
}

func narrowedFor(chart string) map[string]shape {
	address := shape{"pattern": `^(0|.*:[0-9]+)$`}
	return map[string]shape{
		"Configuration.pprofBindAddress":             address,
		"Metrics.bindAddress":                        address,
		"Health.healthProbeBindAddress":              address,
		"Webhook.port":                               {"minimum": 1, "maximum": 65535},
		"TLS.minVersion":                             {"enum": []string{"VersionTLS12", "VersionTLS13"}},
		"Controller.groupKindConcurrency":            keyed(concurrent[chart], shape{"type": simpleTypes[reflect.Int], "minimum": 1}),
		"GangSchedulingManagement.schedulerProvider": {"enum": []string{configv1.KubernetesSchedulerProvider, configv1.VolcanoSchedulerProvider}},
	}
}

// keyed is an object of which the keys are known. (By propertyNames they could be as
// well, but then Helm's errors name another place.)
func keyed(names []string, value shape) shape {
	properties := shape{}
	for _, name := range names {
		properties[name] = value
	}
	return closed(properties)
}

// gates are the features that can be switched.
func gates() shape {
	known := configv1.Default(configv1.LWSManagerNames()).FeatureGates
	return keyed(slices.Collect(maps.Keys(known)), shape{"type": simpleTypes[reflect.Bool]})
}

// marked is where the generated part of a values.schema.json begins.
const marked = ",\n  \"definitions\": "

func writeDefinitions(checkout, chart string) error {
	d := &definitions{
		left:     chartsOwn(chart),
		narrowed: narrowedFor(chart),
		known:    map[string]shape{"FeatureGates": gates()},
		types:    map[string]reflect.Type{},
	}
	for _, t := range roots() {
		if _, err := d.of(t); err != nil {
			return err
		}
	}
	path := filepath.Join(checkout, "charts", chart, "values.schema.json")
	data, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return err
	}
	written, _, _ := strings.Cut(strings.TrimSuffix(string(data), "\n}\n"), marked)
	generated, err := json.MarshalIndent(d.known, "  ", "  ")
	if err != nil {
		return err
	}
	return write(path, written+marked+string(generated)+"\n}\n")
}

// object is a mapping; what is said of the keys that are not named is in others.
func object(others any) shape {
	return shape{"type": "object", "additionalProperties": others}
}

// closed has the named properties and no others.
func closed(properties shape) shape {
	s := object(false)
	s["properties"] = properties
	return s
}

// quantity may be written without quotes.
var quantity = shape{"type": []string{"string", "number"}}

// of is the schema of a type; that of a struct is a reference to its definition.
func (d *definitions) of(t reflect.Type) (shape, error) {
	switch t {
	case reflect.TypeFor[metav1.Duration]():
		return shape{"type": simpleTypes[reflect.String], "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$`}, nil
	case reflect.TypeFor[resource.Quantity]():
		return maps.Clone(quantity), nil
	case reflect.TypeFor[corev1.ResourceList]():
		named := object(false)
		named["patternProperties"] = shape{`^(cpu|memory|ephemeral-storage|hugepages-.+|.+/.+)$`: quantity}
		return named, nil
	}
	if simple, found := simpleTypes[t.Kind()]; found {
		return shape{"type": simple}, nil
	}
	switch kind := t.Kind(); {
	case kind == reflect.Pointer:
		return d.of(t.Elem())
	case kind == reflect.Slice:
		items, err := d.of(t.Elem())
		return shape{"type": "array", "items": items}, err
	case kind == reflect.Map:
		values, err := d.of(t.Elem())
		return object(values), err
	case kind == reflect.Struct:
		return d.refer(t)
	}
	return nil, fmt.Errorf("what is a %s in a schema?", t)
}

// simpleTypes are what JSON schemas call them.
var simpleTypes = map[reflect.Kind]string{
	reflect.String: "string", reflect.Bool: "boolean", reflect.Float32: "number",
	reflect.Int: "integer", reflect.Int32: "integer", reflect.Int64: "integer",
}

func (d *definitions) refer(t reflect.Type) (shape, error) {
	reference := shape{"$ref": "#/definitions/" + t.Name()}
	if before := d.types[t.Name()]; before != nil {
		if before != t {
			return nil, fmt.Errorf("%s and %s have the same name", before, t)
		}
		return reference, nil
	}
	d.types[t.Name()] = t
	properties := shape{}
	var required []string
	for i := range t.NumField() {
		name, tag, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		key := t.Name() + "." + name
		if name == "" || slices.Contains(d.left, key) {
			continue
		}
		property, err := d.of(t.Field(i).Type)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		maps.Copy(property, d.narrowed[key])
		properties[name] = property
		// The managers' configuration has defaults for all; only Kubernetes says by its
		// tags what has to be there.
		if strings.HasPrefix(t.PkgPath(), "k8s.io/api") && !strings.Contains(tag, "omitempty") {
			required = append(required, name)
		}
	}
	d.known[t.Name()] = closed(properties)
	if len(required) > 0 {
		d.known[t.Name()]["required"] = required
	}
	return reference, nil
}
