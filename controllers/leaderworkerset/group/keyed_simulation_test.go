package group

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
)

// The simulation with Hash identity: a ReplicaSet makes leaders of other keys.

func hashed(more func(*lwstest.Builder)) func(*lwstest.Builder) {
	return func(b *lwstest.Builder) {
		b.Hash()
		more(b)
	}
}

// makeDeployment makes the leader Deployment with its ReplicaSet.
func (s *simulation) makeDeployment(set *lwsv1.LeaderWorkerSet, key string) {
	replicas := int32(simGroups)
	template := *podspec.LeaderPodTemplate(podspec.Revision{
		Set: "x", Key: key, Template: &set.Spec.LeaderWorkerTemplate, Hash: true,
	})
	leaders := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "x", Labels: identity.LeaderStatefulSetLabels("x", key),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, setKind)},
		},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas},
	}
	s.must(s.create(leaders))
	s.must(s.create(&appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "x-rs", Labels: template.Labels,
			OwnerReferences: []metav1.OwnerReference{controllerReference("apps/v1", "Deployment", "x", leaders.UID)},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Template: template},
	}))
}

// makeKeyedLeader is a step of the ReplicaSet controller and the pod webhook: pods that
// are being deleted or have ended do not count.
func (s *simulation) makeKeyedLeader() bool {
	for _, set := range liveOnes[*appsv1.ReplicaSet](s.model) {
		standing := int32(0)
		for _, p := range liveOnes[*corev1.Pod](s.model) {
			if !isGoing(p) && controllerOf(p).UID == set.UID {
				standing++
			}
		}
		if standing >= *set.Spec.Replicas {
			continue
		}
		s.drawn++
		p := &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: *set.Spec.Template.Spec.DeepCopy()}
		p.Namespace, p.Name = "ns", fmt.Sprintf("x-rs-%d", s.drawn)
		p.OwnerReferences = []metav1.OwnerReference{controllerReference("apps/v1", kindReplicaSet, set.Name, set.UID)}
		p.Status.Phase = corev1.PodPending
		if s.short > 0 {
			// A pod that has its key keeps it.
			p.Labels[lwsv1.GroupKeyLabelKey] = fmt.Sprintf("%08x%032x", s.rng.IntN(s.short), s.drawn)
		}
		s.must(podspec.AdmitLeader(p, podspec.HashLeader(p, fmt.Sprint(s.drawn)), lwsv1.SequentialPodTermination))
		s.must(s.create(p))
		s.note("%s makes %s of %s", set.UID, p.UID, groupNameOf(p))
		return true
	}
	return false
}

// countReady is a step of the StatefulSet controller: it says how many pods run.
func (s *simulation) countReady(set *appsv1.StatefulSet) bool {
	if _, ok := identity.GroupOfWorkerStatefulSet(set); !ok || set.Labels[lwsv1.GroupKeyLabelKey] != set.Labels[lwsv1.GroupIndexLabelKey] {
		return false
	}
	available := int32(0)
	for _, p := range liveOnes[*corev1.Pod](s.model) {
		if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil && controllerOf(p).UID == set.UID {
			available++
		}
	}
	if available == set.Status.AvailableReplicas && set.Status.ObservedGeneration == set.Generation {
		return false
	}
	s.update(set, func(obj client.Object) {
		status := &obj.(*appsv1.StatefulSet).Status
		status.AvailableReplicas, status.ObservedGeneration = available, set.Generation
	})
	return true
}

// moveCounts is what the reconciler of sets does with counts of groups that are replaced.
func (s *simulation) moveCounts(counts *Counts) bool {
	moved := false
	stays := map[string]bool{}
	leaders := liveOnes[*corev1.Pod](s.model)
	for _, p := range leaders {
		if IsExhausted(p) || p.DeletionTimestamp == nil {
			stays[p.Labels[lwsv1.GroupIndexLabelKey]] = true
		}
	}
	for _, p := range leaders {
		replaced, ok := identity.ReplacedBy(p)
		if !ok || p.DeletionTimestamp != nil || stays[replaced.Index] {
			continue
		}
		revision := p.Labels[lwsv1.RevisionLabelKey]
		moved = counts.Move(Entry{revision, replaced.Index}, Entry{revision, p.Labels[lwsv1.GroupIndexLabelKey]}) || moved
	}
	return moved
}

// expectGroupReady checks that a leader with workers carries the readiness of its group.
func (s *simulation) expectGroupReady(p *corev1.Pod) {
	if len(p.Spec.ReadinessGates) > 0 && !isConditionTrue(p, lwsv1.GroupReadyReadinessGate) {
		s.fail("%s is not ready as a group", p.UID)
	}
}

// Status writes the conditions of pods.
func (c modelClient) Status() client.SubResourceWriter { return modelStatus{modelClient: c} }

type modelStatus struct {
	client.SubResourceWriter
	modelClient
}

func (c modelStatus) Create(context.Context, client.Object, client.Object, ...client.SubResourceCreateOption) error {
	return fmt.Errorf("not used")
}

func (c modelStatus) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	return fmt.Errorf("not used")
}

func (c modelStatus) Update(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	return fmt.Errorf("not used")
}

