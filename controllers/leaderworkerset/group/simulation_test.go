package group

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lwsv1 "sigs.k8s.io/lws/apis/leaderworkerset/v1"
	"sigs.k8s.io/lws/apis/leaderworkerset/v1/lwstest"
	"sigs.k8s.io/lws/controllers/leaderworkerset/identity"
	"sigs.k8s.io/lws/controllers/leaderworkerset/podspec"
	"sigs.k8s.io/lws/controllers/leaderworkerset/revision"
)

// The simulation lets users, controllers, node agents, the watches of each kind of
// object and the manager each do one small step at a time, in any order: caches lag
// behind and behind each other, and the manager stops at any write. Whatever happens,
// a generation that nothing happened to is never ended, a generation that something
// happened to is followed by exactly one, and no two run at the same time.

const (
	simGroups = 2
	simSize   = 3
)

type simulation struct {
	*model
	rng      *rand.Rand
	clock    *clocktesting.FakePassiveClock
	groups   *Reconciler
	waker    *waker
	reports  *Reports
	queue    queue
	timers   map[identity.Group]time.Time
	crashing bool

	disturbed map[types.UID]string // leaders to whose generation something happened
	users     int                  // leaders that users deleted
	managers  map[types.UID]bool   // leaders that the manager deleted
	made      map[string]int       // leaders that were made, by name
	drawn     int                  // keys of leaders
	short     int                  // how many names of groups there are, 0 for as many as keys
	redrawn   int                  // leaders that ended since their names were taken
	writes    []string             // of the manager
	history   []string
	// impatient: users recover a group as soon as they see that it is exhausted.
	impatient bool
}

var errCrash = errors.New("the manager stops here")

func newSimulation(t *testing.T, seed uint64, build func(*lwstest.Builder)) *simulation {
	s := &simulation{
		model: newModel(t), rng: rand.New(rand.NewPCG(seed, 0)), clock: clocktesting.NewFakePassiveClock(testStart),
		disturbed: map[types.UID]string{}, managers: map[types.UID]bool{}, made: map[string]int{},
	}
	s.onWrite = s.beforeWrite
	builder := lwstest.New("x").Namespace("ns").Replicas(simGroups).Size(simSize)
	build(builder)
	set := builder.Obj()
	s.must(s.create(set))
	history, err := revision.New(set, nil)
	s.must(err)
	s.must(s.create(history))
	replicas := int32(simGroups)
	key := revision.Key(history)
	if lwsv1.GroupIdentity(set) == lwsv1.HashGroupIdentity {
		s.makeDeployment(set, key)
		s.restart()
		return s
	}
	s.must(s.create(&appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "x", Labels: identity.LeaderStatefulSetLabels("x", key),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, setKind)},
		},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas,
			Template: *podspec.LeaderPodTemplate(podspec.Revision{Set: "x", Key: key, Template: &set.Spec.LeaderWorkerTemplate}),
		},
	}))
	s.restart()
	return s
}

func (s *simulation) must(err error) {
	s.t.Helper()
	if err != nil {
		s.fail("%v", err)
	}
}

func (s *simulation) fail(format string, arguments ...any) {
	s.t.Helper()
	last := s.history[max(0, len(s.history)-60):]
	s.t.Fatalf("%s\n%s\nlast steps:\n  %s", fmt.Sprintf(format, arguments...), s.describe(), strings.Join(last, "\n  "))
}

func (s *simulation) note(format string, arguments ...any) {
	s.history = append(s.history, fmt.Sprintf(format, arguments...))
}

func (s *simulation) describe() string {
	var lines []string
	for _, p := range liveOnes[*corev1.Pod](s.model) {
		lines = append(lines, fmt.Sprintf("%s uid=%s %s deleting=%v gates=%d finalizers=%v owner=%v memory=%s", p.Name, p.UID, p.Status.Phase,
			p.DeletionTimestamp != nil, len(p.Spec.SchedulingGates), p.Finalizers, controllerOf(p).UID, p.Annotations[lwsv1.GroupMembersAnnotationKey]))
	}
	for _, set := range liveOnes[*appsv1.StatefulSet](s.model) {
		lines = append(lines, fmt.Sprintf("StatefulSet %s uid=%s deleting=%v owner=%v", set.Name, set.UID, set.DeletionTimestamp != nil, controllerOf(set).UID))
	}
	return strings.Join(lines, "\n")
}

// restart starts the manager anew: its caches show some later state, its memory is gone.
func (s *simulation) restart() {
	s.note("manager starts")
	s.crashing = false
	s.reports = NewReports()
	s.queue = newQueue()
	s.timers = map[identity.Group]time.Time{}
	s.groups = New(modelClient{model: s.model}, modelClient{model: s.model, past: true}, events.NewFakeRecorder(100000),
		Options{Reports: s.reports, Clock: s.clock})
	s.waker = &waker{reader: modelClient{model: s.model}, ledger: s.groups.ledger, paired: s.groups.paired}
	for _, kind := range modelKinds {
		for s.shown[kind] < len(s.log[kind]) && (len(s.history) == 1 || s.rng.IntN(8) != 0) {
			s.show(kind)
		}
	}
	// The first lists of the watches.
	for _, key := range slices.Sorted(maps.Keys(s.cached)) {
		obj := s.cached[key]
		if group, ok := groupOf(obj); ok {
			s.queue.Add(group)
		}
		if p, ok := obj.(*corev1.Pod); ok {
			s.waker.pod(s.t.Context(), p, turn, s.queue)
		}
	}
}

