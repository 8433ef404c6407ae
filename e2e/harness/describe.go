package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// logTail is how much of a manager's log a description shows.
const logTail = 6 << 10

// Describe tells what there is in a namespace, what happened there, and the end of
// the managers' logs, for the report of a failure.
func (e *Environment) Describe(ctx context.Context, o *Observer) string {
	text := &strings.Builder{}
	history := o.History()
	for _, name := range history.SetNames() {
		e.describeSet(text, o, history, name)
	}
	history.describeDisaggregatedSets(text)
	history.describeLives(text)
	e.describeObjects(ctx, text, o.namespace)
	found, err := logs(e.Cluster, logTail)
	if err != nil {
		fmt.Fprintf(text, "logs: %v\n", err)
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintf(text, "\n… %s\n%s\n", path, found[path])
	}
	return text.String()
}

// SetNames are those of all sets that were ever seen.
func (h History) SetNames() []string {
	names := map[string]bool{}
	for _, state := range h.Sets {
		names[state.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func (e *Environment) describeSet(text *strings.Builder, o *Observer, history History, name string) {
	fmt.Fprintf(text, "\nset %s\n", name)
	if set := o.Set(name); set != nil {
		set = set.DeepCopy()
		set.ManagedFields = nil
		out, err := yaml.Marshal(set)
		fmt.Fprintf(text, "%s", out)
		if err != nil {
			fmt.Fprintf(text, "%v\n", err)
		}
	}
	fmt.Fprintf(text, "its conditions, as they went\n")
	last := ""
	for _, state := range history.OfSet(name) {
		line := conditionsLine(state)
		if line != last {
			fmt.Fprintf(text, "  %s %s\n", state.At.Format("15:04:05.000"), line)
		}
		last = line
	}
	fmt.Fprintf(text, "its events\n")
	for _, event := range history.EventsOf(name) {
		fmt.Fprintf(text, "  %s %s %s ×%d %s\n", event.At.Format("15:04:05.000"), event.Type, event.Reason, event.Count, event.Message)
	}
}

// describeLives tells when pods and StatefulSets began to end and went, as resource
// versions.
func (h History) describeLives(text *strings.Builder) {
	line := func(kind, name string, uid types.UID, isGone bool, version uint64) {
		what := "ends"
		if isGone {
			what = "is gone"
		}
		fmt.Fprintf(text, "%s %s (%s) %s at %d\n", kind, name, uid, what, version)
	}
	ending := map[types.UID]bool{}
	for _, pod := range h.Pods {
		if pod.Gone || pod.Ending && !ending[pod.UID] {
			line("pod", pod.Name, pod.UID, pod.Gone, pod.Version)
		}
		ending[pod.UID] = pod.Ending
	}
	for _, set := range h.StatefulSets {
		if set.Gone || set.Ending && !ending[set.UID] {
			line("StatefulSet", set.Name, set.UID, set.Gone, set.Version)
		}
		ending[set.UID] = set.Ending
	}
}

func conditionsLine(state SetState) string {
	parts := []string{fmt.Sprintf("generation %d/%d, %d existing %d ready %d updated",
		state.Status.ObservedGeneration, state.Generation,
		state.Status.Replicas, state.Status.ReadyReplicas, state.Status.UpdatedReplicas)}
	for _, c := range state.Status.Conditions {
		parts = append(parts, fmt.Sprintf("%s=%s (%s)", c.Type, c.Status, c.Reason))
	}
	if state.Gone {
		parts = append(parts, "gone")
	}
	return strings.Join(parts, ", ")
}

func (e *Environment) describeObjects(ctx context.Context, text *strings.Builder, namespace string) {
	var sets appsv1.StatefulSetList
	if err := e.Client.List(ctx, &sets, client.InNamespace(namespace)); err != nil {
		fmt.Fprintf(text, "StatefulSets: %v\n", err)
	}
	for _, set := range sets.Items {
		fmt.Fprintf(text, "StatefulSet %s: %d wanted, %d exist, %d ready, %d updated, strategy %s, deletion %v\n", set.Name,
			ptrOr(set.Spec.Replicas, 1), set.Status.Replicas, set.Status.ReadyReplicas, set.Status.UpdatedReplicas,
			set.Spec.UpdateStrategy.String(), set.DeletionTimestamp)
	}
	var pods corev1.PodList
	if err := e.Client.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		fmt.Fprintf(text, "pods: %v\n", err)
	}
	for _, pod := range pods.Items {
		state := newPodState(&pod, false)
		fmt.Fprintf(text, "pod %s: %s on %q, revision %s, ready %v, ending %v, gated %v\n",
			pod.Name, state.Phase, state.Node, state.Revision, state.Ready, state.Ending, state.Gated)
	}
	var events corev1.EventList
	if err := e.Client.List(ctx, &events, client.InNamespace(namespace)); err != nil {
		fmt.Fprintf(text, "events: %v\n", err)
	}
	for _, event := range events.Items {
		if event.Type == corev1.EventTypeWarning {
			fmt.Fprintf(text, "event about %s %s: %s %s\n", event.InvolvedObject.Kind, event.InvolvedObject.Name, event.Reason, event.Message)
		}
	}
}

func ptrOr(value *int32, absent int32) int32 {
	if value == nil {
		return absent
	}
	return *value
}
