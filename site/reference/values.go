package main

import (
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// writeChartValues lists the values of a chart with their defaults and the comments
// above them.
func writeChartValues(p *page, chart string) error {
	data, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return err
	}
	var rows [][]string
	if len(document.Content) > 0 {
		rows = valueRows("", document.Content[0], nil)
	}
	p.heading(2, "Chart "+filepath.Base(chart))
	p.table("keys", []string{"Value", "Default", "Meaning"}, rows)
	return nil
}

func valueRows(prefix string, mapping *yaml.Node, rows [][]string) [][]string {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		path := prefix + key.Value
		meaning := said(key, value)
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 {
			if meaning != "" {
				rows = append(rows, []string{code(path), "", prose(meaning)})
			}
			rows = valueRows(path+".", value, rows)
			continue
		}
		rows = append(rows, []string{code(path), defaultOf(value), prose(meaning)})
	}
	return rows
}

// said is the comment above a value or behind it.
func said(key, value *yaml.Node) string {
	text := key.HeadComment
	if text == "" {
		text = value.LineComment
	}
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimPrefix(strings.TrimLeft(line, "# "), "-- ")
		if line != "" {
			lines = append(lines, line)
		}
	}
	return sentence(strings.Join(lines, " "))
}

func defaultOf(value *yaml.Node) string {
	plain := *value
	plain.HeadComment, plain.LineComment, plain.FootComment = "", "", ""
	plain.Style = yaml.FlowStyle
	data, err := yaml.Marshal(&plain)
	text := strings.TrimSpace(string(data))
	if err != nil || text == "" || strings.Contains(text, "\n") {
		return ""
	}
	return code(text)
}
