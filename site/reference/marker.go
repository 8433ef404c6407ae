package main

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// comment is a doc comment, parted into what is for people and what is for tools.
type comment struct {
	Text    string
	Markers []string
}

func parseComment(group *ast.CommentGroup) comment {
	if group == nil {
		return comment{}
	}
	var c comment
	var lines []string
	for _, line := range strings.Split(group.Text(), "\n") {
		if strings.HasPrefix(line, "+") {
			c.Markers = append(c.Markers, line)
			continue
		}
		lines = append(lines, line)
	}
	c.Text = strings.TrimSpace(strings.Join(lines, "\n"))
	return c
}

// value is what stands behind name= in a marker, and whether there is one.
func (c comment) value(name string) (string, bool) {
	for _, marker := range c.Markers {
		if value, found := strings.CutPrefix(marker, "+kubebuilder:"+name+"="); found {
			return strings.Trim(value, "`\""), true
		}
	}
	return "", false
}

func (c comment) has(marker string) bool {
	return slices.Contains(c.Markers, "+"+marker)
}

// rule is a rule of the API server that is written as an expression.
type rule struct {
	Path     string
	Message  string
	OnUpdate bool
}

var (
	messagePattern = regexp.MustCompile(`[,:]message="((?:[^"\\]|\\.)*)"`)
	pathPattern    = regexp.MustCompile(`,fieldPath="?\.([^",]*)"?`)
)

// rules are the expressions among the markers, each message once.
func (c comment) rules() []rule {
	var found []rule
	for _, marker := range c.Markers {
		body, is := strings.CutPrefix(marker, "+kubebuilder:validation:XValidation:")
		if !is {
			continue
		}
		message := messagePattern.FindStringSubmatch(body)
		if message == nil {
			continue
		}
		r := rule{
			Message: strings.ReplaceAll(message[1], `\"`, `"`),
			// With optionalOldSelf the rule is for new objects as well.
			OnUpdate: strings.Contains(body, "oldSelf") && !strings.Contains(body, "optionalOldSelf=true"),
		}
		if path := pathPattern.FindStringSubmatch(body); path != nil {
			r.Path = path[1]
		}
		if !slices.ContainsFunc(found, func(o rule) bool { return o.Path == r.Path && o.Message == r.Message }) {
			found = append(found, r)
		}
	}
	return found
}

// bounds are the schema's own limits, in words.
func (c comment) bounds() []string {
	var found []string
	for _, limit := range []struct{ marker, words string }{
		{"validation:Minimum", "at least "},
		{"validation:Maximum", "at most "},
		{"validation:MinLength", "length at least "},
		{"validation:MaxLength", "length at most "},
		{"validation:MinItems", "at least this many items: "},
		{"validation:MaxItems", "at most this many items: "},
	} {
		if value, is := c.value(limit.marker); is {
			found = append(found, limit.words+value)
		}
	}
	if pattern, is := c.value("validation:Pattern"); is {
		found = append(found, "matches "+code(pattern))
	}
	return found
}