func groupOf(obj client.Object) (identity.Group, bool) {
	if statefulSet, ok := obj.(*appsv1.StatefulSet); ok {
		return identity.GroupOfWorkerStatefulSet(statefulSet)
	}
	return identity.GroupOfPod(obj)
}

// beforeWrite sees every write of the manager before it is done: what must never be.
func (s *simulation) beforeWrite(verb string, obj client.Object) error {
	s.note("manager: %s %s %s", verb, kindOf(obj), obj.GetName())
	s.writes = append(s.writes, verb+" "+kindOf(obj)+" "+obj.GetName())
	if s.crashing {
		return errCrash
	}
	live, found := s.live[modelKey(kindOf(obj), obj.GetName())].(*corev1.Pod)
	if !found || !identity.IsLeader(live) || live.UID != obj.GetUID() {
		return nil
	}
	switch {
	case verb == "delete" && live.DeletionTimestamp == nil && IsGated(live) && s.hasNamesake(live):
		s.redrawn++
	case verb == "delete" && live.DeletionTimestamp == nil:
		if s.disturbed[live.UID] == "" {
			s.fail("the manager ends %s of UID %s, to whose generation nothing happened", live.Name, live.UID)
		}
		s.managers[live.UID] = true
	case verb == "admit" && IsGated(live) && s.hasPlacedNamesake(live):
		s.fail("%s is admitted while another group is called %s", live.UID, groupNameOf(live))
	case verb == "admit" && IsGated(live):
		s.expectNoPredecessor(live)
	}
	return nil
}

// hasNamesake says whether the cache shows something of another group of the name.
func (s *simulation) hasNamesake(leaderPod *corev1.Pod) bool {
	group, _ := identity.GroupOfPod(leaderPod)
	for _, obj := range s.cached {
		if other, ok := groupOf(obj); ok && other != group && other.Name() == group.Name() {
			return true
		}
	}
	return false
}

// hasPlacedNamesake says whether another group of the name was admitted and is there.
func (s *simulation) hasPlacedNamesake(leaderPod *corev1.Pod) bool {
	for _, p := range liveOnes[*corev1.Pod](s.model) {
		if p.UID != leaderPod.UID && identity.IsLeader(p) && !IsGated(p) && groupNameOf(p) == groupNameOf(leaderPod) {
			return true
		}
	}
	return false
}

// expectNoPredecessor: when a leader is admitted nothing of another generation is left.
func (s *simulation) expectNoPredecessor(leaderPod *corev1.Pod) {
	if lwsv1.RestartPolicy(s.live[modelKey("LeaderWorkerSet", "x")].(*lwsv1.LeaderWorkerSet)) == lwsv1.NoneRestartPolicy {
		return // its workers are its own
	}
	predecessor, _ := identity.GroupOfPod(leaderPod)
	if group, ok := identity.GroupOfPod(leaderPod); ok && group.HasKey() {
		replaced, ok := identity.ReplacedBy(leaderPod)
		if !ok {
			return
		}
		predecessor = replaced
	}
	for _, p := range liveOnes[*corev1.Pod](s.model) {
		if group, _ := identity.GroupOfPod(p); p != leaderPod && group == predecessor {
			s.fail("%s is admitted while %s is there", leaderPod.UID, p.UID)
		}
	}
}

// groupNameOf is what the group of a pod is called.
func groupNameOf(p *corev1.Pod) string {
	group, _ := identity.GroupOfPod(p)
	return group.Name()
}

func pick[T any](s *simulation, from []T) (T, bool) {
	if len(from) == 0 {
		var none T
		return none, false
	}
	return from[s.rng.IntN(len(from))], true
}

// step lets somebody do something, and says whether anybody could.
func (s *simulation) step() bool {
	s.now = s.now.Add(100 * time.Millisecond)
	s.clock.SetTime(s.now)
	actors := []func() bool{
		s.showSomething, s.showSomething, s.reconcileSomething, s.reconcileSomething,
		s.makeSomething, s.runSomething, s.endSomething, s.collectSomething, s.storeCounts,
	}
	s.rng.Shuffle(len(actors), func(i, j int) { actors[i], actors[j] = actors[j], actors[i] })
	for _, actor := range actors {
		if actor() {
			return true
		}
	}
	return s.waitForTimer()
}

// run disturbs and stops the manager so often, at random times, and then lets all come
// to rest.
func (s *simulation) run(disturbances, crashes int) {
	const most = 20000
	for range most {
		if disturbances > 0 && s.rng.IntN(25) == 0 {
			s.disturb()
			disturbances--
		}
		if crashes > 0 && s.rng.IntN(40) == 0 {
			s.crashing = true
			crashes--
		}
		if s.impatient && s.rng.IntN(10) == 0 {
			s.recoverAll()
		}
		if !s.step() && disturbances == 0 {
			return
		}
	}
	s.fail("does not come to rest in %d steps", most)
}
