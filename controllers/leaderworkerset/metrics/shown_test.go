package metrics

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestAlertsAndDashboardReadWhatThereIs compares names of metrics with what is shipped
// for Prometheus and Grafana: none is misspelt there, and the dashboard shows all.
func TestAlertsAndDashboardReadWhatThereIs(t *testing.T) {
	names := namesOf(newSeries())
	used := regexp.MustCompile(`\blws_[a-z_]+`)
	suffix := regexp.MustCompile(`_(bucket|sum|count)$`)
	for file, all := range map[string]bool{"rule.yaml": false, "dashboard.json": true} {
		data, err := os.ReadFile("../../../config/prometheus/lws/component/" + file)
		if err != nil {
			t.Fatal(err)
		}
		read := map[string]bool{}
		for _, name := range used.FindAllString(string(data), -1) {
			name = suffix.ReplaceAllString(name, "")
			read[name] = true
			if !slices.Contains(names, name) {
				t.Errorf("%s reads %s, which does not exist", file, name)
			}
		}
		for _, name := range names {
			if all && !read[name] {
				t.Errorf("%s does not show %s", file, name)
			}
		}
	}
}

func namesOf(s series) []string {
	var names []string
	name := regexp.MustCompile(`fqName: "([^"]+)"`)
	for _, collector := range s.collectors() {
		described := make(chan *prometheus.Desc, 1)
		collector.Describe(described)
		names = append(names, name.FindStringSubmatch(fmt.Sprint(<-described))[1])
	}
	return names
}

func TestNamesAndLabels(t *testing.T) {
	s := newSeries()
	for _, name := range namesOf(s) {
		if !strings.HasPrefix(name, "lws_") {
			t.Errorf("%s has not the prefix lws_", name)
		}
	}
	labels := regexp.MustCompile(`variableLabels: \{([^}]*)\}`)
	for _, collector := range s.collectors() {
		described := make(chan *prometheus.Desc, 1)
		collector.Describe(described)
		found := labels.FindStringSubmatch(fmt.Sprint(<-described))
		if !strings.HasPrefix(found[1], "namespace,name") || strings.Contains(found[1], "pod") || strings.Contains(found[1], "group") {
			t.Errorf("labels %s, want those of a set", found[1])
		}
	}
}
