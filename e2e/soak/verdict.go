package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dsv1 "sigs.k8s.io/lws/apis/disaggregatedset/v1"
	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

const namespaceName = "soak"

// settle waits until nothing is wrong any more, and otherwise says what is.
func (t *traffic) settle(ctx context.Context, patience time.Duration) error {
	var wrong []string
	err := wait.PollUntilContextTimeout(ctx, time.Second, patience, true, func(ctx context.Context) (bool, error) {
		var err error
		wrong, err = t.wrong(ctx)
		return len(wrong) == 0, err
	})
	if len(wrong) > 0 {
		return fmt.Errorf("%s after the traffic ended:\n%s", patience, strings.Join(wrong, "\n"))
	}
	return err
}

// world is what there is in the namespace.
type world struct {
	sets   []lwsv1.LeaderWorkerSet
	splits []dsv1.DisaggregatedSet
	// scalers are the replicas that they ask for, by name.
	scalers map[string]int32
	// labelled has the names that labels tell of what is there, those of the sets that
	// made it.
	labelled []labelled
}

// Kinds, as the beginning of what an object is called here.
const (
	kindSet     = "LeaderWorkerSet "
	kindScaler  = "DisaggregatedSetRoleScaler "
	kindService = "Service "
)

// labelled is an object with the name of a set in a label.
type labelled struct {
	object string
	// set and split are the names of a LeaderWorkerSet and of a DisaggregatedSet.
	set, split string
}

// wrong are the sets that are not as they are to be, and the leftovers.
func (t *traffic) wrong(ctx context.Context) ([]string, error) {
	w, err := t.look(ctx)
	if err != nil {
		return nil, err
	}
	revisions, err := t.tooManyRevisions(ctx)
	return append(t.judge(w), revisions...), err
}

func (t *traffic) judge(w *world) []string {
	found := slices.Concat(t.wrongSets(w), t.wrongSplits(w), t.leftovers(w))
	slices.Sort(found)
	return found
}

func (t *traffic) look(ctx context.Context) (*world, error) {
	var sets lwsv1.LeaderWorkerSetList
	var splits dsv1.DisaggregatedSetList
	for _, list := range []client.ObjectList{&sets, &splits} {
		if err := t.client.List(ctx, list, client.InNamespace(namespaceName)); err != nil {
			return nil, err
		}
	}
	w := &world{sets: sets.Items, splits: splits.Items, scalers: map[string]int32{}}
	var scalers dsv1.DisaggregatedSetRoleScalerList
	for kind, list := range map[string]client.ObjectList{
		"Pod ": &corev1.PodList{}, "StatefulSet ": &appsv1.StatefulSetList{}, "ControllerRevision ": &appsv1.ControllerRevisionList{},
		kindService: &corev1.ServiceList{}, kindSet: &lwsv1.LeaderWorkerSetList{}, kindScaler: &scalers,
	} {
		if err := t.client.List(ctx, list, client.InNamespace(namespaceName)); err != nil {
			return nil, err
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object, err := meta.Accessor(item)
			if err == nil {
				labels := object.GetLabels()
				w.labelled = append(w.labelled, labelled{kind + object.GetName(), labels[lwsv1.SetNameLabelKey], labels[dsv1.SetNameLabelKey]})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for i := range scalers.Items {
		w.scalers[scalers.Items[i].Name] = dsv1.ScalerReplicas(&scalers.Items[i])
	}
	return w, nil
}

// availability is empty for a set that is Available as it was last asked to be.
func availability(conditions []metav1.Condition, generation int64) string {
	c := meta.FindStatusCondition(conditions, lwsv1.ConditionAvailable)
	switch {
	case c == nil || c.ObservedGeneration != generation:
		return "was not looked at"
	case c.Status != metav1.ConditionTrue:
		return "is not Available: " + c.Message
	}
	return ""
}

func (t *traffic) wrongSets(w *world) []string {
	var found []string
	users := 0
	for i := range w.sets {
		set := &w.sets[i]
		if text := availability(set.Status.Conditions, set.Generation); text != "" {
			found = append(found, "set "+set.Name+" "+text)
		}
		if set.Labels[dsv1.SetNameLabelKey] != "" {
			continue
		}
		users++
		if !t.plain.exists[set.Name] {
			found = append(found, "set "+set.Name+" was deleted and is there")
		}
	}
	if users != len(t.plain.exists) {
		found = append(found, fmt.Sprintf("%d sets, %d were to be there", users, len(t.plain.exists)))
	}
	return found
}

// leftovers are the objects that labels give to a set that does not exist.
func (t *traffic) leftovers(w *world) []string {
	sets := map[string]bool{}
	for i := range w.sets {
		sets[w.sets[i].Name] = true
	}
	var found []string
	for _, l := range w.labelled {
		if l.set != "" && !sets[l.set] || l.split != "" && !t.split.exists[l.split] {
			found = append(found, l.object+" is left over")
		}
	}
	return found
}

// tooManyRevisions: of each set the ten newest are kept.
func (t *traffic) tooManyRevisions(ctx context.Context) ([]string, error) {
	const kept = 10
	var revisions appsv1.ControllerRevisionList
	if err := t.client.List(ctx, &revisions, client.InNamespace(namespaceName)); err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for i := range revisions.Items {
		if owner := metav1.GetControllerOf(&revisions.Items[i]); owner != nil && owner.Kind == lwsv1.Kind {
			counts[owner.Name]++
		}
	}
	var found []string
	for set, count := range counts {
		if count > kept {
			found = append(found, fmt.Sprintf("set %s has %d revisions", set, count))
		}
	}
	return found, nil
}
