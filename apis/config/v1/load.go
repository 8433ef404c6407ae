package v1

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/lws/apis/config/v1alpha1"
)

// Load reads a configuration file, fills in defaults and validates. Without a file
// name it returns the defaults.
func Load(file string, names Names) (*Configuration, error) {
	if file == "" {
		return Default(names), nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	config, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("configuration file %s: %w", file, err)
	}
	SetDefaults(config, names)
	if err := Validate(config).ToAggregate(); err != nil {
		return nil, fmt.Errorf("configuration file %s: %w", file, err)
	}
	return config, nil
}

// Decode reads a configuration of this version or of v1alpha1. A field that does
// not exist, is given twice, or has a value of the wrong type is an error that
// names the field and its line.
func Decode(data []byte) (*Configuration, error) {
	document, err := parse(data)
	if err != nil {
		return nil, err
	}
	raw, err := yaml.YAMLToJSON(data)
	if err != nil {
		return nil, err
	}
	var kind metav1.TypeMeta
	if err := stdjson.Unmarshal(raw, &kind); err != nil {
		return nil, document.explain(err)
	}
	if kind.Kind != Kind {
		return nil, document.errorAt("kind", fmt.Sprintf("kind is %q, must be %q", kind.Kind, Kind))
	}
	switch kind.APIVersion {
	case GroupVersion.String():
		config := &Configuration{}
		return config, document.decode(raw, config)
	case v1alpha1.GroupVersion.String():
		older := &v1alpha1.Configuration{}
		if err := document.decode(raw, older); err != nil {
			return nil, err
		}
		return fromV1alpha1(older), nil
	}
	return nil, document.errorAt("apiVersion", fmt.Sprintf("apiVersion is %q, must be %q or %q",
		kind.APIVersion, GroupVersion, v1alpha1.GroupVersion))
}

// decode fills in a configuration from JSON that was made from the document. The
// standard decoder comes first because its errors about types have a path; the
// strict one finds unknown fields, also those that differ in case only.
func (d *document) decode(raw []byte, into any) error {
	if err := stdjson.Unmarshal(raw, into); err != nil {
		return d.explain(err)
	}
	unknown, err := json.UnmarshalStrict(raw, into)
	if err != nil {
		return err
	}
	var errs []error
	for _, err := range unknown {
		errs = append(errs, d.explain(err))
	}
	return errors.Join(errs...)
}
