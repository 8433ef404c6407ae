package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/yaml"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset"
	"sigs.k8s.io/lws/controllers/leaderworkerset/revision"
)

func newHistory(o *options) *cobra.Command {
	number := int64(0)
	command := &cobra.Command{
		Use:   "history NAME",
		Short: "List the revisions of a set, or print one to apply it again",
		Long: "List the revisions of a set and which groups run them.\n\n" +
			"With --revision, print the set with the template of that revision. Applying it goes back to it.",
		Example: "  kubectl lws history vllm\n  kubectl lws history vllm --revision 3 | kubectl apply -f -",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			x, err := o.explain(command.Context(), args[0])
			if err != nil {
				return err
			}
			if number == 0 {
				return writeHistory(o.out, x, o.now.Now())
			}
			text, err := manifestOf(x, number)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(o.out, text)
			return err
		},
	}
	command.Flags().Int64Var(&number, "revision", 0, "number of a revision to print")
	return command
}

func writeHistory(out io.Writer, x *leaderworkerset.Explanation, now time.Time) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NUMBER\tREVISION\tAGE\tGROUPS\tIMAGES")
	for _, r := range x.Revisions {
		key := revision.Key(r)
		var groups []string
		for i := range x.Groups {
			if x.Groups[i].Revision == key {
				groups = append(groups, shortIndex(x.Groups[i].Group.Index))
			}
		}
		shown := key
		if key == x.Update {
			shown += " (spec)"
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", r.Revision, shown,
			duration.HumanDuration(now.Sub(r.CreationTimestamp.Time)), orDash(strings.Join(groups, ",")), imagesOf(r))
	}
	return table.Flush()
}

// imagesOf are the images of a revision, each once.
func imagesOf(r *appsv1.ControllerRevision) string {
	spec, err := revision.Restore(r)
	if err != nil {
		return "cannot be read"
	}
	images := map[string]bool{}
	template := &spec.LeaderWorkerTemplate
	for _, pods := range []*corev1.PodTemplateSpec{lwsv1.LeaderTemplate(template), &template.WorkerTemplate} {
		for i := range pods.Spec.Containers {
			images[pods.Spec.Containers[i].Image] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(images)), ",")
}

// manifestOf is the set as it is now, with the template of an older revision.
func manifestOf(x *leaderworkerset.Explanation, number int64) (string, error) {
	var known []string
	for _, r := range x.Revisions {
		known = append(known, strconv.FormatInt(r.Revision, 10))
		if r.Revision == number {
			return render(x.Set, r)
		}
	}
	return "", fmt.Errorf("LeaderWorkerSet %s/%s has no revision %d; it has %s",
		x.Set.Namespace, x.Set.Name, number, strings.Join(known, ", "))
}

func render(set *lwsv1.LeaderWorkerSet, r *appsv1.ControllerRevision) (string, error) {
	stored, err := revision.Restore(r)
	if err != nil {
		return "", err
	}
	older := &lwsv1.LeaderWorkerSet{Spec: *set.Spec.DeepCopy()}
	older.SetGroupVersionKind(lwsv1.GroupVersion.WithKind(lwsv1.Kind))
	older.Name, older.Namespace, older.Labels = set.Name, set.Namespace, set.Labels
	older.Annotations = maps.Clone(set.Annotations)
	for _, key := range []string{
		corev1.LastAppliedConfigAnnotation, lwsv1.GroupRestartCountsAnnotationKey, lwsv1.GroupRestartLeadersAnnotationKey,
	} {
		delete(older.Annotations, key)
	}
	now := &set.Spec.LeaderWorkerTemplate
	older.Spec.NetworkConfig = &stored.NetworkConfig
	older.Spec.LeaderWorkerTemplate = stored.LeaderWorkerTemplate
	older.Spec.LeaderWorkerTemplate.RestartPolicy = now.RestartPolicy
	older.Spec.LeaderWorkerTemplate.MaxGroupRestarts = now.MaxGroupRestarts
	older.Spec.LeaderWorkerTemplate.RestartBackoff = now.RestartBackoff
	older.Spec.LeaderWorkerTemplate.PersistentVolumeClaimRetentionPolicy = now.PersistentVolumeClaimRetentionPolicy

	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(older)
	if err != nil {
		return "", err
	}
	delete(content, "status")
	text, err := yaml.Marshal(content)
	return string(text), err
}