func (c modelStatus) Apply(_ context.Context, config runtime.ApplyConfiguration, _ ...client.SubResourceApplyOption) error {
	encoded, err := json.Marshal(config)
	if err != nil {
		return err
	}
	desired := &corev1.Pod{}
	if err := json.Unmarshal(encoded, desired); err != nil {
		return err
	}
	if err := c.onWrite("condition", desired); err != nil {
		return err
	}
	live, found := c.live[modelKey("Pod", desired.Name)]
	resource := schema.GroupResource{Resource: "Pod"}
	switch {
	case !found:
		return apierrors.NewNotFound(resource, desired.Name)
	case live.GetUID() != desired.UID:
		return apierrors.NewConflict(resource, desired.Name, fmt.Errorf("another UID"))
	}
	c.update(live, func(obj client.Object) {
		p := obj.(*corev1.Pod)
		p.Status.Conditions = slices.DeleteFunc(p.Status.Conditions, func(condition corev1.PodCondition) bool {
			return condition.Type == lwsv1.GroupReadyReadinessGate
		})
		p.Status.Conditions = append(p.Status.Conditions, desired.Status.Conditions...)
	})
	return nil
}

// Whatever happens to keyed groups, each is replaced once, by a leader that waited until
// nothing was left of it, and with its count.
func TestOneFailureOneReplacement(t *testing.T) {
	for name, build := range map[string]func(*lwstest.Builder){
		"plain":       func(*lwstest.Builder) {},
		"counted":     func(b *lwstest.Builder) { b.MaxGroupRestarts(1000) },
		"after start": func(b *lwstest.Builder) { b.RestartPolicy(lwsv1.RecreateGroupAfterStart) },
		"backoff":     func(b *lwstest.Builder) { b.RestartBackoff(20, 40) },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(25) {
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					s := newSimulation(t, seed, hashed(build))
					s.run(4, int(seed%4))
					s.expectRest()
					s.expectCounts()
				})
			}
		})
	}
}

// However few names there are, no two groups ever have the same one, nor an object of
// each other.
func TestKeysWithTheSameName(t *testing.T) {
	redrawn := 0
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newSimulation(t, seed, hashed(func(*lwstest.Builder) {}))
			s.short = simGroups + 1
			s.run(4, int(seed%4))
			s.expectRest()
			names := map[string]bool{}
			for _, p := range liveOnes[*corev1.Pod](s.model) {
				if identity.IsLeader(p) {
					names[groupNameOf(p)] = true
				}
			}
			if len(names) != simGroups {
				s.fail("the groups are called %v", slices.Sorted(maps.Keys(names)))
			}
			redrawn += s.redrawn
		})
	}
	if redrawn < 60 {
		t.Errorf("only %d leaders were drawn again: the test shows little", redrawn)
	}
}

// With a budget a keyed group stops, its replacement waits, and goes on when the group
// is recovered.
func TestKeyedExhaustionAndRecovery(t *testing.T) {
	stops := 0
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newSimulation(t, seed, hashed(func(b *lwstest.Builder) { b.MaxGroupRestarts(int32(seed % 2)) }))
			s.run(6, int(seed%4))
			stopped, waiting := 0, 0
			for _, p := range liveOnes[*corev1.Pod](s.model) {
				switch {
				case IsExhausted(p):
					stopped++
					if p.DeletionTimestamp == nil || s.isRunning(p) {
						s.fail("%s is not stopped", p.UID)
					}
				case IsGated(p):
					waiting++
				}
			}
			if stopped != waiting {
				s.fail("%d groups are stopped and %d leaders wait", stopped, waiting)
			}
			stops += stopped
			s.recoverAll()
			s.run(0, 2)
			s.expectRest()
			for _, p := range liveOnes[*corev1.Pod](s.model) {
				if IsRetained(p) || IsExhausted(p) {
					s.fail("something of the stop is left on %s", p.UID)
				}
			}
		})
	}
	if stops < 20 {
		t.Errorf("only %d groups stopped: the test shows little", stops)
	}
}

// The count of a group is that of all it replaced, and nothing is remembered of what is
// gone.
func TestCountsFollowPairs(t *testing.T) {
	const failures = 5
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newSimulation(t, seed, hashed(func(b *lwstest.Builder) { b.Replicas(1).MaxGroupRestarts(1000) }))
			for range failures {
				s.run(0, int(seed%3))
				for _, p := range liveOnes[*corev1.Pod](s.model) {
					if !identity.IsLeader(p) || s.disturbed[p.UID] != "" {
						continue
					}
					s.disturbed[p.UID] = "container"
					s.update(p, func(obj client.Object) {
						obj.(*corev1.Pod).Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", RestartCount: 1}}
					})
				}
			}
			s.run(0, int(seed%3))
			s.expectRest()
			counts, _ := ReadCounts(s.live[modelKey("LeaderWorkerSet", "x")].(*lwsv1.LeaderWorkerSet))
			for _, p := range liveOnes[*corev1.Pod](s.model) {
				entry := Entry{Revision: p.Labels[lwsv1.RevisionLabelKey], Index: p.Labels[lwsv1.GroupIndexLabelKey]}
				if count := counts.Of(entry); identity.IsLeader(p) && count.Restarts != failures {
					s.fail("%s was counted %d times, want %d", p.UID, count.Restarts, failures)
				}
			}
			if len(counts.counts) != simGroups {
				s.fail("counts %v", counts.counts)
			}
			if len(s.groups.ledger.losses) != 0 {
				s.fail("the ledger has %v", s.groups.ledger.losses)
			}
			if len(s.groups.notes.groups) != simGroups {
				s.fail("notes of %d groups are left", len(s.groups.notes.groups))
			}
		})
	}
}
