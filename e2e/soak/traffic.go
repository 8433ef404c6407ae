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
	// plain are LeaderWorkerSets, split are DisaggregatedSets.
	plain, split *population
	counts       map[string]int
}

// population are the sets of a kind.
type population struct {
	limit int
	// exists has the names of sets that were created and not deleted.
	exists map[string]bool
	made   int
}

func newPopulation(limit int) *population {
	return &population{limit: limit, exists: map[string]bool{}}
}

// wants says whether another set is made: always until there are enough, and then
// as often as it is drawn.
func (p *population) wants(isDrawn bool) bool {
	return len(p.exists) < max(p.limit/2, 1) || isDrawn && len(p.exists) < p.limit
}

// add names a set that is to be made.
func (p *population) add(prefix string) string {
	p.made++
	return fmt.Sprintf("%s%d", prefix, p.made)
}

func newTraffic(c client.Client, o options) *traffic {
	return &traffic{
		client: c, random: rand.New(rand.NewPCG(o.seed, 0)), counts: map[string]int{},
		plain: newPopulation(o.sets - o.split), split: newPopulation(o.split),
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

// draw draws an operation: each kind of set has its share of them.
func (t *traffic) draw() (string, func(context.Context) error) {
	if t.random.IntN(t.plain.limit+t.split.limit) < t.split.limit {
		return t.drawSplit()
	}
	const all = 10
	n := t.random.IntN(all)
	switch {
	case t.plain.wants(n < 2):
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
func (t *traffic) pick(of *population) client.ObjectKey {
	names := slices.Sorted(maps.Keys(of.exists))
	return client.ObjectKey{Namespace: namespaceName, Name: names[t.random.IntN(len(names))]}
}

func (t *traffic) create(ctx context.Context) error {
	const most = 3
	name := t.plain.add("s")
	set := lwstest.New(name).Namespace(namespaceName).WorkerTemplate(podTemplate()).
		Replicas(t.number(most)).Size(t.number(most) + 1).Obj()
	if err := t.client.Create(ctx, set); err != nil {
		return err
	}
	t.plain.exists[name] = true
	return nil
}

func podTemplate() corev1.PodTemplateSpec {
	template := lwstest.PodTemplate("worker")
	template.Spec.TerminationGracePeriodSeconds = new(int64(1))
	return template
}

// number draws a number from 1 to a highest one.
func (t *traffic) number(highest int32) int32 { return 1 + t.random.Int32N(highest) }

func (t *traffic) scale(ctx context.Context) error {
	const most = 5
	return t.change(ctx, func(set *lwsv1.LeaderWorkerSet) { set.Spec.Replicas = new(t.random.Int32N(most)) })
}

func (t *traffic) update(ctx context.Context) error {
	image := t.image()
	return t.change(ctx, func(set *lwsv1.LeaderWorkerSet) {
		set.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Image = image
	})
}

func (t *traffic) image() string {
	const images = 5
	return fmt.Sprintf("registry.k8s.io/pause:3.%d", t.number(images))
}

func (t *traffic) change(ctx context.Context, change func(*lwsv1.LeaderWorkerSet)) error {
	set := &lwsv1.LeaderWorkerSet{}
	if err := t.client.Get(ctx, t.pick(t.plain), set); err != nil {
		return err
	}
	patch := client.MergeFrom(set.DeepCopy())
	change(set)
	return t.client.Patch(ctx, set, patch)
}

func (t *traffic) fail(ctx context.Context) error {
	return t.failPod(ctx, client.MatchingLabels{lwsv1.SetNameLabelKey: t.pick(t.plain).Name})
}

// failPod loses a pod of a set.
func (t *traffic) failPod(ctx context.Context, set client.MatchingLabels) error {
	var pods corev1.PodList
	err := t.client.List(ctx, &pods, client.InNamespace(namespaceName), set)
	if err != nil || len(pods.Items) == 0 {
		return err
	}
	return t.client.Delete(ctx, &pods.Items[t.random.IntN(len(pods.Items))], client.GracePeriodSeconds(0))
}

func (t *traffic) delete(ctx context.Context) error {
	key := t.pick(t.plain)
	delete(t.plain.exists, key.Name)
	return t.client.Delete(ctx, &lwsv1.LeaderWorkerSet{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}})
}
