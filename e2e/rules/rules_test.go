package rules

import (
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

// config is where rules and dashboards are.
const config = "../../config/prometheus"

var parsing = parser.NewParser(parser.Options{})

// prefixes of the metrics of each manager; others are those of its libraries.
var prefixes = map[string]string{"lws": "lws_", "disaggregatedset": "disaggregatedset_"}

// ofLibraries are the metrics that come with controller-runtime and client-go, and of
// Prometheus itself.
var ofLibraries = []string{"up", "controller_runtime_reconcile_errors_total", "rest_client_requests_total"}

// read is what an expression reads, by name. A selector without a name is an error.
func read(t *testing.T, expression string) []string {
	t.Helper()
	parsed, err := parsing.ParseExpr(expression)
	if err != nil {
		t.Errorf("%v in %s", err, expression)
		return nil
	}
	names := map[string]bool{}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			name := selector.Name
			for _, matcher := range selector.LabelMatchers {
				if matcher.Name == model.MetricNameLabel {
					name = matcher.Value
				}
			}
			names[name] = true
		}
		return nil
	})
	return slices.Sorted(maps.Keys(names))
}

func checkNames(t *testing.T, manager, expression string) {
	t.Helper()
	names := read(t, expression)
	if len(names) == 0 {
		t.Errorf("nothing is read by %s", expression)
	}
	for _, name := range names {
		if !strings.HasPrefix(name, prefixes[manager]) && !slices.Contains(ofLibraries, name) {
			t.Errorf("%s reads %s, which %s-manager does not have", expression, name, manager)
		}
	}
}

// reference is the page that lists our metrics with their labels. It is generated from
// the code.
const reference = "../../site/content/docs/reference/metrics.md"

// labelsOf reads the labels of our metrics, by name.
func labelsOf(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string][]string{}
	quoted := regexp.MustCompile("`([a-z_]+)`")
	for _, line := range strings.Split(string(data), "\n") {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| `") || len(cells) < 4 {
			continue
		}
		name := quoted.FindStringSubmatch(cells[0])[1]
		for _, label := range quoted.FindAllStringSubmatch(cells[2], -1) {
			labels[name] = append(labels[name], label[1])
		}
		if cells[1] == "histogram" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				labels[name+suffix] = append(slices.Clone(labels[name]), "le")
			}
		}
	}
	if len(labels) < len(prefixes) {
		t.Fatalf("%s lists no metrics", reference)
	}
	return labels
}

// checkLabels compares the labels that an expression selects and groups by with those
// that our metrics have: a misspelt one selects nothing, silently.
func checkLabels(t *testing.T, expression string) {
	t.Helper()
	known := labelsOf(t)
	parsed, err := parsing.ParseExpr(expression)
	if err != nil {
		t.Errorf("%v in %s", err, expression)
		return
	}
	parser.Inspect(parsed, func(node parser.Node, above []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok || known[selector.Name] == nil {
			return nil
		}
		used := []string{}
		for _, matcher := range selector.LabelMatchers {
			used = append(used, matcher.Name)
		}
		for _, parent := range above {
			if aggregation, ok := parent.(*parser.AggregateExpr); ok {
				used = append(used, aggregation.Grouping...)
			}
		}
		for _, label := range used {
			if label != model.MetricNameLabel && !slices.Contains(known[selector.Name], label) {
				t.Errorf("%s uses the label %s, which %s does not have", expression, label, selector.Name)
			}
		}
		return nil
	})
}

// checkStands refuses counters: where nothing happens none of them grows, and that is
// when something is stuck.
func checkStands(t *testing.T, expression string) {
	t.Helper()
	for _, name := range read(t, expression) {
		if strings.HasSuffix(name, "_total") {
			t.Errorf("%s is false while nothing happens, since it reads %s", expression, name)
		}
	}
}

func TestRules(t *testing.T) {
	for manager := range prefixes {
		t.Run(manager, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(config, manager, "component", "rule.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			var object struct {
				Spec json.RawMessage `json:"spec"`
			}
			if err := yaml.Unmarshal(data, &object); err != nil {
				t.Fatal(err)
			}
			groups, errs := rulefmt.Parse(object.Spec, false, model.UTF8Validation, parsing, slog.New(slog.DiscardHandler))
			for _, err := range errs {
				t.Error(err)
			}
			if groups == nil {
				t.Fatal("no rules")
			}
			alerts := 0
			for _, group := range groups.Groups {
				for i := range group.Rules {
					rule := &group.Rules[i]
					alerts++
					checkNames(t, manager, rule.Expr)
					checkLabels(t, rule.Expr)
					if strings.HasSuffix(rule.Alert, "Stuck") {
						checkStands(t, rule.Expr)
					}
					if rule.For == 0 || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
						t.Errorf("alert %s lacks for, severity, summary or description", rule.Alert)
					}
				}
			}
			if alerts < 4 {
				t.Errorf("%d alerts", alerts)
			}
		})
	}
}

// dashboard is what is checked of a dashboard.
type dashboard struct {
	Title  string  `json:"title"`
	Panels []panel `json:"panels"`
}

type panel struct {
	Title   string   `json:"title"`
	Targets []target `json:"targets"`
}

type target struct {
	Expression string `json:"expr"`
}

// withValues puts values where Grafana has variables.
func withValues(expression string) string {
	return strings.NewReplacer("$__rate_interval", "5m", "$namespace", "default", "$name", "llm").Replace(expression)
}

func TestDashboards(t *testing.T) {
	for manager := range prefixes {
		t.Run(manager, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(config, manager, "component", "dashboard.json"))
			if err != nil {
				t.Fatal(err)
			}
			var board dashboard
			if err := json.Unmarshal(data, &board); err != nil {
				t.Fatal(err)
			}
			if board.Title == "" || len(board.Panels) == 0 {
				t.Fatal("an empty dashboard")
			}
			for _, p := range board.Panels {
				if p.Title == "" || len(p.Targets) == 0 {
					t.Errorf("panel %q has no title or shows nothing", p.Title)
				}
				for _, shown := range p.Targets {
					checkNames(t, manager, withValues(shown.Expression))
					checkLabels(t, withValues(shown.Expression))
				}
			}
		})
	}
}
