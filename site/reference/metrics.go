package main

import (
	"go/ast"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// metric is a metric as its source declares it.
type metric struct {
	Name   string
	Kind   string
	Help   string
	Labels []string
}

// metricsBelow finds the metrics of all packages below a directory.
func metricsBelow(directory string) ([]metric, error) {
	var found []metric
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || entry.Name() == "testdata" {
			return err
		}
		if files, err := sourceFiles(path); err != nil || len(files) == 0 {
			return err
		}
		s, err := parseSource(path)
		if err != nil {
			return err
		}
		found = append(found, s.metrics()...)
		return nil
	})
	slices.SortFunc(found, func(a, b metric) int { return strings.Compare(a.Name, b.Name) })
	return found, err
}

// metrics are the calls that have options with a name and a help text, and labels.
func (s *source) metrics() []metric {
	var found []metric
	for _, file := range s.Files {
		local := locals(file)
		ast.Inspect(file, func(node ast.Node) bool {
			call, is := node.(*ast.CallExpr)
			if !is {
				return true
			}
			if m, is := s.metric(call, local); is {
				found = append(found, m)
			}
			return true
		})
	}
	return found
}

func (s *source) metric(call *ast.CallExpr, local map[string]ast.Expr) (metric, bool) {
	var m metric
	for _, argument := range call.Args {
		if literal, is := argument.(*ast.CompositeLit); is {
			if t, is := literal.Type.(*ast.SelectorExpr); is {
				m.Kind = strings.ToLower(strings.TrimSuffix(t.Sel.Name, "Opts"))
				m.Name, m.Help = s.field(literal, "Name"), s.field(literal, "Help")
				continue
			}
		}
		m.Labels = append(m.Labels, s.labels(argument, local)...)
	}
	return m, m.Kind != "" && m.Name != "" && m.Help != ""
}

// labels are the texts of a list: a literal, a variable of the file, or such a list
// with more appended.
func (s *source) labels(list ast.Expr, local map[string]ast.Expr) []string {
	switch l := list.(type) {
	case *ast.Ident:
		if value := local[l.Name]; value != nil {
			return s.labels(value, nil)
		}
	case *ast.CompositeLit:
		return s.texts(l.Elts)
	case *ast.CallExpr:
		if name, is := l.Fun.(*ast.Ident); is && name.Name == "append" && len(l.Args) > 0 {
			return append(s.labels(l.Args[0], local), s.texts(l.Args[1:])...)
		}
	}
	return nil
}

func (s *source) texts(expressions []ast.Expr) []string {
	var found []string
	for _, e := range expressions {
		if text, is := s.text(e); is {
			found = append(found, text)
		}
	}
	return found
}

// locals are the lists that variables of a file are set to.
func locals(file *ast.File) map[string]ast.Expr {
	found := map[string]ast.Expr{}
	ast.Inspect(file, func(node ast.Node) bool {
		assign, is := node.(*ast.AssignStmt)
		if !is || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
			return true
		}
		name, isName := assign.Lhs[0].(*ast.Ident)
		list, isList := assign.Rhs[0].(*ast.CompositeLit)
		if isName && isList {
			found[name.Name] = list
		}
		return true
	})
	return found
}

func (s *source) field(literal *ast.CompositeLit, name string) string {
	for _, element := range literal.Elts {
		pair, is := element.(*ast.KeyValueExpr)
		if !is {
			continue
		}
		if key, is := pair.Key.(*ast.Ident); is && key.Name == name {
			value, _ := s.text(pair.Value)
			return value
		}
	}
	return ""
}

func writeMetrics(p *page, found []metric) {
	rows := make([][]string, 0, len(found))
	for _, m := range found {
		labels := ""
		if len(m.Labels) > 0 {
			labels = code(strings.Join(m.Labels, "`, `"))
		}
		rows = append(rows, []string{code(m.Name), m.Kind, labels, prose(sentence(m.Help))})
	}
	p.table("keys", []string{"Metric", "Kind", "Labels", meaningHeader}, rows)
}
