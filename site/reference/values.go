package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// valueSchema is what is read of the JSON schema of a chart's values.
type valueSchema struct {
	Description string                  `json:"description"`
	Default     json.RawMessage         `json:"default"`
	Enum        []string                `json:"enum"`
	Properties  map[string]*valueSchema `json:"properties"`
}

// helmGlobal is Helm's own, and no value of a chart.
const helmGlobal = "global"

// writeChartValues lists the values of a chart.
func writeChartValues(p *page, chart string) error {
	data, err := os.ReadFile(filepath.Clean(filepath.Join(chart, "values.schema.json")))
	if err != nil {
		return err
	}
	schema := &valueSchema{}
	if err := json.Unmarshal(data, schema); err != nil {
		return fmt.Errorf("%s: %w", chart, err)
	}
	delete(schema.Properties, helmGlobal)
	rows, err := schema.rows("", nil)
	if err != nil {
		return fmt.Errorf("%s: %w", chart, err)
	}
	p.heading(2, "Chart "+filepath.Base(chart))
	p.table("keys", []string{"Value", "Default", meaningHeader}, rows)
	return nil
}

// rows are the values that have a default, by name.
func (s *valueSchema) rows(path string, rows [][]string) ([][]string, error) {
	if s.Default != nil {
		var compact bytes.Buffer
		if err := json.Compact(&compact, s.Default); err != nil {
			return nil, fmt.Errorf("default of %s: %w", path, err)
		}
		meaning := prose(sentence(s.Description))
		if len(s.Enum) > 0 {
			meaning += " One of " + choices(s.Enum) + "."
		}
		return append(rows, []string{code(path), code(compact.String()), meaning}), nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		below := name
		if path != "" {
			below = path + "." + name
		}
		var err error
		if rows, err = s.Properties[name].rows(below, rows); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// choices are values as they are typed; the empty one is quoted.
func choices(values []string) string {
	typed := make([]string, 0, len(values))
	for _, value := range values {
		if value == "" {
			value = `""`
		}
		typed = append(typed, code(value))
	}
	return strings.Join(typed, ", ")
}
