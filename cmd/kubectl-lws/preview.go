package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/controllers/leaderworkerset"
	"sigs.k8s.io/lws/controllers/leaderworkerset/rollout"
)

func newPreview(o *options) *cobra.Command {
	file := ""
	command := &cobra.Command{
		Use:   "preview -f FILE",
		Short: "Say what applying a manifest would do to the groups of a set",
		Long: "Say whether applying a manifest would be a rollout, which groups it would replace in which order, and how\n" +
			"many groups are ready at least and exist at most meanwhile, if every group that is made becomes ready.\n\n" +
			"Nothing is written. The manifest is merged with what there is as kubectl apply does it.",
		Example: "  kubectl lws preview -f vllm.yaml\n  kustomize build . | kubectl lws preview -f -",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			manifests, err := o.readManifests(file)
			if err != nil {
				return err
			}
			for _, manifest := range manifests {
				if err := o.preview(command.Context(), manifest); err != nil {
					return err
				}
			}
			return nil
		},
	}
	command.Flags().StringVarP(&file, "filename", "f", "", "file with the manifest, - for standard input")
	if err := command.MarkFlagRequired("filename"); err != nil {
		panic(err) // the flag is there
	}
	return command
}

// manifest is a set as a file has it.
type manifest struct {
	namespace, name string
	data            []byte // JSON
}

// readManifests reads the sets of a file, and passes over what else is in it.
func (o *options) readManifests(file string) ([]manifest, error) {
	in := o.in
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer opened.Close()
		in = opened
	}
	manifests, err := decodeManifests(in)
	if err == nil && len(manifests) == 0 {
		err = fmt.Errorf("no %s of %s in it", lwsv1.Kind, lwsv1.GroupVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", file, err)
	}
	return manifests, nil
}

func decodeManifests(in io.Reader) ([]manifest, error) {
	const buffer = 4096
	var found []manifest
	for decoder := utilyaml.NewYAMLOrJSONDecoder(in, buffer); ; {
		var raw runtime.RawExtension
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		if len(raw.Raw) == 0 || string(raw.Raw) == "null" {
			continue
		}
		var head metav1.PartialObjectMetadata
		if err := json.Unmarshal(raw.Raw, &head); err != nil {
			return nil, err
		}
		if head.GroupVersionKind() == lwsv1.GroupVersion.WithKind(lwsv1.Kind) {
			found = append(found, manifest{head.Namespace, head.Name, raw.Raw})
		}
	}
}

func (o *options) preview(ctx context.Context, m manifest) error {
	seen, err := o.look(ctx, m.name, m.namespace)
	if apierrors.IsNotFound(err) {
		_, err = fmt.Fprintf(o.out, "LeaderWorkerSet %s does not exist: applying the manifest makes it, and replaces nothing\n", m.name)
		return err
	}
	if err != nil {
		return err
	}
	changed, err := merge(seen.set, m.data)
	if err != nil {
		return fmt.Errorf("manifest of LeaderWorkerSet %s: %w", m.name, err)
	}
	p, err := seen.explainer.Preview(ctx, seen.set, changed)
	if err != nil {
		return err
	}
	return writePreview(o.out, changed, p)
}

