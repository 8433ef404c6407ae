package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRules(t *testing.T) {
	for name, test := range map[string]struct {
		marker string
		want   rule
	}{
		"on update": {
			marker: `+kubebuilder:validation:XValidation:rule="self.a == oldSelf.a",message="is immutable",fieldPath=".a",reason=FieldValueForbidden`,
			want:   rule{Path: "a", Message: "is immutable", OnUpdate: true},
		},
		"always": {
			marker: `+kubebuilder:validation:XValidation:rule="self > 0",message="must be \"positive\""`,
			want:   rule{Message: `must be "positive"`},
		},
		"for new objects as well": {
			marker: `+kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self > 0",message="m",optionalOldSelf=true`,
			want:   rule{Message: "m"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := comment{Markers: []string{test.marker, test.marker}}.rules()
			if !slices.Equal(got, []rule{test.want}) {
				t.Errorf("rules are %+v, want one, %+v", got, test.want)
			}
		})
	}
}

func TestMetrics(t *testing.T) {
	dir := t.TempDir()
	code := `package x
const nameLabel = "name"
func f() {
	set := []string{nameLabel}
	a := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "a" + "_b", Help: "A."}, append(set, "state"))
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: "c", Help: "C."})
}`
	if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := metricsBelow(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 {
		t.Fatalf("found %+v, want a_b and c", found)
	}
	if m := found[0]; m.Name != "a_b" || m.Kind != "gauge" || m.Help != "A." || !slices.Equal(m.Labels, []string{"name", "state"}) {
		t.Errorf("first metric is %+v", m)
	}
	if m := found[1]; m.Name != "c" || m.Kind != "counter" || len(m.Labels) != 0 {
		t.Errorf("second metric is %+v", m)
	}
}

func TestToldEvents(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
var a = event{Type: corev1.EventTypeWarning, Reason: v1.ReasonA}
var b = notice{corev1.EventTypeNormal, v1.ReasonB, "x"}`, 0)
	if err != nil {
		t.Fatal(err)
	}
	told := toldEvents(&source{Files: []*ast.File{file}})
	if !told["ReasonA"][warning] || !told["ReasonB"][normal] || len(told) != 2 {
		t.Errorf("told are %v", told)
	}
}

func TestReasonsAndMeaningsAgree(t *testing.T) {
	s := &source{Blocks: []constBlock{{File: conditionsFile, Consts: []constant{{Name: "ReasonA", Value: "A"}}}}}
	for name, test := range map[string]struct {
		meanings map[string]meaning
		told     map[string]map[string]bool
		want     string
	}{
		"agree":             {meanings: map[string]meaning{"A": {Event: normal, Text: "a"}}, told: map[string]map[string]bool{"ReasonA": {normal: true}}},
		"no meaning":        {want: "has no meaning"},
		"no reason":         {meanings: map[string]meaning{"A": {}, "B": {}}, want: "no reason B"},
		"event of a type":   {meanings: map[string]meaning{"A": {Event: normal}}, told: map[string]map[string]bool{"ReasonA": {warning: true}}, want: "Warning event"},
		"event that is not": {meanings: map[string]meaning{"A": {}}, told: map[string]map[string]bool{"ReasonA": {warning: true}}, want: "Warning event"},
	} {
		t.Run(name, func(t *testing.T) {
			err := writeReasons(newPage("x", "x", "x", 1), s, test.meanings, test.told)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("error is %v, want none", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error is %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestChartValues(t *testing.T) {
	dir := t.TempDir()
	schema := `{"properties": {
		"global": {"default": {}},
		"replicas": {"description": "How many pods run", "default": 2},
		"image": {"properties": {
			"tag": {"description": "Its tag.", "default": ""},
			"pullPolicy": {"description": "When.", "enum": ["", "Always"], "default": ""}}},
		"tolerations": {"description": "Taints.", "default": [ ]}}}`
	if err := os.WriteFile(filepath.Join(dir, "values.schema.json"), []byte(schema), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newPage("values", "x", "x", 1)
	if err := writeChartValues(p, dir); err != nil {
		t.Fatal(err)
	}
	want := "| `image.pullPolicy` | `\"\"` | When. One of `\"\"`, `Always`. |\n" +
		"| `image.tag` | `\"\"` | Its tag. |\n" +
		"| `replicas` | `2` | How many pods run. |\n" +
		"| `tolerations` | `[]` | Taints. |\n"
	if !strings.Contains(p.body.String(), want) {
		t.Errorf("page is\n%s\nwant in it\n%s", p.body.String(), want)
	}
}

func TestEveryTypeOnce(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "content", "docs", "reference", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages are %v, error %v", pages, err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for line := range strings.SplitSeq(string(text), "\n") {
			if strings.HasPrefix(line, "## ") && seen[line] {
				t.Errorf("%s has %q twice", page, line)
			}
			seen[line] = true
		}
	}
}
