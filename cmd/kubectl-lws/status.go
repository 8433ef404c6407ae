package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/yaml"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset"
	"sigs.k8s.io/lws/controllers/leaderworkerset/group"
)

// Forms of output.
const (
	formTable = "table"
	formJSON  = "json"
	formYAML  = "yaml"
)

func newStatus(o *options) *cobra.Command {
	form := formTable
	command := &cobra.Command{
		Use:     "status NAME",
		Short:   "Show how far a set and each of its groups are",
		Example: "  kubectl lws status vllm\n  kubectl lws status vllm -o json",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if form != formTable && form != formJSON && form != formYAML {
				return fmt.Errorf("--output %q: must be %s, %s or %s", form, formTable, formJSON, formYAML)
			}
			x, err := o.explain(command.Context(), args[0])
			if err != nil {
				return err
			}
			return writeStatus(o.out, statusOf(x), form, o.now.Now())
		},
	}
	command.Flags().StringVarP(&form, "output", "o", formTable, "table, json or yaml")
	return command
}

// setStatus is what status shows of a set.
type setStatus struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Replicas  int32  `json:"replicas"`
	Ready     int32  `json:"ready"`
	Size      int32  `json:"size"`
	// Revision is that of the spec, CurrentRevision that of groups which no rollout has
	// reached.
	Revision        string             `json:"revision"`
	CurrentRevision string             `json:"currentRevision,omitempty"`
	Conditions      []metav1.Condition `json:"conditions"`
	Groups          []groupStatus      `json:"groups"`
}

// groupStatus is what status shows of a group.
type groupStatus struct {
	Group         string       `json:"group"`
	State         group.State  `json:"state"`
	Why           string       `json:"why,omitempty"`
	Leader        string       `json:"leader,omitempty"`
	Node          string       `json:"node,omitempty"`
	Revision      string       `json:"revision,omitempty"`
	Old           bool         `json:"old"`
	Workers       int32        `json:"workers"`
	WorkersReady  int32        `json:"workersReady"`
	Restarts      int32        `json:"restarts"`
	MaxRestarts   *int32       `json:"maxRestarts,omitempty"`
	Created       *metav1.Time `json:"created,omitempty"`
	NotReadySince *metav1.Time `json:"notReadySince,omitempty"`
}

func statusOf(x *leaderworkerset.Explanation) *setStatus {
	s := &setStatus{
		Namespace: x.Set.Namespace, Name: x.Set.Name,
		Replicas: lwsv1.Replicas(x.Set), Size: lwsv1.Size(&x.Set.Spec.LeaderWorkerTemplate),
		Revision: x.Update, CurrentRevision: x.Current, Conditions: x.Set.Status.Conditions,
	}
	for i := range x.Groups {
		g := &x.Groups[i]
		if g.State == group.Ready {
			s.Ready++
		}
		one := groupStatus{
			Group: g.Group.Index, State: g.State, Why: g.Why, Leader: g.Leader, Node: g.Node,
			Revision: g.Revision, Old: g.Old, Workers: g.Workers, WorkersReady: g.Available, Restarts: g.Restarts,
			Created: timeOrNil(g.Created), NotReadySince: timeOrNil(g.NotReadySince),
		}
		if g.Limited {
			one.MaxRestarts = &g.Limit
		}
		s.Groups = append(s.Groups, one)
	}
	return s
}

func timeOrNil(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t}
}

func writeStatus(out io.Writer, s *setStatus, form string, now time.Time) error {
	var data []byte
	var err error
	switch form {
	case formJSON:
		data, err = json.MarshalIndent(s, "", "  ")
		data = append(data, '\n')
	case formYAML:
		data, err = yaml.Marshal(s)
	default:
		return writeTable(out, s, now)
	}
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}

func writeTable(out io.Writer, s *setStatus, now time.Time) error {
	fmt.Fprintf(out, "LeaderWorkerSet %s/%s: %d of %s ready, revision %s\n",
		s.Namespace, s.Name, s.Ready, plural(int(s.Replicas), "group"), s.Revision)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range s.Conditions {
		fmt.Fprintf(table, "  %s\t%s\t%s: %s\n", c.Type, c.Status, c.Reason, oneLine(c.Message))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	table = tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "GROUP\tSTATE\tLEADER\tNODE\tREVISION\tWORKERS\tRESTARTS\tAGE")
	for i := range s.Groups {
		fmt.Fprintln(table, strings.Join(s.Groups[i].row(now), "\t"))
	}
	return table.Flush()
}

func (g *groupStatus) row(now time.Time) []string {
	revision, restarts, age := orDash(g.Revision), strconv.Itoa(int(g.Restarts)), "-"
	if g.Old {
		revision += " (old)"
	}
	if g.MaxRestarts != nil {
		restarts = fmt.Sprintf("%d/%d", g.Restarts, *g.MaxRestarts)
	}
	if g.Created != nil {
		age = duration.HumanDuration(now.Sub(g.Created.Time))
	}
	workers := fmt.Sprintf("%d/%d", g.WorkersReady, g.Workers)
	return []string{shortIndex(g.Group), string(g.State), orDash(g.Leader), orDash(g.Node), revision, workers, restarts, age}
}

// shownKey is how much of a group's key is shown: as much as its names have of it.
const shownKey = 8

// shortIndex is a group's number, or as much of its key as its names have.
func shortIndex(index string) string {
	const longestNumber = 10
	if len(index) > longestNumber {
		return index[:shownKey]
	}
	return index
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
