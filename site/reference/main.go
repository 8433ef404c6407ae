package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const generatedPages = "site/content/docs/reference"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: reference ROOT")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// project is what the pages are made from.
type project struct {
	root, out                      string
	set, disaggregated, config     *source
	setController, groupController *source
	disaggregatedController        *source
}

func run(root string) error {
	p := project{root: root, out: filepath.Join(root, generatedPages)}
	for dir, where := range map[string]**source{
		"apis/leaderworkerset/v1":           &p.set,
		"apis/disaggregatedset/v1":          &p.disaggregated,
		"apis/config/v1":                    &p.config,
		"controllers/leaderworkerset":       &p.setController,
		"controllers/leaderworkerset/group": &p.groupController,
		"controllers/disaggregatedset":      &p.disaggregatedController,
	} {
		parsed, err := parseSource(filepath.Join(root, dir))
		if err != nil {
			return err
		}
		*where = parsed
	}
	for _, write := range []func() error{
		p.writeSet, p.writeDisaggregated, p.writeKeys, p.writeConditions, p.writeConfiguration, p.writeMetrics, p.writeValues,
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

func (p *project) writeSet() error {
	t := typesPage{
		source: p.set,
		page: newPage("leaderworkerset", "LeaderWorkerSet",
			"Every field of a LeaderWorkerSet, with its default and the rules that the API server enforces", 10),
	}
	t.paragraph("API group and version `leaderworkerset.x-k8s.io/v1`, kind `LeaderWorkerSet`, short name `lws`.")
	if err := t.writeKinds("LeaderWorkerSet"); err != nil {
		return err
	}
	// The template is a type of roles, which are described elsewhere.
	if err := t.writeKinds("LeaderWorkerSetTemplateSpec"); err != nil {
		return err
	}
	return t.write(p.out)
}

func (p *project) writeDisaggregated() error {
	t := typesPage{
		source:    p.disaggregated,
		elsewhere: map[string]string{"lwsv1": "../leaderworkerset/"},
		page: newPage("disaggregatedset", "DisaggregatedSet",
			"Every field of a DisaggregatedSet and of the scaler of a role, with its default and rules", 20),
	}
	t.paragraph("API group and version `disaggregatedset.x-k8s.io/v1`, kinds `DisaggregatedSet` (short name `dset`) and `DisaggregatedSetRoleScaler` (`dsrs`).")
	if err := t.writeKinds("DisaggregatedSet", "DisaggregatedSetRoleScaler"); err != nil {
		return err
	}
	return t.write(p.out)
}

func (p *project) writeKeys() error {
	out := newPage("keys", "Labels, annotations, variables",
		"What is written on objects and into containers, to be selected on and read", 30)
	out.heading(2, "LeaderWorkerSet")
	writeKeys(out, p.set)
	out.heading(2, "DisaggregatedSet")
	writeKeys(out, p.disaggregated)
	return out.write(p.out)
}

func (p *project) writeConditions() error {
	out := newPage("conditions", "Conditions, reasons, events",
		"What a set says about itself, and what each reason means", 40)
	out.heading(2, "LeaderWorkerSet")
	writeConditions(out, p.set)
	if err := writeReasons(out, p.set, setMeanings, toldEvents(p.setController, p.groupController)); err != nil {
		return err
	}
	out.heading(2, "DisaggregatedSet")
	writeConditions(out, p.disaggregated)
	if err := writeReasons(out, p.disaggregated, disaggregatedMeanings, toldEvents(p.disaggregatedController)); err != nil {
		return err
	}
	return out.write(p.out)
}

func (p *project) writeConfiguration() error {
	t := typesPage{
		source: p.config,
		page: newPage("configuration", "Configuration",
			"The configuration file of the managers and their feature gates", 50),
	}
	t.paragraph("A manager reads the file that `--config` names: API version `config.lws.x-k8s.io/v1`, kind `Configuration`. A field that is unknown or misspelt is an error that names it and its line. Flags override the file.")
	t.heading(2, "Feature gates")
	var rows [][]string
	for _, block := range p.config.Blocks {
		if block.Doc != "Feature gates." {
			continue
		}
		for _, c := range block.Consts {
			rows = append(rows, []string{code(c.Value), prose(meaningOf(c))})
		}
	}
	if len(rows) == 0 {
		return errors.New("no feature gates in apis/config/v1")
	}
	t.table("", []string{"Gate", meaningHeader}, rows)
	if err := t.writeKinds("Configuration"); err != nil {
		return err
	}
	return t.write(p.out)
}

func (p *project) writeMetrics() error {
	out := newPage("metrics", "Metrics", "What the managers measure", 60)
	out.paragraph("Besides these each manager serves the metrics of controller-runtime: reconciles, work queues, requests to the API server, webhooks. Labels name a set, never a group or a pod, so that the number of series grows with sets.")
	for _, manager := range []struct{ name, dir string }{
		{"lws-manager", "controllers/leaderworkerset"},
		{"disaggregatedset-manager", "controllers/disaggregatedset"},
	} {
		found, err := metricsBelow(filepath.Join(p.root, manager.dir))
		if err != nil {
			return err
		}
		if len(found) > 0 {
			out.heading(2, manager.name)
			writeMetrics(out, found)
		}
	}
	return out.write(p.out)
}

// writeValues writes the page of chart values once there are charts.
func (p *project) writeValues() error {
	out := newPage("values", "Chart values", "What can be set when a manager is installed with Helm", 70)
	var found bool
	for _, chart := range []string{"lws", "disaggregatedset"} {
		switch err := writeChartValues(out, filepath.Join(p.root, "charts", chart)); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		default:
			found = true
		}
	}
	if !found {
		return nil
	}
	return out.write(p.out)
}
