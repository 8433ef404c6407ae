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

// schema is what the table needs of a JSON schema.
type schema struct {
	Description string             `json:"description"`
	Default     json.RawMessage    `json:"default"`
	Properties  map[string]*schema `json:"properties"`
}

// global is Helm's own, and no value of the chart.
const global = "global"

// marker is where the generated part of a README begins.
const marker = "<!-- make manifests writes what follows from values.schema.json -->\n"

func writeReadme(chart string) error {
	data, err := os.ReadFile(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		return err
	}
	values := &schema{}
	if err := json.Unmarshal(data, values); err != nil {
		return fmt.Errorf("values.schema.json: %w", err)
	}
	path := filepath.Join(chart, "README.md")
	readme, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, _, found := strings.Cut(string(readme), marker)
	if !found {
		return fmt.Errorf("%s does not say where the table of values is to be", path)
	}
	lines, err := rows("", values)
	if err != nil {
		return err
	}
	table := "\n| value | default | meaning |\n| --- | --- | --- |\n" + strings.Join(lines, "")
	return write(path, text+marker+table)
}

// rows are the lines of a table of what has a default.
func rows(path string, s *schema) ([]string, error) {
	if s.Default != nil {
		var compact bytes.Buffer
		if err := json.Compact(&compact, s.Default); err != nil {
			return nil, fmt.Errorf("default of %s: %w", path, err)
		}
		return []string{"| `" + path + "` | `" + compact.String() + "` | " + s.Description + " |\n"}, nil
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		below := strings.TrimPrefix(path+"."+name, ".")
		if below == global {
			continue
		}
		lines, err := rows(below, s.Properties[name])
		if err != nil {
			return nil, err
		}
		all = append(all, lines...)
	}
	return all, nil
}
