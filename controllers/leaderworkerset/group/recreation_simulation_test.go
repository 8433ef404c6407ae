package group

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
)

// expectRest checks that all groups are whole again and followed exactly once what
// something happened to.
func (s *simulation) expectRest() {
	s.t.Helper()
	pods := liveOnes[*corev1.Pod](s.model)
	if len(pods) != simGroups*simSize {
		s.fail("%d pods, want %d", len(pods), simGroups*simSize)
	}
	generations := 0
	for _, p := range pods {
		if p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil {
			s.fail("%s does not run", p.Name)
		}
		if identity.IsLeader(p) {
			generations += s.made[p.Name]
			s.expectGroupReady(p)
			if s.disturbed[p.UID] != "" {
				s.fail("%s is still there after what happened to its generation: %s", p.UID, s.disturbed[p.UID])
			}
		}
	}
	if s.drawn > 0 {
		generations = s.drawn
	}
	if want := simGroups + len(s.disturbed) + s.redrawn; generations != want {
		s.fail("%d generations, want %d: something happened to %v", generations, want, s.disturbed)
	}
}

func TestOneFailureOneRecreation(t *testing.T) {
	for name, build := range map[string]func(*lwstest.Builder){
		"plain":       func(*lwstest.Builder) {},
		"counted":     func(b *lwstest.Builder) { b.MaxGroupRestarts(1000) },
		"after start": func(b *lwstest.Builder) { b.RestartPolicy(lwsv1.RecreateGroupAfterStart) },
		"backoff":     func(b *lwstest.Builder) { b.RestartBackoff(20, 40) },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(25) {
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					s := newSimulation(t, seed, build)
					s.run(4, int(seed%4))
					s.expectRest()
					s.expectCounts()
				})
			}
		})
	}
}

// expectCounts checks that what the manager deleted is counted, once, and nothing but
// what it was about to delete when somebody else was faster.
func (s *simulation) expectCounts() {
	s.t.Helper()
	set := s.live[modelKey("LeaderWorkerSet", "x")].(*lwsv1.LeaderWorkerSet)
	if !lwsv1.CountsRestarts(set) {
		return
	}
	counts, errs := ReadCounts(set)
	if len(errs) > 0 {
		s.fail("%v", errs)
	}
	if sum, least := int(counts.Sum()), len(s.managers); sum < least || sum > len(s.disturbed) {
		s.fail("%d recreations counted; the manager deleted %d leaders, something happened to %d generations", sum, least, len(s.disturbed))
	}
}

// With a budget of one recreation groups stop in the middle of whatever else happens.
// A stopped group keeps its leader, and starts again when it is recovered, with nothing
// left of the stop.
func TestExhaustionAndRecovery(t *testing.T) {
	stops := 0
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newSimulation(t, seed, func(b *lwstest.Builder) { b.MaxGroupRestarts(int32(seed % 2)) })
			s.run(6, int(seed%4))
			for _, p := range liveOnes[*corev1.Pod](s.model) {
				switch {
				case IsExhausted(p):
					stops++
					if p.DeletionTimestamp == nil || s.isRunning(p) {
						s.fail("%s is not stopped", p.UID)
					}
				case IsRetained(p) && !IsExhausted(s.live[modelKey("Pod", p.Name[:3])].(*corev1.Pod)):
					s.fail("%s is retained by a group that is not stopped", p.UID)
				}
			}
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

// A group that is recovered at any moment after it was marked, stopped by then or not,
// starts again.
func TestRecoveryAtAnyMoment(t *testing.T) {
	for name, identity := range map[string]func(*lwstest.Builder){
		"ordinal": func(*lwstest.Builder) {}, "hash": hashed(func(*lwstest.Builder) {}),
	} {
		for seed := range uint64(30) {
			t.Run(fmt.Sprintf("%s %d", name, seed), func(t *testing.T) {
				s := newSimulation(t, seed, func(b *lwstest.Builder) { identity(b.MaxGroupRestarts(0)) })
				s.impatient = true
				s.run(6, int(seed%4))
				s.recoverAll()
				s.run(0, 0)
				s.expectRest()
				for _, p := range liveOnes[*corev1.Pod](s.model) {
					if IsRetained(p) || IsExhausted(p) {
						s.fail("something of the stop is left on %s", p.UID)
					}
				}
			})
		}
	}
}

// With None the manager ends nothing, whatever happens, and a lost leader costs its
// workers nothing.
func TestNoneEndsNothing(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newSimulation(t, seed, func(b *lwstest.Builder) { b.RestartPolicy(lwsv1.NoneRestartPolicy) })
			s.run(0, 0)
			lost := map[types.UID]bool{}
			before := liveOnes[*corev1.Pod](s.model)
			for range 3 {
				p, _ := pick(s, before)
				lost[p.UID] = true
				if live, found := s.live[modelKey("Pod", p.Name)]; found && live.GetUID() == p.UID {
					s.must(s.remove(live, p.UID, metav1.DeletePropagationBackground))
				}
				for range s.rng.IntN(30) {
					s.step()
				}
			}
			s.run(0, int(seed%3))
			for _, p := range before {
				live, found := s.live[modelKey("Pod", p.Name)]
				if !found || live.GetUID() == p.UID == lost[p.UID] {
					s.fail("%s: was deleted %v, is there %v", p.UID, lost[p.UID], found && live.GetUID() == p.UID)
				}
			}
			for _, text := range s.writes {
				if strings.HasPrefix(text, "delete") {
					s.fail("the manager did: %s", text)
				}
			}
		})
	}
}

// A group comes up with three writes, and a recreation and what follows it take four,
// however far the caches are behind.
func TestWritesWithLaggingCaches(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newSimulation(t, seed, func(*lwstest.Builder) {})
			s.run(0, 0)
			for _, leader := range []string{"x-0", "x-1"} {
				want := []string{"admit Pod " + leader, "create StatefulSet " + leader, "patch Pod " + leader}
				if diff := cmp.Diff(want, ofGroup(s.writes, leader)); diff != "" {
					t.Errorf("bring-up (-want +got):\n%s", diff)
				}
			}
			s.writes = nil
			for _, p := range liveOnes[*corev1.Pod](s.model) {
				if !identity.IsLeader(p) {
					s.disturbed[metav1.GetControllerOf(s.live[modelKey("StatefulSet", p.Name[:3])]).UID] = "container"
					s.update(p, func(obj client.Object) {
						obj.(*corev1.Pod).Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", RestartCount: 1}}
					})
				}
			}
			s.run(0, 0)
			for _, leader := range []string{"x-0", "x-1"} {
				want := []string{"delete Pod " + leader, "admit Pod " + leader, "create StatefulSet " + leader, "patch Pod " + leader}
				if diff := cmp.Diff(want, ofGroup(s.writes, leader)); diff != "" {
					t.Errorf("recreation (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// ofGroup are the writes to the objects of one group.
func ofGroup(writes []string, leader string) []string {
	return slices.DeleteFunc(slices.Clone(writes), func(text string) bool {
		name := text[strings.LastIndexByte(text, ' ')+1:]
		return name != leader && !strings.HasPrefix(name, leader+"-")
	})
}
