package main

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

const (
	conditionsFile = "conditions.go"
	reasonPrefix   = "Reason"
	eventPrefix    = "EventType"
)

// writeConditions lists the condition types of a package.
func writeConditions(p *page, s *source) {
	var rows [][]string
	for _, c := range s.in(conditionsFile) {
		if strings.HasPrefix(c.Name, "Condition") {
			rows = append(rows, []string{code(c.Value), prose(meaningOf(c))})
		}
	}
	p.table("", []string{"Condition", meaningHeader}, rows)
}

// writeReasons lists the reasons of a package with their meanings. A reason without a
// meaning, a meaning without a reason, and an event that is told otherwise than its
// meaning says are errors.
func writeReasons(p *page, s *source, meanings map[string]meaning, told map[string]map[string]bool) error {
	rest := maps.Clone(meanings)
	var rows [][]string
	for _, c := range s.in(conditionsFile) {
		if !strings.HasPrefix(c.Name, reasonPrefix) {
			continue
		}
		m, known := meanings[c.Value]
		if !known {
			return fmt.Errorf("%s: reason %s has no meaning in site/reference/meanings.go", s.Dir, c.Value)
		}
		for kind := range told[c.Name] {
			if kind != m.Event {
				return fmt.Errorf("%s: %s is told as a %s event, and as %q in site/reference/meanings.go", s.Dir, c.Value, kind, m.Event)
			}
		}
		delete(rest, c.Value)
		rows = append(rows, []string{code(c.Value), m.Condition, m.Event, prose(m.Text)})
	}
	for value := range rest {
		return fmt.Errorf("%s: no reason %s, which has a meaning in site/reference/meanings.go", s.Dir, value)
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	p.table("fields", []string{"Reason", "Of condition", "Event", meaningHeader}, rows)
	return nil
}

func (s *source) in(file string) []constant {
	var found []constant
	for _, block := range s.Blocks {
		if block.File == file {
			found = append(found, block.Consts...)
		}
	}
	return found
}

// toldEvents are the reasons that stand beside a type of event in one literal, with
// the types.
func toldEvents(sources ...*source) map[string]map[string]bool {
	told := map[string]map[string]bool{}
	for _, s := range sources {
		for _, file := range s.Files {
			ast.Inspect(file, func(node ast.Node) bool {
				if literal, is := node.(*ast.CompositeLit); is {
					collectEvent(told, literal)
				}
				return true
			})
		}
	}
	return told
}

func collectEvent(told map[string]map[string]bool, literal *ast.CompositeLit) {
	var kind, reason string
	for _, element := range literal.Elts {
		if pair, is := element.(*ast.KeyValueExpr); is {
			element = pair.Value
		}
		selector, is := element.(*ast.SelectorExpr)
		if !is {
			continue
		}
		switch name := selector.Sel.Name; {
		case strings.HasPrefix(name, eventPrefix):
			kind = strings.TrimPrefix(name, eventPrefix)
		case strings.HasPrefix(name, reasonPrefix):
			reason = name
		}
	}
	if kind == "" || reason == "" {
		return
	}
	if told[reason] == nil {
		told[reason] = map[string]bool{}
	}
	told[reason][kind] = true
}
