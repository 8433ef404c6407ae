package main

import (
	"regexp"
	"strings"
)

const labelsFile = "labels.go"

// notKeys are constants beside the keys that are none.
var notKeys = map[string]bool{"KeyPrefix": true, "FieldManager": true}

// writeKeys lists the constants of labels.go under the headings of their blocks.
func writeKeys(p *page, s *source) {
	for _, block := range s.Blocks {
		if block.File != labelsFile {
			continue
		}
		var rows [][]string
		for _, c := range block.Consts {
			if !notKeys[c.Name] {
				rows = append(rows, []string{code(c.Value), prose(meaningOf(c))})
			}
		}
		if len(rows) == 0 {
			continue
		}
		p.heading(3, headingOf(block))
		p.table("keys", []string{"Key", meaningHeader}, rows)
	}
}

var headingEnd = regexp.MustCompile(`[,.:]| in every | that | of LeaderWorkerSets`)

// headingOf is the short form of what is said about a block; about a constant that
// stands alone, its kind.
func headingOf(block constBlock) string {
	if len(block.Consts) == 1 && strings.HasPrefix(block.Doc, block.Consts[0].Name) {
		return "Annotation " + block.Consts[0].Value[strings.LastIndex(block.Consts[0].Value, "/")+1:]
	}
	doc := strings.ReplaceAll(block.Doc, "\n", " ")
	if strings.Contains(doc, "that users write") {
		return "Annotations that users write"
	}
	if end := headingEnd.FindStringIndex(doc); end != nil {
		return doc[:end[0]]
	}
	return doc
}

// meaningOf is the comment of a constant without the constant's name.
func meaningOf(c constant) string {
	return sentence(withoutName(c.Doc, c.Name))
}
