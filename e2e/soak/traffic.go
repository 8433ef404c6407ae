package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
)

// traffic is what happens to sets. It remembers only which there are.
type traffic struct {
	client client.Client
	random *rand.Rand
	limit  int
	// exists has the names of sets that were created and not deleted.
	exists map[string]bool
	made   int
	counts map[string]int
}

func newTraffic(c client.Client, o options) *traffic {
	return &traffic{
		client: c, random: rand.New(rand.NewPCG(o.seed, 0)), limit: o.sets,
		exists: map[string]bool{}, counts: map[string]int{},
	}
}

// String says how often each operation was done.
func (t *traffic) String() string {
	parts := make([]string, 0, len(t.counts))
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, t.counts[name]))
	}
	return "traffic: " + strings.Join(parts, ", ")
}

// operate does one operation. What is lost to somebody else's write, or comes for a
// pod that is gone, is an operation too.
func (t *traffic) operate(ctx context.Context) error {
	name, do := t.draw()
	t.counts[name]++
	err := do(ctx)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// draw draws an operation: sets are made until there are enough, then mostly changed.
func (t *traffic) draw() (string, func(context.Context) error) {
	const all = 10
	n := t.random.IntN(all)
	switch {
	case len(t.exists) < max(t.limit/2, 1), n < 2 && len(t.exists) < t.limit:
		return "create", t.create
	case n < 4:
		return "scale", t.scale
	case n < 6:
		return "update", t.update
	case n < 9:
		return "fail", t.fail
	default:
		return "delete", t.delete
	}
}

// pick draws one of the sets that exist.
func (t *traffic) pick() client.ObjectKey {
	names := slices.Sorted(maps.Keys(t.exists))
	return client.ObjectKey{Namespace: namespaceName, Name: names[t.random.IntN(len(names))]}
}

func (t *traffic) create(ctx context.Context) error {
	const most = 3
	t.made++
	name := fmt.Sprintf("s%d", t.made)
	template := lwstest.PodTemplate("worker")
	template.Spec.TerminationGracePeriodSeconds = new(int64(1))
	set := lwstest.New(name).Namespace(namespaceName).WorkerTemplate(template).
		Replicas(t.number(most)).Size(t.number(most) + 1).Obj()
	if err := t.client.Create(ctx, set); err != nil {
		return err
	}
	t.exists[name] = true
	return nil
}

// number draws a number from 1 to a highest one.
func (t *traffic) number(highest int32) int32 { return 1 + t.random.Int32N(highest) }

func (t *traffic) scale(ctx context.Context) error {
	const most = 5
	return t.change(ctx, func(set *lwsv1.LeaderWorkerSet) { set.Spec.Replicas = new(t.random.Int32N(most)) })
}

func (t *traffic) update(ctx context.Context) error {
	const images = 5
	return t.change(ctx, func(set *lwsv1.LeaderWorkerSet) {
		set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = fmt.Sprintf("registry.k8s.io/pause:3.%d", t.number(images))
	})
}

func (t *traffic) change(ctx context.Context, change func(*lwsv1.LeaderWorkerSet)) error {
	set := &lwsv1.LeaderWorkerSet{}
	if err := t.client.Get(ctx, t.pick(), set); err != nil {
		return err
	}
	patch := client.MergeFrom(set.DeepCopy())
	change(set)
	return t.client.Patch(ctx, set, patch)
}

// fail loses a pod of a set.
func (t *traffic) fail(ctx context.Context) error {
	set := t.pick()
	var pods corev1.PodList
	err := t.client.List(ctx, &pods, client.InNamespace(set.Namespace), client.MatchingLabels{lwsv1.SetNameLabelKey: set.Name})
	if err != nil || len(pods.Items) == 0 {
		return err
	}
	return t.client.Delete(ctx, &pods.Items[t.random.IntN(len(pods.Items))], client.GracePeriodSeconds(0))
}

func (t *traffic) delete(ctx context.Context) error {
	key := t.pick()
	delete(t.exists, key.Name)
	return t.client.Delete(ctx, &lwsv1.LeaderWorkerSet{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}})
}
