package main

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
)

// phaseLimit bounds a phase; one that takes longer has failed.
const phaseLimit = 10 * time.Minute

// bystandersPhase is the one in which nothing happens to the set.
const bystandersPhase = "bystanders"

// phase is one thing that happens to the floor or the set: what starts it, and
// what is seen when it is over.
type phase struct {
	name  string
	start func(context.Context) error
	over  func(context.Context) (seen string, over bool, err error)
}

// stage is where the phases play.
type stage struct {
	shape  shape
	client client.Client
	world  *world
	// restart asks the node of a pod for one restart of its container.
	restart func(context.Context, *corev1.Pod) error
	// bystanders is how many StatefulSets, and pods, that are not ours there are at last.
	bystanders int
	// before are the leaders when the current phase began.
	before map[types.UID]string
}

func (s *stage) floorPhases() []phase {
	return []phase{
		{"floor create", s.createFloor, s.allReady(floorLabel)},
		{"floor delete", s.deleteFloor, s.floorGone},
	}
}

func (s *stage) setPhases() []phase {
	return []phase{
		{"bring-up", s.createSet, s.settled(0)},
		{"rollout", s.changeTemplate, s.settled(s.shape.Groups)},
		{"recovery of one group", s.failGroups(1), s.settled(1)},
		{"recovery of all groups", s.failGroups(s.shape.Groups), s.settled(s.shape.Groups)},
		{bystandersPhase, s.createBystanders, s.bystandersExist},
		{"delete", s.deleteSet, s.nothingLeft(lwsv1.SetNameLabelKey)},
	}
}

func (s *stage) createFloor(ctx context.Context) error {
	if err := s.client.Create(ctx, floorService()); err != nil {
		return err
	}
	return s.each(ctx, s.shape.floor(), func(ctx context.Context, set *appsv1.StatefulSet) error {
		return s.client.Create(ctx, set)
	})
}

func (s *stage) deleteFloor(ctx context.Context) error {
	return s.each(ctx, s.shape.floor(), func(ctx context.Context, set *appsv1.StatefulSet) error {
		return s.client.Delete(ctx, set, client.PropagationPolicy(metav1.DeletePropagationBackground))
	})
}

// floorGone: the Service stays until its pods are gone, as that of a set does in a
// rollout, which is measured against the floor.
func (s *stage) floorGone(ctx context.Context) (seen string, over bool, err error) {
	seen, over, err = s.nothingLeft(floorLabel)(ctx)
	if err != nil || !over {
		return seen, false, err
	}
	return seen, true, s.client.Delete(ctx, floorService())
}

func (s *stage) each(ctx context.Context, sets []*appsv1.StatefulSet, do func(context.Context, *appsv1.StatefulSet) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(10)
	for _, set := range sets {
		group.Go(func() error { return do(ctx, set) })
	}
	return group.Wait()
}

func (s *stage) createSet(ctx context.Context) error { return s.client.Create(ctx, s.shape.set()) }

func (s *stage) deleteSet(ctx context.Context) error {
	return s.client.Delete(ctx, s.shape.set(), client.PropagationPolicy(metav1.DeletePropagationBackground))
}

func (s *stage) changeTemplate(ctx context.Context) error {
	var set lwsv1.LeaderWorkerSet
	if err := s.client.Get(ctx, client.ObjectKeyFromObject(s.shape.set()), &set); err != nil {
		return err
	}
	changed := set.DeepCopy()
	changed.Spec.LeaderWorkerTemplate.WorkerTemplate.Spec.Containers[0].Env[0].Value = "2"
	return s.client.Patch(ctx, changed, client.MergeFrom(&set))
}

// failGroups restarts a container of the last worker of so many groups at once.
func (s *stage) failGroups(groups int) func(context.Context) error {
	return func(ctx context.Context) error {
		var list corev1.PodList
		err := s.world.cache.List(ctx, &list, client.InNamespace(namespace),
			client.MatchingLabels{lwsv1.WorkerIndexLabelKey: strconv.Itoa(s.shape.Size - 1)})
		if err != nil {
			return err
		}
		if len(list.Items) != s.shape.Groups {
			return fmt.Errorf("%d last workers, one for each of %d groups expected", len(list.Items), s.shape.Groups)
		}
		failing, ctx := errgroup.WithContext(ctx)
		failing.SetLimit(10)
		for _, pod := range list.Items[:groups] {
			failing.Go(func() error { return s.restart(ctx, &pod) })
		}
		return failing.Wait()
	}
}

func (s *stage) allReady(label string) func(context.Context) (string, bool, error) {
	return func(ctx context.Context) (string, bool, error) {
		found, err := s.world.pods(ctx, label)
		seen := fmt.Sprintf("%d of %d pods ready", len(found.ready), s.shape.pods())
		return seen, len(found.ready) == s.shape.pods(), err
	}
}

func (s *stage) nothingLeft(label string) func(context.Context) (string, bool, error) {
	return func(ctx context.Context) (string, bool, error) {
		found, err := s.world.pods(ctx, label)
		return fmt.Sprintf("%d pods left", len(found.all)), len(found.all) == 0, err
	}
}

// settled is over when every pod is ready, the set says so, and exactly so many
// leaders were replaced.
func (s *stage) settled(replaced int) func(context.Context) (string, bool, error) {
	return func(ctx context.Context) (string, bool, error) {
		found, err := s.world.pods(ctx, lwsv1.SetNameLabelKey)
		if err != nil {
			return "", false, err
		}
		stayed := maps.Clone(found.leaders)
		maps.DeleteFunc(stayed, func(uid types.UID, _ string) bool { return s.before[uid] == "" })
		gone := len(s.before) - len(stayed)
		seen := fmt.Sprintf("%d of %d pods ready, %d of %d leaders replaced", len(found.ready), s.shape.pods(), gone, replaced)
		if len(found.ready) != s.shape.pods() || len(found.all) != s.shape.pods() || gone < replaced {
			return seen, false, nil
		}
		if gone > replaced {
			return "", false, fmt.Errorf("%d leaders were replaced where %d had to be", gone, replaced)
		}
		status, holds, err := s.world.settled(ctx, s.shape.Groups)
		return seen + "; " + status, holds, err
	}
}

// rememberLeaders notes the leaders before a phase.
func (s *stage) rememberLeaders(ctx context.Context) error {
	found, err := s.world.pods(ctx, lwsv1.SetNameLabelKey)
	s.before = found.leaders
	return err
}