// merge is the set as kubectl apply would make it of what there is: what the manifest
// says, without what the manifest before it said and this one does not.
func merge(live *lwsv1.LeaderWorkerSet, manifest []byte) (*lwsv1.LeaderWorkerSet, error) {
	if err := yaml.UnmarshalStrict(manifest, &lwsv1.LeaderWorkerSet{}); err != nil {
		return nil, err // a field that there is not
	}
	current, err := json.Marshal(live)
	if err != nil {
		return nil, err
	}
	before := []byte(live.Annotations[corev1.LastAppliedConfigAnnotation])
	if len(before) == 0 {
		before = manifest
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(before, manifest, current)
	if err != nil {
		return nil, err
	}
	merged, err := jsonpatch.MergePatch(current, patch)
	if err != nil {
		return nil, err
	}
	changed := &lwsv1.LeaderWorkerSet{}
	if err := json.Unmarshal(merged, changed); err != nil {
		return nil, err
	}
	if was, is := lwsv1.GroupIdentity(live), lwsv1.GroupIdentity(changed); was != is {
		return nil, fmt.Errorf("spec.groupIdentity cannot change from %s to %s: make a set of another name", was, is)
	}
	// What is not the user's is as it is; a manifest need not have the namespace.
	labels, annotations := changed.Labels, changed.Annotations
	changed.Status, changed.ObjectMeta = live.Status, *live.ObjectMeta.DeepCopy()
	changed.Labels, changed.Annotations = labels, annotations
	changed.Generation++ // the status is not of this spec
	return changed, nil
}

func writePreview(out io.Writer, set *lwsv1.LeaderWorkerSet, p *leaderworkerset.Preview) error {
	fmt.Fprintf(out, "LeaderWorkerSet %s/%s: %s\n", set.Namespace, set.Name, headline(p))
	switch {
	case p.Course != nil:
		return writeCourse(out, set, p)
	case p.Replaces:
		return writeOld(out, set, p)
	}
	return nil
}

// writeCourse is about numbered groups, which the manager's planner replaces.
func writeCourse(out io.Writer, set *lwsv1.LeaderWorkerSet, p *leaderworkerset.Preview) error {
	if len(p.Course.Steps) == 0 && p.From != p.To {
		fmt.Fprintf(out, "No group is replaced: the partition is %d, of %s\n", lwsv1.Partition(set), plural(int(lwsv1.Replicas(set)), "group"))
	}
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	if len(p.Course.Steps) > 0 {
		fmt.Fprintln(table, "STEP\tGROUPS\tREADY\tEXISTING")
	}
	for i := range p.Course.Steps {
		s := &p.Course.Steps[i]
		fmt.Fprintf(table, "%d\t%s\t%d\t%d\n", i+1, stepText(s), s.Ready, s.Existing)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(p.Course.Steps) > 0 {
		fmt.Fprintf(out, "Lowest ready %d, highest existing %d; replicas %d, maxUnavailable %d, maxSurge %d, partition %d\n",
			p.Course.LowestReady, p.Course.HighestExisting, lwsv1.Replicas(set), p.Budget.MaxUnavailable, p.Budget.MaxSurge, lwsv1.Partition(set))
	}
	if p.Course.End.Phase != rollout.Done {
		fmt.Fprintf(out, "Then it waits: %s\n", p.Course.End.Message)
	}
	return nil
}

// headline says whether it is a rollout.
func headline(p *leaderworkerset.Preview) string {
	switch {
	case p.IsNew:
		return fmt.Sprintf("a rollout from revision %s to a new one, %s (number %d)", p.From, p.To, p.Number)
	case p.From != p.To:
		return fmt.Sprintf("a rollout from revision %s back to %s (then number %d)", p.From, p.To, p.Number)
	case p.Replaces:
		return fmt.Sprintf("no new rollout, the manifest means the same as revision %s; the rollout to it goes on", p.To)
	}
	return fmt.Sprintf("no rollout, the manifest means the same as revision %s (number %d); no group is replaced", p.To, p.Number)
}

// writeOld is about groups with keys, which a Deployment replaces in an order of its own.
func writeOld(out io.Writer, set *lwsv1.LeaderWorkerSet, p *leaderworkerset.Preview) error {
	keys := make([]string, 0, len(p.Old))
	for _, key := range p.Old {
		keys = append(keys, shortIndex(key))
	}
	replicas := lwsv1.Replicas(set)
	_, err := fmt.Fprintf(out, "Deployment %s replaces %s in an order of its own: %s\n"+
		"Lowest ready %d, highest existing %d, beside groups that terminate; replicas %d, maxUnavailable %d, maxSurge %d\n",
		set.Name, plural(len(keys), "group"), strings.Join(keys, " "),
		min(p.Ready, replicas-p.Budget.MaxUnavailable), replicas+p.Budget.MaxSurge, replicas, p.Budget.MaxUnavailable, p.Budget.MaxSurge)
	return err
}

func stepText(s *rollout.Step) string {
	var parts []string
	var replaced, broken, wrong []int
	for _, d := range s.Replace {
		switch d.Cause {
		case rollout.OutdatedBroken:
			broken = append(broken, d.Index)
		case rollout.WrongRevision:
			wrong = append(wrong, d.Index)
		case rollout.Outdated:
			replaced = append(replaced, d.Index)
		}
	}
	for _, of := range []struct {
		verb    string
		indices []int
	}{
		{"replace the not ready", broken},
		{"replace", replaced},
		{"replace the gated", wrong},
		{"replace the exhausted", s.Release},
		{"add", s.Add},
		{"remove", s.Remove},
	} {
		if len(of.indices) > 0 {
			parts = append(parts, of.verb+" "+strings.Trim(fmt.Sprint(of.indices), "[]"))
		}
	}
	return strings.Join(parts, ", ")
}
