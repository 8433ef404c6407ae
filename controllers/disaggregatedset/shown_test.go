package disaggregatedset

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestAlertsAndDashboardReadWhatThereIs compares names of metrics with what is shipped
// for Prometheus and Grafana: none is misspelt there, and the dashboard shows all.
func TestAlertsAndDashboardReadWhatThereIs(t *testing.T) {
	var names []string
	name := regexp.MustCompile(`fqName: "([^"]+)"`)
	for _, collector := range []prometheus.Collector{replicasGauge, readyGauge, waitsCounter} {
		described := make(chan *prometheus.Desc, 1)
		collector.Describe(described)
		names = append(names, name.FindStringSubmatch(fmt.Sprint(<-described))[1])
	}
	used := regexp.MustCompile(`\bdisaggregatedset_[a-z_]+`)
	for file, all := range map[string]bool{"rule.yaml": false, "dashboard.json": true} {
		data, err := os.ReadFile("../../config/prometheus/disaggregatedset/component/" + file)
		if err != nil {
			t.Fatal(err)
		}
		read := used.FindAllString(string(data), -1)
		for _, found := range read {
			if !slices.Contains(names, found) {
				t.Errorf("%s reads %s, which does not exist", file, found)
			}
		}
		for _, name := range names {
			if all && !slices.Contains(read, name) {
				t.Errorf("%s does not show %s", file, name)
			}
		}
	}
}
